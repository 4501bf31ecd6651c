// Ordino studio. Every reading page works without this file; it adds keys and copying.
"use strict";

// Keys of the slope graph: one stop of Tab; then up and down go through the documents, in the ideal order.
const documentsOf = graph => [...graph.querySelectorAll("a.doc")];
const prepare = root => {
  for (const graph of root.querySelectorAll("svg.slope")) {
    const documents = documentsOf(graph);
    const enter = graph.querySelector("a.picked") ?? documents[0];
    for (const link of documents) link.setAttribute("tabindex", link === enter ? "0" : "-1");
  }
};
prepare(document);
document.addEventListener("htmx:afterSettle", () => prepare(document));

let second = null; // the document taken by x, which Enter on another one compares with
document.addEventListener("keydown", event => {
  const link = event.target.closest?.("a.doc");
  if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
  const documents = documentsOf(link.closest("svg"));
  const at = documents.indexOf(link);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: documents.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    documents[Math.max(0, Math.min(documents.length - 1, to))].focus();
  } else if (event.key === "x") {
    for (const one of documents) one.classList.toggle("second", one === link);
    second = link.dataset.doc;
  } else if (event.key === "Enter" && second && second !== link.dataset.doc) {
    event.preventDefault();
    const here = new URL(location.href).searchParams;
    const there = new URLSearchParams({ a: link.dataset.doc, b: second });
    for (const name of ["data", "profile", "query", "measure"]) if (here.get(name)) there.set(name, here.get(name));
    location.assign(`/why?${there}`);
  }
});

// Lines of a table: up and down go to the same link of the next line.
document.addEventListener("keydown", event => {
  const link = event.target.closest?.("tbody a");
  if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
  const linksOf = row => [...row.querySelectorAll("a")];
  const rows = [...link.closest("tbody").rows].filter(row => linksOf(row).length);
  const [at, place] = [rows.indexOf(link.closest("tr")), linksOf(link.closest("tr")).indexOf(link)];
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined || !rows[to]) return;
  event.preventDefault();
  const links = linksOf(rows[to]);
  links[Math.min(place, links.length - 1)].focus();
});

// Keys of all pages: g and a letter, [ and ], ?, t, Esc, and the grades of Judge. Fields keep their letters.
let going = false;
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
  if (going) {
    going = false;
    document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`)?.click();
    return;
  }
  const keys = document.querySelector("details.keys");
  if (event.key === "g") going = true;
  else if (event.key === "?") {
    keys.open = !keys.open;
    if (keys.open) keys.querySelector("summary").focus();
  } else if (event.key === "t") {
    const order = ["system", "light", "dark"];
    const now = document.documentElement.dataset.theme ?? "system";
    document.querySelector(`[data-theme-link="${order[(order.indexOf(now) + 1) % 3]}"]`)?.click();
  } else if (event.key === "Escape") {
    if (keys?.open) keys.open = false;
    else document.querySelector("main [data-escape]")?.click();
  } else if (event.key !== " " || event.target === document.body) {
    const found = document.querySelector(`main [data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
    if (found) event.preventDefault();
    else if ("[]".includes(event.key)) goThroughFindings(event.key === "]" ? 1 : -1);
    found?.click();
  }
});
const goThroughFindings = by => {
  const findings = [...document.querySelectorAll(".findings > li")];
  const at = findings.indexOf(document.activeElement);
  findings[Math.max(0, Math.min(findings.length - 1, at + by))]?.focus();
};

// Tables to take along: a click copies them; without this file, or where copying is forbidden, it downloads them.
document.addEventListener("click", async event => {
  const link = event.target.closest?.("a[data-copy]");
  if (!link || event.ctrlKey || event.metaKey || !navigator.clipboard) return;
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(await (await fetch(link.href)).text());
    document.getElementById("copied").textContent = `${link.textContent} is copied.`;
  } catch {
    location.assign(link.href);
  }
});

// The server is gone: say so, and leave the page as it is.
document.addEventListener("htmx:sendError", () => {
  if (!document.querySelector(".gone")) {
    const told = document.getElementById("gone").content.cloneNode(true);
    told.firstElementChild.classList.add("gone");
    document.getElementById("main").prepend(told);
  }
});
