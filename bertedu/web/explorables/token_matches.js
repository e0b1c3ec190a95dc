/**
 * How alike two sentences are by the vectors of their tokens: [CLS], mean, and late interaction (chapter 13).
 *
 * A mean of vectors is a sum of them, so its cosine needs no vector: the products of all pairs of tokens are enough.
 */

import { fill } from "../colors.js";
import { choice, element, replace } from "../dom.js";
import { rounded } from "./controls.js";

/**
 * Three scores of two sentences; tokens that are left out have no part in the means, look for no partner and are none.
 * [CLS] is the first token of both.
 *
 * @param {number[][]} first  [T, T], products of the vectors of the first sentence
 * @param {number[][]} second  [S, S], products of those of the second
 * @param {number[][]} across  [T, S], products of one from each
 * @param {boolean[]} rows  [T], which tokens of the first sentence take part; at least one
 * @param {boolean[]} columns  [S]
 * @returns {{cosines: number[][], partners: (number | null)[], cls: number, mean: number, late: number}}
 *     cosines: [T, S]; partners: the column with the highest cosine of each row that takes part; late: the mean of
 *     these, where ColBERT (Khattab & Zaharia 2020) takes their sum
 */
export function alike({ first, second, across }, rows, columns) {
  const cosines = across.map((row, i) => row.map((product, j) => product / Math.sqrt(first[i][i] * second[j][j])));
  const taking = (parts) => parts.flatMap((part, i) => (part ? [i] : []));
  const [ours, theirs] = [taking(rows), taking(columns)];
  const sum = (table, some, others) =>
    some.reduce((total, i) => total + others.reduce((row, j) => row + table[i][j], 0), 0);
  const mean = sum(across, ours, theirs) / Math.sqrt(sum(first, ours, ours) * sum(second, theirs, theirs));
  const partners = rows.map((part, i) =>
    part ? theirs.reduce((best, j) => (cosines[i][j] > cosines[i][best] ? j : best)) : null,
  );
  const late = ours.reduce((total, i) => total + cosines[i][partners[i]], 0) / ours.length;
  return { cosines, partners, cls: cosines[0][0], mean, late };
}

/** The angle between two directions, in degrees. */
export function degrees(cosine) {
  return (Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI;
}

const WAYS = { cls: "[CLS]", mean: "mean", late: "late interaction" };

/**
 * @param {HTMLElement} root
 * @param {{tokens: string[], products: number[][], others: {name: string, tokens: string[], products: number[][],
 *     across: number[][]}[], tasks: string[]}} given  the first sentence, and some to hold against it
 */
export function show(root, given) {
  const real = (tokens) => tokens.map((token) => token !== "[PAD]");
  const rows = real(given.tokens);
  const columns = given.others.map(({ tokens }) => real(tokens));
  let chosen = 0;
  const scores = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "scores" });
  const grid = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "cosines of tokens" });
  const says = element("p", { class: "says", role: "status" });
  const scored = (other) => {
    const { products: second, across } = given.others[other];
    return alike({ first: given.products, second, across }, rows, columns[other]);
  };

  function switched(parts, i) {
    const changed = parts.with(i, !parts[i]);
    if (!changed.some(Boolean)) return; // somebody must take part
    parts[i] = changed[i];
    update();
  }

  function token(name, parts, i, key) {
    const pressed = String(!parts[i]);
    const properties = { type: "button", class: "switch token-name", "data-key": key, "aria-pressed": pressed };
    return element(
      "button",
      { ...properties, title: `leave out ${name}`, onclick: () => switched(parts, i) },
      name,
    );
  }

  function scoreTable(found) {
    const heading = (name) => element("th", { scope: "col" }, name);
    const cell = (way, one) => {
      const angle = way === "late" ? "" : ` (${rounded(degrees(one[way]), 0)}°)`;
      const best = one[way] === Math.max(...found.map((other) => other[way]));
      return element("td", { class: best ? "best" : "" }, rounded(one[way]), angle);
    };
    const row = ([way, name]) =>
      element("tr", {}, element("th", { scope: "row" }, name), ...found.map((one) => cell(way, one)));
    const head = element("tr", {}, element("td", {}), ...given.others.map(({ name }) => heading(name)));
    return element(
      "table",
      {},
      element("thead", {}, head),
      element("tbody", {}, ...Object.entries(WAYS).map(row)),
    );
  }

  function cosineTable({ cosines, partners }) {
    const { tokens } = given.others[chosen];
    const parts = columns[chosen];
    const head = tokens.map((name, j) => element("th", { scope: "col" }, token(name, parts, j, `column ${j}`)));
    const cell = (i, cosine, j) => {
      const open = rows[i] && parts[j];
      const kind = `filled${open ? "" : " forbidden"}${partners[i] === j ? " best" : ""}`;
      const node = element("td", { class: kind }, rounded(cosine));
      if (open) node.style.background = fill(cosine / 1.6);
      return node;
    };
    const row = (name, i) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, token(name, rows, i, `row ${i}`)),
        ...cosines[i].map((cosine, j) => cell(i, cosine, j)),
      );
    return element(
      "table",
      { class: "matches" },
      element("thead", {}, element("tr", {}, element("td", {}), ...head)),
      element("tbody", {}, ...given.tokens.map(row)),
    );
  }

  function update() {
    const found = given.others.map((_, other) => scored(other));
    const { cls, mean, late, partners } = found[chosen];
    replace(scores, scoreTable(found));
    replace(grid, cosineTable(found[chosen]));
    const { tokens } = given.others[chosen];
    const pairs = partners.flatMap((j, i) => (j === null ? [] : [`${given.tokens[i]} → ${tokens[j]}`]));
    const { name } = given.others[chosen];
    says.textContent =
      `${name}: [CLS] ${rounded(cls)}, mean ${rounded(mean)}, late interaction ${rounded(late)}. ` +
      `Best partners: ${pairs.join(", ")}.`;
  }

  const named = given.others.map(({ name, tokens }, i) => [i, `${name}: ${sentence(tokens)}`]);
  const choose = choice("second sentence", named, chosen, (value) => {
    chosen = Number(value);
    update();
  });
  replace(
    root,
    element("p", {}, `first sentence: ${sentence(given.tokens)}`),
    scores,
    element("p", {}, choose),
    grid,
    says,
    element("ul", {}, ...given.tasks.map((task) => element("li", {}, task))),
  );
  update();
}

/** Tokens as a sentence that a person reads. */
function sentence(tokens) {
  const words = tokens.filter((token) => !/^\[.*\]$/.test(token));
  return words.join(" ").replaceAll(" ##", "").replaceAll(/ ([.,!?'’])/g, "$1");
}
