"use strict";

const at = (id) => document.getElementById(id);
let cards = [];

const headers = (more) => (at("token").value ? { authorization: `Bearer ${at("token").value}`, ...more } : { ...more });

const say = (sentence, isError) => {
  at("status").textContent = sentence;
  at("status").classList.toggle("error", Boolean(isError));
};

const ask = async (path, options = {}) => {
  const answer = await fetch(path, { ...options, headers: headers(options.headers) });
  const value = await answer.json();
  if (answer.status === 401) at("secret").hidden = false;
  if (!answer.ok) throw new Error(value.error);
  return value;
};

const example = (card) => {
  const item = (id, start) => ({
    id,
    features: Object.fromEntries(card.features.map((name, j) => [name, (start + j) % 3])),
  });
  return JSON.stringify({ items: [item("a", 0), item("b", 1), item("c", 2)], top: 10 }, null, 1);
};

const show = () => {
  const card = cards.find((one) => one.name === at("model").value);
  if (!card) return;
  at("about").textContent = `${card.ranker}, ${card.features.length} features, version ${card.version}`;
  at("body").value = example(card);
};

const load = async () => {
  try {
    cards = (await ask("v1/models")).models;
    at("model").replaceChildren(...cards.map((card) => new Option(card.name, card.name)));
    say("");
    show();
  } catch (error) {
    say(error.message, true);
  }
};

const row = (item) => {
  const line = document.createElement("tr");
  const reasons = item.why
    ? item.why.reasons.map((one) => `${one.feature} ${one.adds > 0 ? "+" : ""}${one.adds.toPrecision(3)}`).join(", ")
    : "";
  for (const [text, kind] of [[item.rank, "number"], [item.id, ""], [item.score, "number"], [reasons, ""]]) {
    const cell = line.insertCell();
    cell.textContent = text;
    cell.className = kind;
  }
  return line;
};

const send = async (event) => {
  event.preventDefault();
  if (cards.length === 0) await load();
  const path = `v1/models/${at("model").value}/rank?explain=${at("explain").checked}`;
  try {
    const reply = await ask(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: at("body").value,
    });
    at("items").replaceChildren(...reply.items.map(row));
    at("result").hidden = false;
    say(`${reply.items.length} documents in ${reply.took} ms by version ${reply.version}`);
  } catch (error) {
    at("result").hidden = true;
    say(error.message, true);
  }
};

at("model").addEventListener("change", show);
at("token").addEventListener("change", load);
at("form").addEventListener("submit", send);
load();
