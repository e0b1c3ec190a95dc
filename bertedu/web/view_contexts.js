/** Does one word mean one thing? Its vector in several sentences, as points on a map, layer by layer. */

import { choice, drawn, element, percent, replace } from "./dom.js";
import { textField } from "./field.js";
import { heatmap } from "./heatmap.js";
import { depths } from "./view_compare.js";

const [WIDE, HIGH, EDGE] = [400, 260, 30];

/** @param {object} app  the page */
export function contextsView(app) {
  const word = textField("The word", (value) => app.set({ word: value }));
  const sentences = textField("Sentences with it, one a line", (value) => app.set({ sentences: value }), { rows: 6 });
  const depth = element("div", { class: "choices" });
  const says = element("p", { class: "says", role: "status" });
  const map = element("div", {});
  const about =
    "The embedding of a word is the same everywhere. After each layer it holds more of its sentence: look whether " +
    "sentences in which the word means the same come together. A small BERT often fails at that. (The sentence above " +
    "plays no part here.)";
  const node = element(
    "div",
    {},
    element("p", { class: "about" }, about),
    element(
      "div",
      { class: "beside" },
      element("div", {}, word.node, sentences.node),
      element("div", {}, depth, says, map),
    ),
  );

  async function update() {
    const { state } = app;
    word.show(state.word);
    sentences.show(state.sentences);
    const layer = Math.min(state.depth, app.about.layers);
    replace(
      depth,
      choice("Vectors after", depths(app.about.layers), layer, (value) => app.set({ depth: Number(value) })),
    );
    const lines = state.sentences
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .slice(0, 40);
    const found = await app.ask("contexts", { sentences: lines, word: state.word.trim() }, "contexts");
    if (!found) return;
    says.textContent = inWords(found, layer, state.word);
    const names = found.sentences.map((_, number) => String(number + 1));
    const cosines = found.cosines[layer];
    replace(
      map,
      ...(found.sentences.length ? [points(found, layer), listOf(found.sentences)] : []),
      ...(found.sentences.length > 1
        ? [
            heatmap({
              rows: names,
              columns: names,
              data: cosines.flat(),
              label: "Cosines of the word's vectors in each pair of sentences.",
              told: (row, column) =>
                `Sentences ${row + 1} and ${column + 1}: cosine ${cosines[row][column].toFixed(2)}.`,
            }),
          ]
        : []),
    );
  }

  return { title: "One word, many contexts", node, update };
}

function points({ points: all, sentences }, layer) {
  const { points: found } = all[layer];
  const most = Math.max(1e-9, ...found.flat().map(Math.abs));
  const place = ([x, y]) => [WIDE / 2 + (x / most) * (WIDE / 2 - EDGE), HIGH / 2 - (y / most) * (HIGH / 2 - EDGE)];
  return drawn(
    "svg",
    {
      viewBox: `0 0 ${WIDE} ${HIGH}`,
      class: "map",
      role: "img",
      "aria-label": `A map of ${sentences.length} sentences.`,
    },
    ...found.map((point, number) => {
      const [x, y] = place(point);
      return drawn(
        "g",
        { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
        drawn("title", {}, sentences[number]),
        drawn("circle", { r: 15 }),
        drawn("text", { dy: "0.35em" }, String(number + 1)),
      );
    }),
  );
}

function listOf(sentences) {
  return element("ol", { class: "legend" }, ...sentences.map((sentence) => element("li", {}, sentence)));
}

function inWords({ sentences, missing, points: all, cosines }, layer, word) {
  const lost = missing.length ? ` “${word}” was not found in ${missing.length} of the sentences.` : "";
  if (sentences.length < 2) return `Write two or more sentences that have the word “${word}”.${lost}`;
  const pairs = cosines[layer].flatMap((row, one) =>
    row.slice(one + 1).map((cosine, more) => [cosine, one, one + 1 + more]),
  );
  pairs.sort((one, other) => other[0] - one[0]);
  const told = ([cosine, one, other]) => `${one + 1} and ${other + 1} (cosine ${cosine.toFixed(2)})`;
  const shown = `The map has two directions only: they show ${percent(all[layer].share)} of the differences.`;
  if (pairs.length === 1) return `Sentences ${told(pairs[0])}: write a third to compare with.${lost}`;
  return `Closest: sentences ${told(pairs[0])}; farthest: ${told(pairs.at(-1))}. ${shown}${lost}`;
}
