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
  const names = ["ink", "quiet", "rule", "line", "pick"];
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

// Parallel coordinates: dragging along an axis writes its range into the form that the plot names, and sends it.
let stroke = null;
const valueAt = (axis, y) => {
  const { top, bottom } = axis.querySelector(".axis").getBoundingClientRect();
  const share = Math.max(0, Math.min(1, (bottom - y) / (bottom - top)));
  const [low, high] = [Number(axis.dataset.low), Number(axis.dataset.high)];
  return "log" in axis.dataset ? low * (high / low) ** share : low + (high - low) * share;
};
const reach = y => {
  const { axis, from } = stroke;
  const line = axis.querySelector(".axis").getBoundingClientRect();
  const [first, last] = [Math.max(Math.min(from, y), line.top), Math.min(Math.max(from, y), line.bottom)];
  const shade = axis.querySelector(".brush");
  shade.setAttribute("y", 44 + first - line.top);
  shade.setAttribute("height", Math.max(0, last - first));
  const form = document.getElementById(axis.closest("[data-parallel]").dataset.parallel);
  form.elements.axis.value = axis.dataset.axis;
  form.elements.low.value = valueAt(axis, last).toPrecision(4);
  form.elements.high.value = valueAt(axis, first).toPrecision(4);
  return form;
};
document.addEventListener("pointerdown", event => {
  const plot = event.target.closest?.("svg[data-parallel]");
  if (!plot || event.button) return;
  const away = axis => {
    const box = axis.querySelector(".axis").getBoundingClientRect();
    return Math.abs(box.left - event.clientX);
  };
  const axes = [...plot.querySelectorAll("[data-axis]")];
  stroke = { axis: axes.reduce((best, axis) => (away(axis) < away(best) ? axis : best)), from: event.clientY };
  event.preventDefault();
});
document.addEventListener("pointermove", event => stroke && reach(event.clientY));
document.addEventListener("pointerup", event => {
  if (stroke && Math.abs(event.clientY - stroke.from) > 3) reach(event.clientY).requestSubmit();
  stroke = null;
});
document.addEventListener("pointercancel", () => (stroke = null));
