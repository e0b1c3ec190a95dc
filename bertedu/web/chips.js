/**
 * A sentence as BERT reads it: words as rounded buttons, each made of its pieces, special tokens between them.
 */

import { element } from "./dom.js";

const SPECIAL = {
  "[CLS]": "[CLS] stands before every text: its vector is for the whole text",
  "[SEP]": "[SEP] stands after every text",
  "[UNK]": "[UNK]: a word that the vocabulary has no pieces for",
};

/**
 * @param {object[]} pieces  as `answers.js` gives them
 * @param {object} options
 * @param {(piece: object) => boolean} [options.pressed]  whether the button of a word is pressed
 * @param {(piece: object) => void} [options.click]  when a word is chosen; without it, words are no buttons
 * @param {(word: string, pressed: boolean) => string} [options.name]  what happens when it is chosen
 * @param {boolean} [options.ids]  whether each piece has its id below it
 */
export function chips(pieces, { pressed = () => false, click = null, name = null, ids = false } = {}) {
  const groups = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (last && piece.word >= 0 && last[0].word === piece.word && last[0].type === piece.type) last.push(piece);
    else groups.push([piece]);
  }
  return groups.map((group) => chip(group, { pressed, click, name, ids }));
}

function chip(group, { pressed, click, name, ids }) {
  const [first] = group;
  const special = first.word < 0;
  const inside = group.map((piece) =>
    element(
      "span",
      { class: "piece" },
      shownToken(piece),
      ids ? " " : null,
      ids ? element("small", {}, String(piece.masked && piece.hidden ? "hidden" : piece.id)) : null,
    ),
  );
  const kind = `chip${special ? " special" : ""}${first.masked ? " masked" : ""}`;
  if (!click || special) return element("span", { class: kind, title: SPECIAL[first.token] ?? null }, ...inside);
  const word = group.map((piece) => piece.token.replace(/^##/, "")).join("");
  const on = pressed(first);
  return element(
    "button",
    {
      type: "button",
      class: kind,
      "aria-pressed": String(on),
      title: name?.(word, on) ?? null,
      "data-key": `word-${first.type}-${first.word}`,
      onclick: () => click(first),
    },
    ...inside,
  );
}

/** What is written at a position: a piece, or [MASK] where it is hidden. */
export function shownToken(piece) {
  return piece.hidden ? "[MASK]" : piece.token;
}
