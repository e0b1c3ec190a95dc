/**
 * What changes when a word changes? Two versions of the sentence: their answers, and how far each token's vector moved.
 */

import { bars, inWords } from "./bars.js";
import { shownToken } from "./chips.js";
import { element, replace } from "./dom.js";
import { heatmap } from "./heatmap.js";
import { textField } from "./field.js";
import { movedMasks, wordsOf } from "./state.js";

/** @param {object} app  the page */
export function swapView(app) {
  const field = textField("The sentence with another word", (changed) => app.set({ changed }));
  const says = element("p", { class: "says", role: "status" });
  const answers = element("div", { class: "beside" });
  const moved = element("div", {});
  const about =
    "Change a word here and compare. The same word stays hidden in both versions. A token that was not touched gets " +
    "another vector too: it attended to the one that was.";
  const take = () => app.set({ changed: app.state.text });
  const again = element("button", { type: "button", onclick: take }, "Begin with the sentence above");
  const node = element("div", {}, element("p", { class: "about" }, about), field.node, again, says, answers, moved);

  async function update() {
    const { text, masks } = app.state;
    const changed = fitting(app.state, app.start);
    field.show(changed);
    const before = app.tokenizer.encode(text);
    const after = app.tokenizer.encode(changed);
    const second = { text: changed, masks: movedMasks(wordsOf(before), wordsOf(after), masks) };
    const look = await app.ask("look", second, "swap look");
    const compared = await app.ask("compare", { first: { text, masks }, second }, "swap compare");
    if (!look || !compared) return;
    const [one, other] = [app.look.answers[0], look.answers[0]];
    if (one && other) {
      replace(answers, bars(one, { title: "As above" }), bars(other, { title: "With the other word", before: one }));
      says.textContent =
        changed === text ? "Both sentences are the same: change a word in this one." : `Now ${inWords(other)}`;
    } else {
      replace(answers);
      says.textContent = one
        ? "This is another sentence than the one above, so the hidden word is not in it: begin with the one above."
        : "Hide a word above to compare the answers.";
    }
    replace(moved, ...(changed === text ? [] : movement(compared)));
  }

  return { title: "Swap a word", node, update };
}

/** The other version: the sentence above, where the one from the start belongs to a sentence that has gone. */
function fitting({ text, changed }, start) {
  return changed === start.changed && text !== start.text ? text : changed;
}

/** How far the vector of each token moved, layer by layer, where both versions have as many tokens. */
function movement({ first, second, cosines }) {
  if (first.length !== second.length) {
    return [
      element("p", {}, "The versions have different numbers of pieces: their vectors cannot be set side by side."),
    ];
  }
  const length = first.length;
  const distances = cosines.map(({ data }) => first.map((_, place) => Math.max(0, 1 - data[place * length + place])));
  const last = distances.at(-1);
  const untouched = first.map((_, place) => place).filter((place) => first[place].token === second[place].token);
  const farthest = untouched.reduce((most, place) => (last[place] > last[most] ? place : most), untouched[0] ?? 0);
  const names = first.map((piece, place) =>
    piece.token === second[place].token ? shownToken(piece) : `${shownToken(piece)}→${shownToken(second[place])}`,
  );
  const rows = cosines.map((_, depth) => (depth ? `layer ${depth}` : "embeddings"));
  return [
    element("h3", {}, "How far did each token's vector move?"),
    heatmap({
      rows,
      columns: names,
      data: distances.flat(),
      scale: Math.max(0.05, ...distances.flat()),
      label: "How far each token's vector moved: a row for each layer, a column for each token.",
      told: (depth, place) =>
        `${rows[depth]}: “${names[place]}” moved by ${distances[depth][place].toFixed(3)} (1 − cosine).`,
    }),
    element(
      "p",
      {},
      `Of the tokens that stayed, “${names[farthest]}” moved most: ${last[farthest].toFixed(2)} after the last layer ` +
        "(1 − cosine; 0 means that nothing moved).",
    ),
  ];
}
