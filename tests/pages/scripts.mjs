// Reads [{html, script, does, answers}] and writes what each gives: the last line of `does`, when the script has run.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { makeDocument } from "./dom.mjs";

const HREF = "http://here/page?data=web&profile=letor4&query=7&measure=map&top=3";
const found = [];
for (const { html, script, does, answers } of JSON.parse(readFileSync(0, "utf8"))) {
  const document = makeDocument(html);
  const { sent } = document;
  const waiting = [];
  const at = () => document.activeElement?.textContent.trim();
  const context = createContext({
    document, sent, console, URL, URLSearchParams, innerWidth: 1440,
    CSS: { escape: text => text }, matchMedia: () => ({ matches: false }),
    getComputedStyle: () => ({ color: "ink", fontFamily: "serif" }),
    location: { href: HREF, assign: to => sent.push(to) },
    navigator: { clipboard: { writeText: async text => sent.push(text) } },
    setTimeout: act => waiting.push(act), clearTimeout: number => { if (number) delete waiting[number - 1]; },
    Option: function (text, value) {
      const made = document.createElement("option");
      [made.textContent, made.value] = [text, value];
      return made;
    },
    fetch: async (path, options = {}) => {
      sent.push([path, options]);
      const { status = 200, value = {} } = answers[path] ?? {};
      return { status, ok: status < 400, json: async () => value, text: async () => `what ${path} has` };
    },
    vegaLite: { compile: (spec, more) => ({ spec: { spec, more } }) },
    vega: {
      expressionInterpreter: "safely", parse: (spec, _, more) => ({ spec, more }),
      View: function (parsed, how) {
        document.made = [parsed, how];
        this.tooltip = () => {};
        this.runAsync = async () => how.container.append(document.createElement("svg"));
      },
    },
    // for the cases
    $: selector => document.querySelector(selector), $$: selector => document.querySelectorAll(selector),
    at,
    focus: selector => document.querySelector(selector).focus(),
    key: (name, more) => (document.activeElement ?? document.body).dispatch("keydown", { key: name, ...more }),
    keys: (...names) => names.map(name => { context.key(name); return at(); }).at(-1),
    drag: (plot, [fromX, fromY], [toX, toY], type = "pointerup") => {
      document.querySelector(plot).dispatch("pointerdown", { clientX: fromX, clientY: fromY, button: 0 });
      document.dispatch("pointermove", { clientX: toX, clientY: toY });
      document.dispatch(type, { clientX: toX, clientY: toY });
    },
    column: place => document.querySelectorAll("tbody tr").map(row => row.cells[place].textContent),
    again: () => runInContext(`{ ${readFileSync(script, "utf8")} }`, context),
    rest: () => { while (waiting.length) waiting.shift()?.(); },
    settle: () => new Promise(setImmediate),
  });
  runInContext(readFileSync(script, "utf8"), context, { filename: script });
  await new Promise(setImmediate);
  const lines = does.trim().split("\n");
  const code = [...lines.slice(0, -1), `return ${lines.at(-1)}`].join("\n");
  found.push(await runInContext(`(async () => { ${code} })()`, context));
}
process.stdout.write(JSON.stringify(found));
