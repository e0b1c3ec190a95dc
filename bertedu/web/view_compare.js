/**
 * Do two sentences say the same? Every token's vector beside every token's of another sentence, by cosine.
 */

import { shownToken } from "./chips.js";
import { choice, element, replace } from "./dom.js";
import { textField } from "./field.js";
import { heatmap } from "./heatmap.js";

/** @param {object} app  the page */
export function compareView(app) {
  const field = textField("Another sentence", (other) => app.set({ other }));
  const depth = element("div", { class: "choices" });
  const says = element("p", { class: "says", role: "status" });
  const picture = element("div", {});
  const about =
    "Each token of the sentence above beside each of another one. A cosine of 1 means the same direction, 0 no " +
    "relation, −1 the opposite. In the embeddings, equal words at equal positions are equal; after each layer, a" +
    " token holds more of its sentence.";
  const node = element("div", {}, element("p", { class: "about" }, about), field.node, depth, says, picture);

  async function update() {
    const { text, masks, other } = app.state;
    field.show(other);
    const layer = Math.min(app.state.depth, app.about.layers);
    replace(
      depth,
      choice("Vectors after", depths(app.about.layers), layer, (value) => app.set({ depth: Number(value) })),
    );
    const found = await app.ask("compare", { first: { text, masks }, second: { text: other } }, "compare");
    if (!found) return;
    const rows = found.first.map(shownToken);
    const columns = found.second.map(shownToken);
    const { data } = found.cosines[layer];
    says.textContent = inWords(found, data, rows, columns, layer);
    const told = (row, column) =>
      `“${rows[row]}” and “${columns[column]}”: cosine ${data[row * columns.length + column].toFixed(2)}.`;
    replace(
      picture,
      heatmap({ rows, columns, data, label: `Cosines of the tokens of both sentences. ${says.textContent}`, told }),
    );
  }

  return { title: "Compare sentences", node, update };
}

/** The embeddings and the layers, to choose from. */
export function depths(layers) {
  return Array.from({ length: layers + 1 }, (_, depth) => [depth, depth ? `layer ${depth}` : "the embeddings"]);
}

/** The mean of the whole, and the two words that are closest to each other without being the same. */
function inWords({ first, second, whole }, data, rows, columns, layer) {
  let best = { cosine: -2 };
  for (const [row, one] of first.entries()) {
    for (const [column, other] of second.entries()) {
      const cosine = data[row * columns.length + column];
      if (one.word >= 0 && other.word >= 0 && rows[row] !== columns[column] && cosine > best.cosine) {
        best = { cosine, row, column };
      }
    }
  }
  const pair =
    best.cosine > -2
      ? ` Closest of different words: “${rows[best.row]}” and “${columns[best.column]}” (${best.cosine.toFixed(2)}).`
      : "";
  return `The means of all vectors have a cosine of ${whole[layer].toFixed(2)}.${pair}`;
}
