// As much of a browser's document as the pages' own scripts use, so that they run in Node, in milliseconds.
// An element lies where its attribute box="left,top,right,bottom" says. What a page would send or open is in `sent`.

const WORDS = { quot: '"', amp: "&", lt: "<", gt: ">", "#34": '"', "#39": "'" };
const plain = text => text.replace(/&(#?\w+);/g, (all, name) => WORDS[name] ?? all);
const VOID = new Set(["meta", "link", "input", "br", "img"]);
const RAW = new Set(["style", "script"]);
const dashed = name => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

class Element {
  constructor(tag, owner) {
    [this.tag, this.owner, this.given, this.childNodes, this.parent, this.heard] = [tag, owner, new Map(), [], null, []];
    const name = key => `data-${dashed(key)}`;
    this.dataset = new Proxy({}, {
      get: (_, key) => this.given.get(name(key)),
      set: (_, key, value) => (this.setAttribute(name(key), value), true),
      has: (_, key) => this.given.has(name(key)),
    });
    this.classList = {
      contains: word => this.words.includes(word),
      add: word => this.classList.toggle(word, true),
      toggle: (word, is = !this.words.includes(word)) => {
        this.className = [...this.words.filter(one => one !== word), ...(is ? [word] : [])].join(" ");
      },
    };
  }
  get words() { return this.className.split(/\s+/).filter(Boolean); }
  get tagName() { return this.tag.toUpperCase(); }
  get children() { return this.childNodes.filter(one => one instanceof Element); }
  get firstElementChild() { return this.children[0]; }
  get content() { return this; }
  get textContent() { return this.childNodes.map(one => (one instanceof Element ? one.textContent : one)).join(""); }
  set textContent(text) { this.childNodes = [String(text)]; }
  getAttribute(name) { return this.given.get(name) ?? null; }
  setAttribute(name, value) { this.given.set(name, String(value)); }
  removeAttribute(name) { this.given.delete(name); }
  append(...some) {
    for (const one of some) {
      one.remove?.();
      if (one instanceof Element) one.parent = this;
      this.childNodes.push(one);
    }
  }
  prepend(one) { this.append(one); this.childNodes.unshift(this.childNodes.pop()); }
  remove() {
    if (this.parent) this.parent.childNodes = this.parent.childNodes.filter(one => one !== this);
    this.parent = null;
  }
  replaceWith(other) {
    const { parent } = this;
    parent.childNodes = parent.childNodes.map(one => (one === this ? other : one));
    [other.parent, this.parent] = [parent, null];
  }
  replaceChildren(...some) { for (const one of this.children) one.remove(); this.childNodes = []; this.append(...some); }
  cloneNode() {
    const copy = new Element(this.tag, this.owner);
    for (const [name, value] of this.given) copy.given.set(name, value);
    copy.append(...this.childNodes.map(one => (one instanceof Element ? one.cloneNode() : one)));
    return copy;
  }
  *inside() { for (const one of this.children) { yield one; yield* one.inside(); } }
  matches(selector) { return selector.split(",").some(one => fits(this, one.trim().split(/\s+/))); }
  closest(selector) { return this.matches(selector) ? this : this.parent?.closest?.(selector) ?? null; }
  querySelectorAll(selector) { return [...this.inside()].filter(one => one.matches(selector)); }
  querySelector(selector) { return this.querySelectorAll(selector)[0] ?? null; }
  getElementById(id) { return this.querySelector(`#${id}`); }
  get tBodies() { return this.querySelectorAll("tbody"); }
  get tHead() { return this.querySelector("thead"); }
  get rows() { return this.querySelectorAll("tr"); }
  get cells() { return this.children; }
  insertCell() { const cell = this.owner.createElement("td"); this.append(cell); return cell; }
  get elements() {
    return new Proxy({}, { get: (_, name) => this.querySelector(`[name="${name}"]`) });
  }
  get value() {
    if (this.tag !== "select") return this.given.get("value") ?? this.textContent;
    const options = this.querySelectorAll("option");
    return this.chosen ?? (options.find(one => one.given.has("selected")) ?? options[0])?.value;
  }
  set value(value) { if (this.tag === "select") this.chosen = value; else this.given.set("value", String(value)); }
  getBoundingClientRect() {
    const [left, top, right, bottom] = (this.getAttribute("box") ?? "0,0,0,0").split(",").map(Number);
    return { left, top, right, bottom };
  }
  addEventListener(type, act) { this.heard.push([type, act]); }
  dispatch(type, more = {}) {
    const event = { type, target: this, preventDefault: () => (event.isHandled = true), ...more };
    for (let one = this; one; one = one.parent) {
      for (const [kind, act] of one.heard) if (kind === type) act(event);
    }
    return event;
  }
  focus() { this.owner.activeElement = this; }
  click() { if (!this.dispatch("click").isHandled && this.given.has("href")) this.owner.sent.push(this.given.get("href")); }
  requestSubmit() {
    const fields = this.querySelectorAll("input, select").map(one => [one.getAttribute("name"), one.value]);
    this.owner.sent.push(Object.fromEntries(fields));
  }
}
for (const name of ["id", "className", "type", "href"]) {
  const attribute = name === "className" ? "class" : name;
  Object.defineProperty(Element.prototype, name, {
    get() { return this.given.get(attribute) ?? ""; },
    set(value) { this.setAttribute(attribute, value); },
  });
}
for (const name of ["hidden", "open", "checked", "disabled"]) {
  Object.defineProperty(Element.prototype, name, {
    get() { return this.given.has(name); },
    set(value) { if (value) this.given.set(name, ""); else this.given.delete(name); },
  });
}

function fits(element, steps) {
  if (!steps.length) return true;
  const own = steps.at(-1);
  const [, tag, rest] = own.match(/^([\w-]*)(.*)$/);
  if (!(element instanceof Element) || (tag && tag !== element.tag)) return false;
  for (const [, word, id, name, , value, not] of rest.matchAll(/\.([\w-]+)|#([\w-]+)|\[([\w-]+)(="([^"]*)")?\]|:not\(:(\w+)\)/g)) {
    if (word && !element.words.includes(word)) return false;
    if (id && element.id !== id) return false;
    if (name && (!element.given.has(name) || (value !== undefined && element.given.get(name) !== value))) return false;
    if (not && element.given.has(not)) return false;
  }
  const before = steps.slice(0, -1);
  if (before.at(-1) === ">") return fits(element.parent, before.slice(0, -1));
  for (let one = element.parent; before.length && one; one = one.parent) if (fits(one, before)) return true;
  return !before.length;
}

export function makeDocument(html) {
  const document = new Element("#document", null);
  Object.assign(document, { owner: document, sent: [], activeElement: null });
  document.createElement = tag => new Element(tag, document);
  document.createElementNS = (_, tag) => new Element(tag, document);
  let at = document;
  for (const [, close, tag, attributes, text] of html.matchAll(/<(\/?)([\w-]+)((?:\s+[\w:-]+(?:="[^"]*"|='[^']*')?)*)\s*\/?>|([^<]+|<!)/g)) {
    if (text !== undefined) { if (at !== document && !RAW.has(at.tag)) at.childNodes.push(plain(text)); continue; }
    if (close) { while (at.tag !== tag) at = at.parent; at = at.parent; continue; }
    const made = document.createElement(tag);
    for (const [, name, , one, other] of attributes.matchAll(/([\w:-]+)(=(?:"([^"]*)"|'([^']*)'))?/g)) made.given.set(name, plain(one ?? other ?? ""));
    at.append(made);
    if (!VOID.has(tag) && !["rect", "line", "circle", "path"].includes(tag)) at = made;
  }
  document.documentElement = document.querySelector("html") ?? document;
  document.body = document.querySelector("body") ?? document;
  return document;
}
