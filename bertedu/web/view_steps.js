/** Every tensor between the ids and the answer, by its name in `bert.js`, with its shape and what it is. */

import { shownToken } from "./chips.js";
import { element, replace } from "./dom.js";
import { heatmap } from "./heatmap.js";
import { about } from "./tensor_names.js";

const CODE = [
  // which function of `bert.js` computes a step, by its name
  [/^embeddings\./, "embed"],
  [/\.(query|key|value|attention|expanded|feed_forward)$/, "multiply"],
  [/\.scores$/, "match"],
  [/\.weights$/, "softmax"],
  [/\.mixed$/, "mix"],
  [/_residual$/, "add"],
  [/_norm$|^hidden\./, "normalize"],
  [/\.activated$/, "activate"],
  [/^masked_lm|^prediction/, "scoreWords"],
  [/^pooler|^seq_/, "scoreNextSentence"],
];
const MOST_COLUMNS = 128; // of a wide matrix the first columns are drawn

/** @param {object} app  the page */
export function stepsView(app) {
  const list = element("select", { onchange: () => app.set({ step: list.value }) });
  const move = (by) => {
    const next = list.options[list.selectedIndex + by];
    if (next) app.set({ step: next.value });
  };
  const buttons = [
    element("button", { type: "button", onclick: () => move(-1) }, "← Back"),
    element("button", { type: "button", onclick: () => move(1) }, "Next →"),
  ];
  const says = element("p", { class: "says", role: "status" });
  const picture = element("div", {});
  const code = element("code", {});
  const lead = "BERT is a chain of matrices. Walk through them in the order in which they are computed.";
  const choose = element("label", { class: "choice" }, "Step ", list);
  const node = element(
    "div",
    {},
    element("p", { class: "about" }, lead),
    element("div", { class: "choices" }, buttons[0], choose, buttons[1]),
    says,
    picture,
    element("h3", {}, "The lines of bert.js that compute it"),
    element("pre", { tabindex: "0" }, code),
  );

  async function update() {
    const { text, masks, step, head } = app.state;
    const found = await app.ask("steps", { text, masks, name: step }, "steps");
    if (!found) return;
    replace(
      list,
      ...found.names.map(({ name, shape }) =>
        element("option", { value: name, selected: name === found.name }, `${name} [${shape.join(", ")}]`),
      ),
    );
    says.textContent = explained(found, head);
    replace(picture, pictureOf(found, head));
    code.textContent = app.sources[CODE.find(([pattern]) => pattern.test(found.name))?.[1]] ?? "";
  }

  return { title: "Step by step", node, update };
}

function explained({ name, tensor, names }, head) {
  const [letters, text] = about(name);
  const number = names.findIndex((one) => one.name === name) + 1;
  const which = tensor.shape.length === 3 ? ` Shown: head ${Math.min(head, tensor.shape[0] - 1) + 1}.` : "";
  return `Step ${number} of ${names.length}: ${name}, ${letters} = [${tensor.shape.join(", ")}]. ${text}${which}`;
}

function pictureOf({ name, pieces, scored, tensor }, head) {
  const [rows, columns] = tensor.shape.slice(-2);
  const start = tensor.shape.length === 3 ? Math.min(head, tensor.shape[0] - 1) * rows * columns : 0;
  const shown = Math.min(columns, MOST_COLUMNS);
  const names = pieces.map(shownToken);
  const labels = rows === names.length ? names : rows === scored.length ? scored.map((at) => names[at]) : ["[CLS]"];
  const data = Float32Array.from({ length: rows * shown }, (_, index) => {
    return tensor.data[start + Math.floor(index / shown) * columns + (index % shown)];
  });
  const scale = Math.max(1e-9, ...data.map(Math.abs).filter(Number.isFinite));
  const cut = shown < columns ? `, the first ${shown} of ${columns} columns` : "";
  return heatmap({
    rows: labels,
    columns: shown === names.length && tensor.shape.length === 3 ? names : Array(shown).fill(""),
    data,
    scale,
    width: 980,
    label: `The numbers of ${name}${cut}: gold above zero, purple below, the deepest colour is ${scale.toFixed(2)}.`,
    told: (row, column) => `“${labels[row]}”, column ${column + 1}: ${data[row * shown + column].toFixed(3)}`,
  });
}
