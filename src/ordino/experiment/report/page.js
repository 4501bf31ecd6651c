"use strict";

// Tables: a click on a column's name sorts by it, a second click the other way round.
for (const table of document.querySelectorAll("table.board")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : column > 0;
    const key = row => row.cells[column].dataset.sort;
    const order = (a, b) => column === 0 ? key(a).localeCompare(key(b)) : Number(key(a)) - Number(key(b));
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === "");  // what has no value comes last
      return falling ? order(b, a) : order(a, b);
    });
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }));
}

// Charts: as wide as the page, and drawn again when light turns to dark or a phone is turned.
const specs = JSON.parse(document.getElementById("specs").textContent);
const narrow = matchMedia("(max-width: 45rem)");

function color(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function config() {
  const [ink, quiet, line, rule] = ["--ink", "--quiet", "--line", "--rule"].map(color);
  const text = { labelColor: quiet, titleColor: quiet, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400 };
  return {
    background: "transparent", font: getComputedStyle(document.body).fontFamily, view: { stroke: null },
    padding: { left: 0, right: 12, top: 4, bottom: 4 }, axisX: { labelSeparation: 8 },
    axis: { ...text, gridColor: line, domainColor: rule, tickColor: rule, labelLimit: narrow.matches ? 104 : 260 },
    legend: { ...text, labelColor: ink, orient: "bottom", columns: narrow.matches ? 2 : 4, labelLimit: 150 },
    title: { color: ink, fontSize: 13, fontWeight: 500, anchor: "start", limit: document.body.clientWidth - 120 },
    rule: { color: ink },
  };
}

// The panes of a figure are charts of their own, so that they stand side by side or below one another.
function panes({ concat, columns, resolve, ...spec }) {
  return (concat ?? [{}]).map(pane => ({ ...spec, ...pane, width: "container" }));
}

function draw() {
  for (const place of document.querySelectorAll(".chart")) {
    const drawn = panes(specs[place.dataset.number]).map(spec => [document.createElement("div"), spec]);
    place.replaceChildren(...drawn.map(([inside]) => inside));
    for (const [inside, spec] of drawn) {
      vegaEmbed(inside, spec, {
        renderer: "svg", config: config(),
        actions: narrow.matches ? false : { export: true, source: false, compiled: false, editor: false },
      }).then(() => {
        const svg = inside.querySelector("svg.marks");
        svg?.setAttribute("role", "img");
        svg?.setAttribute("aria-label", spec.description);
      });
    }
  }
}

const root = document.documentElement;
const wish = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : wish.matches;
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  draw();
});
wish.addEventListener("change", draw);
narrow.addEventListener("change", draw);
draw();
