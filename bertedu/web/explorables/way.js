/**
 * The whole way of a sentence: its tokens, their ids, their vectors after the embeddings and after each layer, and what
 * BERT expects at a gap (chapter 00). Vectors that differ from those of the sentence at the start are marked.
 */

import { Bert } from "../answers.js";
import { bars, inWords } from "../bars.js";
import { fromBase64 } from "../base64.js";
import { run } from "../bert.js";
import { chips, shownToken } from "../chips.js";
import { fill } from "../colors.js";
import { element, replace } from "../dom.js";
import { textField } from "../field.js";
import { rounded, tableHead } from "./controls.js";

const SEEN = 8; // numbers of each vector that are drawn
const SAME = 1e-5;

/**
 * The way of one sentence.
 *
 * @param {Bert} bert
 * @param {{text: string, masks: number[]}} sentence
 * @returns {{pieces: object[], vectors: number[][][], answers: object[]}} vectors [L + 1, T, D]: embeddings and layers
 */
export function follow(bert, sentence) {
  const { pieces, ids, types } = bert.read(sentence);
  const scored = pieces.filter((piece) => piece.masked).map((piece) => piece.position);
  const steps = run(bert.model, ids, types, { scored });
  const vectors = Array.from({ length: bert.model.config.num_hidden_layers + 1 }, (_, depth) => {
    const { shape, data } = steps.get(`hidden.${depth}`);
    return pieces.map((_, token) => [...data.subarray(token * shape[1], (token + 1) * shape[1])]);
  });
  return { pieces, vectors, answers: bert.candidates(steps, pieces, scored, 1) };
}

/** Which vectors are others than those of a sentence of as many tokens, [L + 1, T]; null where it has not as many. */
export function differing(vectors, others) {
  if (vectors[0].length !== others[0].length) return null;
  const differs = (one, other) => one.some((number, i) => Math.abs(number - other[i]) > SAME);
  return vectors.map((tokens, depth) => tokens.map((one, token) => differs(one, others[depth][token])));
}

/**
 * @param {HTMLElement} root
 * @param {{files: object, weights: string, text: string}} given  files, weights: of a checkpoint, the weights in base64
 */
export function show(root, given) {
  const bert = new Bert({ ...given.files, weights: fromBase64(given.weights) });
  const start = follow(bert, { text: given.text, masks: [] });
  let state = { text: given.text, masks: [] };
  const label = "The sentence: choose a word to hide it";
  const words = element("div", { class: "chips", role: "group", "aria-label": label });
  const table = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "tokens and vectors" });
  const says = element("p", { class: "says", role: "status" });
  const answer = element("p");
  const pictures = element("div");
  const field = textField("A sentence ([MASK] is a gap)", (text) => change({ text, masks: [] }));
  const back = () => change({ text: given.text, masks: [] });
  const again = element("button", { type: "button", onclick: back }, "as at the start");

  function change(changes) {
    state = { ...state, ...changes };
    try {
      update();
    } catch (error) {
      says.textContent = error.message; // a text that is too long
      replace(table);
      replace(pictures);
      answer.textContent = "";
    }
  }

  function update() {
    field.show(state.text);
    const { pieces, vectors, answers } = follow(bert, state);
    const click = ({ word }) => {
      const { masks } = state;
      change({ masks: masks.includes(word) ? masks.filter((one) => one !== word) : [...masks, word] });
    };
    const name = (word, on) => `${word}: ${on ? "hidden, show it" : "hide it"}`;
    replace(words, ...chips(pieces, { pressed: ({ word }) => state.masks.includes(word), click, name }));
    const others = differing(vectors, start.vectors);
    replace(table, tableOf(bert, pieces, vectors, others));
    says.textContent = others ? told(others) : `${pieces.length} tokens now, ${start.pieces.length} at the start.`;
    const { length } = answers;
    const title = ({ position }) => (length > 1 ? `What stands at position ${position}?` : "What stands at [MASK]?");
    replace(pictures, ...answers.slice(0, 2).map((one) => bars(one, { title: title(one) })));
    answer.textContent = length ? inWords(answers[0]) : "No word is hidden: choose one.";
  }

  root.append(field.node, words, element("p", { class: "choices" }, again), table, says, answer, pictures);
  change({});
}

function stages(vectors) {
  return vectors.map((_, depth) => (depth ? `layer ${depth}` : "embeddings"));
}

/** A row for each token: its id, and the first numbers of its vector at each stage. */
function tableOf(bert, pieces, vectors, others) {
  const mask = bert.tokenizer.ids.get("[MASK]");
  const row = (piece, token) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", class: "token-name" }, shownToken(piece)),
      element("td", {}, String(piece.hidden ? mask : piece.id)),
      ...vectors.map((tokens, depth) => element("td", {}, strip(tokens[token], others?.[depth][token] ?? false))),
    );
  const body = element("tbody", {}, ...pieces.map(row));
  return element("table", { class: "way" }, tableHead(["token", "id", ...stages(vectors)]), body);
}

/** The first numbers of a vector as filled cells. */
function strip(vector, other) {
  const numbers = vector.slice(0, SEEN);
  const label = `${numbers.slice(0, 3).map((number) => rounded(number, 1)).join(", ")} …${other ? ", changed" : ""}`;
  const cells = numbers.map((number) => {
    const cell = element("span", { title: rounded(number) });
    cell.style.background = fill(number / 2.5);
    return cell;
  });
  return element("span", { class: `strip${other ? " changed" : ""}`, role: "img", "aria-label": label }, ...cells);
}

function told(others) {
  const names = stages(others);
  const count = (one) => one.filter(Boolean).length;
  if (!others.flat().some(Boolean)) return "This is the sentence at the start. Change or hide a word.";
  const parts = others.map((one, depth) => `${depth ? names[depth] : "the embeddings"} ${count(one)}`);
  return `Vectors that differ from those at the start, of ${others[0].length}: after ${parts.join(", after ")}.`;
}
