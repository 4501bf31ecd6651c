// Plots of Run and Search: Vega-Lite in the colors of the page, its expressions interpreted, so that nothing is evaluated.
"use strict";

const token = name => {
  const probe = document.createElement("span");
  probe.className = `token-${name}`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
};
const draw = async () => {
  const names = ["ground", "ink", "quiet", "rule", "line", "pick"];
  const colors = Object.fromEntries(names.map(name => [`@${name}`, token(name)]));
  const font = getComputedStyle(document.body).fontFamily;
  const config = {
    background: null, font, view: { stroke: null }, legend: null, line: { strokeWidth: 1.5 },
    axis: {
      grid: true, gridColor: colors["@line"], domain: false, ticks: false, labelColor: colors["@quiet"],
      titleColor: colors["@quiet"], labelFontSize: 12, titleFontWeight: 400, tickCount: 5,
    },
    title: { color: colors["@ink"], fontSize: 13, fontWeight: 500, anchor: "start" },
  };
  for (const place of document.querySelectorAll(".chart[data-spec]")) {
    const spec = JSON.parse(place.dataset.spec, (_, value) => colors[value] ?? value);
    place.removeAttribute("data-spec");
    const compiled = vegaLite.compile({ ...spec, autosize: { type: "fit", contains: "padding" } }, { config }).spec;
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vega.expressionInterpreter, renderer: "svg", container: place, hover: true,
    });
    view.tooltip((_, event, item, value) => place.setAttribute("title", value ? Object.values(value).join(", ") : ""));
    await view.runAsync();
    const drawing = place.querySelector("svg");
    drawing?.setAttribute("role", "img");
    drawing?.setAttribute("aria-label", spec.description);
  }
};
draw();
document.addEventListener("htmx:afterSettle", draw);
