/** How the page shows a tensor: a matrix as strips, a head as a grid, a vector in numbers. */

import { likeliest } from "../bert.js";
import { fill } from "../colors.js";
import { element, percent } from "../dom.js";
import { rounded } from "../explorables/controls.js";
import { heatmap } from "../heatmap.js";

const FIRST = 6; // numbers of the chosen token's vector that are written out
const MOST_COLUMNS = 128; // of a wide matrix the first columns are drawn

/**
 * One head of scores or weights [H, T, T] as a grid, and in a sentence what a token attends to most.
 *
 * @param {{head: number, token: number, names: string[], choose: (token: number) => void}} given
 */
export function headOf(name, { shape: [, length], data }, { head, token, names, choose }) {
  const matrix = data.subarray(head * length * length, (head + 1) * length * length);
  const weights = name.endsWith("weights");
  const said = (number) => (weights ? percent(number) : rounded(number));
  const row = matrix.subarray(token * length, (token + 1) * length);
  const most = [...row.keys()].sort((one, other) => row[other] - row[one]).slice(0, 3);
  const told = most.map((to) => `“${names[to]}” ${said(row[to])}`).join(", ");
  const verb = weights ? "attends most to" : "has its highest scores with";
  return [
    heatmap({
      rows: names,
      columns: names,
      data: matrix,
      scale: weights ? 1 : Math.max(1e-9, ...matrix.map(Math.abs)),
      width: 520,
      label: `${name}, head ${head + 1}: a row for each token that attends, a column for each attended to.`,
      told: (from, to) => `“${names[from]}” and “${names[to]}”: ${said(matrix[from * length + to])}`,
      chosen: choose,
    }),
    element("p", { class: "numbers" }, `In head ${head + 1}, “${names[token]}” ${verb} ${told}.`),
  ];
}

/** A matrix as strips of cells, a row for each token. */
export function strips(name, { shape: [rows, columns], data }, labels) {
  const shown = Math.min(columns, MOST_COLUMNS);
  const cut = Float32Array.from({ length: rows * shown }, (_, index) => {
    return data[Math.floor(index / shown) * columns + (index % shown)];
  });
  const scale = Math.max(1e-9, ...cut.map(Math.abs));
  const first = shown < columns ? `, the first ${shown} of ${columns} columns` : "";
  return heatmap({
    rows: labels,
    columns: Array(shown).fill(""),
    data: cut,
    scale,
    width: 520,
    smallest: 3,
    hint: false,
    label: `The numbers of ${name}${first}: gold above zero, purple below, the deepest colour is ${scale.toFixed(2)}.`,
    told: (row, column) => `“${labels[row]}”, number ${column + 1}: ${rounded(cut[row * shown + column])}`,
  });
}

/** The first numbers of one vector, with the mean and the standard deviation of all of them. */
export function numbers(label, vector) {
  const mean = vector.reduce((sum, number) => sum + number, 0) / vector.length;
  const variance = vector.reduce((sum, number) => sum + (number - mean) ** 2, 0) / vector.length;
  const scale = Math.max(1e-9, ...vector.map(Math.abs));
  const cells = [...vector.subarray(0, FIRST)].map((number) => {
    const cell = element("span", { class: "filled" }, rounded(number));
    cell.style.background = fill((0.6 * number) / scale);
    return cell;
  });
  const told = ` … mean ${rounded(mean)}, standard deviation ${rounded(Math.sqrt(variance))}`;
  return element("p", { class: "numbers" }, `“${label}”: `, ...cells, told);
}

/** The scores of the next-sentence head in words. */
export function follows({ data }) {
  const probability = likeliest(data, 2).find(({ id }) => id === 0).probability;
  const scores = `Scores ${rounded(data[0])} and ${rounded(data[1])}.`;
  return `${scores} Softmax says: the second text follows the first with ${percent(probability)}.`;
}
