/** Every tensor between the ids and the answer, by its name in `bert.js`, with its shape and what it is. */

import { shownToken } from "./chips.js";
import { element, replace } from "./dom.js";
import { heatmap } from "./heatmap.js";

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
const ABOUT = {
  "embeddings.token": [
    "[T, D]",
    "One row of the table of token embeddings for each token: the same in every sentence.",
  ],
  "embeddings.position": ["[T, D]", "One row for each position. It tells BERT the order of the tokens."],
  "embeddings.token_type": ["[T, D]", "One row for the segment: first or second sentence."],
  "embeddings.sum": ["[T, D]", "The three vectors of each token, added."],
  query: ["[T, D]", "What each token asks for: its vector through a linear layer. The heads lie side by side."],
  key: ["[T, D]", "What each token offers to be found by."],
  value: ["[T, D]", "What each token gives to those that attend to it."],
  scores: ["[H, T, T]", "How well each query matches each key: their dot product, divided by √d."],
  weights: ["[H, T, T]", "Softmax of the scores: each row sums to 1. This is attention."],
  mixed: ["[T, D]", "The values, mixed by the weights of each head."],
  attention: ["[T, D]", "The mixed values through the output layer, which joins the heads."],
  attention_residual: ["[T, D]", "Added to what the layer was given: the residual stream."],
  attention_norm: ["[T, D]", "LayerNorm: every row gets mean 0 and variance 1, then is scaled and shifted."],
  expanded: ["[T, F]", "The first linear layer of the feed-forward part, four times as wide."],
  activated: ["[T, F]", "GELU: what is below zero nearly vanishes."],
  feed_forward: ["[T, D]", "Back to D numbers for each token."],
  feed_forward_residual: ["[T, D]", "Added to what the feed-forward part was given."],
  "masked_lm.norm": ["[N, D]", "At each [MASK], the vector that the masked-word head compares with every word."],
  prediction_logits: ["[N, V]", "A score for every word of the vocabulary. Softmax makes the bars above of them."],
  pooler_output: ["[1, D]", "[CLS] through a linear layer and tanh: one vector for the whole text."],
  seq_relationship_logits: ["[1, 2]", "The scores for “follows” and “does not follow”."],
};

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
  const about = "BERT is a chain of matrices. Walk through them in the order in which they are computed.";
  const choose = element("label", { class: "choice" }, "Step ", list);
  const node = element(
    "div",
    {},
    element("p", { class: "about" }, about),
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
  const last = name.replace(/^layer\.\d+\./, "");
  const depth = /^hidden\.(\d+)$/.exec(name);
  const [letters, text] = depth
    ? [
        "[T, D]",
        Number(depth[1]) ? `The vectors after layer ${depth[1]}.` : "The embeddings, normalized: what layer 1 reads.",
      ]
    : (ABOUT[last] ?? ["", ""]);
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
