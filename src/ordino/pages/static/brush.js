// Brushes of Compare and Search. Both write limits into a form, which works without this file.
"use strict";

// Bars: dragging writes the limits into the form that the plot names, and sends it when the pointer is let go.
let brushing = null;
const show = (plot, a, b) => {
  const bars = [...plot.querySelectorAll("[data-value]")];
  const [left, right] = bars.indexOf(a) <= bars.indexOf(b) ? [a, b] : [b, a];
  const start = parseFloat(left.getAttribute("x"));
  const shade = plot.querySelector(".brush");
  shade.setAttribute("x", `${start}%`);
  shade.setAttribute("width", `${parseFloat(right.getAttribute("x")) + parseFloat(right.getAttribute("width")) - start}%`);
  const form = document.getElementById(plot.dataset.brush);
  form.elements.high.value = (Math.ceil(Number(left.dataset.value) * 1000) / 1000).toFixed(3);
  form.elements.low.value = (Math.floor(Number(right.dataset.value) * 1000) / 1000).toFixed(3);
};
const nearest = (plot, x) => {
  const away = bar => {
    const box = bar.getBoundingClientRect();
    return Math.abs((box.left + box.right) / 2 - x);
  };
  return [...plot.querySelectorAll("[data-value]")].reduce((best, bar) => (away(bar) < away(best) ? bar : best));
};
document.addEventListener("pointerdown", event => {
  const plot = event.target.closest?.("svg[data-brush]");
  if (!plot || event.button) return;
  brushing = { plot, from: nearest(plot, event.clientX) };
  event.preventDefault();
  show(plot, brushing.from, brushing.from);
});
document.addEventListener("pointermove", event => brushing && show(brushing.plot, brushing.from, nearest(brushing.plot, event.clientX)));
document.addEventListener("pointerup", () => {
  if (brushing) document.getElementById(brushing.plot.dataset.brush).requestSubmit();
  brushing = null;
});
document.addEventListener("pointercancel", () => (brushing = null));

// The brush by keys: arrows move it by a bar, with Shift its far end; the form is sent when the keys rest.
function reach(plot) {
  const bars = [...plot.querySelectorAll("[data-value]")];
  const shade = plot.querySelector(".brush");
  const [start, width] = ["x", "width"].map(name => parseFloat(shade.getAttribute(name)));
  const middle = bar => parseFloat(bar.getAttribute("x")) + parseFloat(bar.getAttribute("width")) / 2;
  const inside = bars.flatMap((bar, i) => (middle(bar) >= start && middle(bar) <= start + width ? [i] : []));
  return inside.length ? [inside[0], inside.at(-1)] : [-1, -1];
}
let resting = 0; // a timer
document.addEventListener("keydown", event => {
  const plot = event.target.closest?.("svg[data-brush]");
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!plot || !by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const bars = [...plot.querySelectorAll("[data-value]")];
  let [first, last] = reach(plot);
  if (event.shiftKey && first >= 0) last += by;
  else [first, last] = [first + by, last + by];
  if (first < 0 || last >= bars.length || last < first) return;
  show(plot, bars[first], bars[last]);
  plot.setAttribute("aria-valuenow", first + 1);
  clearTimeout(resting);
  resting = setTimeout(() => {
    keyed = document.activeElement === plot;
    document.getElementById(plot.dataset.brush)?.requestSubmit();
  }, 400);
});
let keyed = false; // whether the brush was moved by keys, so that the plot that comes back has the focus
const prepareBars = () => {
  for (const plot of document.querySelectorAll("svg[data-brush]")) {
    const bars = [...plot.querySelectorAll("[data-value]")];
    const [first] = reach(plot);
    const told = { role: "slider", tabindex: 0, "aria-valuemin": 1, "aria-valuemax": bars.length, "aria-valuenow": first + 1 };
    for (const [name, value] of Object.entries(told)) plot.setAttribute(name, value);
    if (keyed) plot.focus();
    keyed = false;
  }
};
prepareBars();
document.addEventListener("htmx:afterSettle", prepareBars);

// Parallel coordinates: dragging along an axis writes its range into the form that the plot names, and sends it.
let stroke = null;
const valueAt = (axis, y) => {
  const { top, bottom } = axis.querySelector(".axis").getBoundingClientRect();
  const share = y - top < 6 ? 1 : bottom - y < 6 ? 0 : (bottom - y) / (bottom - top); // near an end is the end
  const [low, high] = [Number(axis.dataset.low), Number(axis.dataset.high)];
  return "log" in axis.dataset ? low * (high / low) ** share : low + (high - low) * share;
};
const stretch = y => {
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
document.addEventListener("pointermove", event => stroke && stretch(event.clientY));
document.addEventListener("pointerup", event => {
  if (stroke && Math.abs(event.clientY - stroke.from) > 3) stretch(event.clientY).requestSubmit();
  stroke = null;
});
document.addEventListener("pointercancel", () => (stroke = null));
