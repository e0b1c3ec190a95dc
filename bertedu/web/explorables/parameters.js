/**
 * Where the parameters of a BERT are: its sizes can be halved and doubled, and each part is counted (chapter 05).
 */

import { choice, element, percent, replace } from "../dom.js";
import { meter } from "./controls.js";

const SIZES = [
  // the name in the config, what it is called, the smallest and the largest value
  ["num_hidden_layers", "layers L", 1, 192],
  ["hidden_size", "hidden size D", 16, 16_384],
  ["num_attention_heads", "heads H", 1, 1024],
  ["vocab_size", "vocabulary V", 100, 1_000_000],
  ["max_position_embeddings", "positions", 8, 65_536],
];
const PARTS = ["embeddings", "attention", "feed-forward", "LayerNorms", "pooler"];

/**
 * The parameters of each part of a BERT without heads for a task, from its config: weights and biases.
 *
 * @param {Object<string, number>} config  sizes by their names in config.json
 * @returns {Object<string, number>} by the names in PARTS
 */
export function counted(config) {
  const { num_hidden_layers: L, hidden_size: D, intermediate_size: F, vocab_size: V } = config;
  const linear = (inputs, outputs) => inputs * outputs + outputs;
  const norm = 2 * D;
  return {
    embeddings: (V + config.max_position_embeddings + config.type_vocab_size) * D + norm,
    attention: L * 4 * linear(D, D),
    "feed-forward": L * (linear(D, F) + linear(F, D)),
    LayerNorms: L * 2 * norm,
    pooler: linear(D, D),
  };
}

/** The sum of all parts. */
export function total(config) {
  return Object.values(counted(config)).reduce((sum, count) => sum + count, 0);
}

/** A config with one size halved or doubled, the inner size four times the hidden size; null where it cannot be. */
export function scaled(config, name, by) {
  const [, , least, most] = SIZES.find(([one]) => one === name);
  const value = Math.floor(config[name] * by);
  if (value < least || value > most) return null;
  const next = { ...config, [name]: value };
  if (name === "hidden_size") next.intermediate_size = 4 * value;
  return next.hidden_size % next.num_attention_heads ? null : next; // heads share the hidden size
}

/**
 * @param {HTMLElement} root
 * @param {{presets: Object<string, object>, start: string}} given  presets: configs by name; start: the first one
 */
export function show(root, given) {
  let preset = given.start;
  let config = given.presets[preset];
  const sizes = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "the sizes" });
  const says = element("p", { class: "says", role: "status" });
  const cell = () => element("td", { class: "amount" });
  const rows = PARTS.map((name) => ({ name, count: cell(), bar: meter(), share: element("span") }));

  function button(name, label, by) {
    const next = scaled(config, name, by);
    const [sign, said] = by < 1 ? ["÷ 2", "halve"] : ["× 2", "double"];
    return element(
      "button",
      {
        type: "button",
        disabled: next === null,
        "aria-label": `${said} ${label}`,
        "data-key": `${said} ${name}`,
        onclick: () => {
          config = next;
          update();
        },
      },
      sign,
    );
  }

  function update() {
    const row = ([name, label]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, label),
        element("td", { class: "amount" }, config[name].toLocaleString("en")),
        element("td", {}, button(name, label, 0.5), " ", button(name, label, 2)),
      );
    replace(sizes, element("table", {}, element("tbody", {}, ...SIZES.map(row))));
    const counts = counted(config);
    const all = total(config);
    for (const { name, count, bar, share } of rows) {
      count.textContent = counts[name].toLocaleString("en");
      bar.show(counts[name] / all);
      share.textContent = ` ${percent(counts[name] / all)}`;
    }
    says.textContent = `${all.toLocaleString("en")} parameters${beside(all / total(given.presets[preset]))}`;
  }

  function beside(times) {
    if (times === 1) return `, as in ${preset}.`;
    const change = times < 1 ? `${percent(1 - times)} fewer than` : `${times.toFixed(2)} times as many as`;
    return `: ${change} ${preset} has.`;
  }

  const names = Object.keys(given.presets).map((name) => [name, name]);
  const chosen = choice("begin with", names, preset, (name) => {
    preset = name;
    config = given.presets[name];
    update();
  });
  const again = () => {
    config = given.presets[preset];
    update();
  };
  const part = ({ name, count, bar, share }) =>
    element("tr", {}, element("th", { scope: "row" }, name), count, element("td", {}, bar.node, share));
  const reset = element("button", { type: "button", onclick: again }, "as at the start");
  root.append(
    element("p", { class: "choices" }, chosen, reset),
    sizes,
    says,
    element("table", { class: "parts" }, element("tbody", {}, ...rows.map(part))),
  );
  update();
}
