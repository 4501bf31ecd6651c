// The report: columns that sort, any two rankers query by query, light or dark. All else is there without it.
"use strict";
for (const table of document.querySelectorAll("table.board")) {
  const body = table.tBodies[0];
  for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
    const name = head.querySelector("[data-sort]");
    if (!name) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorts";
    button.textContent = name.textContent;
    name.replaceWith(button);
    const isText = name.dataset.sort === "label";
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      const rising = was ? was === "descending" : isText || name.dataset.sort === "seconds";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const value = row => {
        const text = (row.cells[place].querySelector(".value") ?? row.cells[place]).textContent.trim();
        return isText ? text.toLowerCase() : parseFloat(text.replace("\u2212", "-").replaceAll(",", ""));
      };
      const rows = [...body.rows].map(row => [value(row), row]);
      const known = rows.filter(([one]) => isText || !Number.isNaN(one));
      known.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (rising ? 1 : -1));
      body.append(...known.map(([, row]) => row), ...rows.filter(one => !known.includes(one)).map(([, row]) => row));
    });
  }
}
for (const part of document.querySelectorAll(".versus[data-values]")) {
  const { sign, columns } = JSON.parse(part.dataset.values);
  const [first, second] = part.querySelectorAll("select");
  const plot = part.querySelector("svg");
  const draw = () => {
    const [a, b] = [columns[first.value], columns[second.value]];
    const d = a.map((value, i) => (value === null || b[i] === null ? null : sign * (value - b[i])));
    const known = d.filter(value => value !== null).map(value => (Math.abs(value) < 1e-9 ? 0 : value)).sort((x, y) => y - x);
    const n = Math.max(1, Math.min(240, known.length));
    const bars = Array.from({ length: n }, (_, i) => {
      const some = known.slice(Math.floor((i * known.length) / n), Math.floor(((i + 1) * known.length) / n));
      return some.reduce((sum, value) => sum + value, 0) / Math.max(1, some.length);
    });
    const unit = 150 / Math.max(...bars.map(Math.abs), 1e-12);
    const zero = 8 + Math.max(...bars, 0) * unit;
    const shape = (kind, values) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
      for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
      return made;
    };
    const drawn = bars.map((value, i) => {
      const height = Math.max(Math.abs(value) * unit, 1);
      return shape("rect", {
        class: value > 0 ? "a" : value < 0 ? "b" : "bar", x: `${((i + 0.11) * 100) / n}%`, width: `${78 / n}%`,
        y: value > 0 ? zero - height : zero, height,
      });
    });
    plot.replaceChildren(...drawn, shape("line", { class: "zero", x1: 0, x2: "100%", y1: zero, y2: zero }));
    const wins = known.filter(value => value > 0).length;
    const losses = known.filter(value => value < 0).length;
    const told = `${first.value} wins ${wins}, ${second.value} wins ${losses}, ${known.length - wins - losses} equal, of ${known.length} queries.`;
    part.querySelector(".told").textContent = told;
    plot.setAttribute("aria-label", told);
  };
  for (const one of [first, second]) one.addEventListener("change", draw);
  part.classList.add("chosen");
}
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
