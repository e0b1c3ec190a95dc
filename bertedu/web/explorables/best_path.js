/**
 * The best sequence of tags: emissions and transitions as factors, and Viterbi's walk over them (chapter 11).
 */

import { element, replace } from "../dom.js";
import { numberField, rounded } from "./controls.js";

/**
 * Viterbi's algorithm (Viterbi 1967) with products: the best path to each tag of each word, and the way back.
 *
 * @param {number[][]} emissions  [W, C]
 * @param {number[][]} transitions  [C, C], from the row to the column
 * @returns {{best: number[][], path: number[], value: number, total: number}} best: the value of the best path to each
 *     tag, [W, C]; total: the sum over all paths
 */
export function viterbi(emissions, transitions) {
  const best = [[...emissions[0]]];
  const origins = [];
  let sums = [...emissions[0]];
  for (const emission of emissions.slice(1)) {
    const before = best.at(-1);
    const from = emission.map((_, to) => largest(before.map((value, tag) => value * transitions[tag][to])));
    origins.push(from);
    best.push(emission.map((factor, to) => factor * before[from[to]] * transitions[from[to]][to]));
    const previous = sums;
    sums = emission.map(
      (factor, to) => factor * previous.reduce((sum, value, tag) => sum + value * transitions[tag][to], 0),
    );
  }
  const path = [largest(best.at(-1))];
  for (const from of origins.toReversed()) path.unshift(from[path[0]]);
  const total = sums.reduce((sum, value) => sum + value, 0);
  return { best, path, value: Math.max(...best.at(-1)), total };
}

/** The place of the largest number; of equal ones the first. */
export function largest(numbers) {
  return numbers.indexOf(Math.max(...numbers));
}

/**
 * @param {HTMLElement} root
 * @param {{words: string[], tags: string[], emissions: number[][], transitions: number[][], tasks: string[]}} given
 *     emissions [W, C] and transitions [C, C] as factors, e to the score
 */
export function show(root, given) {
  const state = structuredClone(given);
  const reached = given.words.map(() => given.tags.map(() => element("span", {})));
  const cells = given.words.map((_, word) => given.tags.map((_, tag) => element("td", {}, reached[word][tag])));
  const says = element("p", { class: "says", role: "status" });

  function update() {
    const { best, path, value, total } = viterbi(state.emissions, state.transitions);
    cells.forEach((column, word) =>
      column.forEach((cell, tag) => {
        reached[word][tag].textContent = ` → ${rounded(best[word][tag], 0)}`;
        cell.className = path[word] === tag ? "best" : "";
      }),
    );
    const named = (tags) => tags.map((tag) => given.tags[tag]).join(" ");
    const alone = named(state.emissions.map(largest));
    const share = `${rounded(value, 0)} of ${rounded(total, 0)}, ${rounded((100 * value) / total, 0)} %`;
    says.textContent = `Best path: ${named(path)} (${share}). Each word alone would take ${alone}.`;
  }

  const field = (label, list, i) =>
    numberField(label, list[i], "", (number) => {
      if (number < 0) return; // e to a score is above zero
      list[i] = number;
      update();
    });
  given.words.forEach((word, w) =>
    given.tags.forEach((tag, t) => cells[w][t].prepend(field(`${word} as ${tag}`, state.emissions[w], t))),
  );
  const heading = (name) => element("th", { scope: "col", class: "token-name" }, name);
  const head = element("thead", {}, element("tr", {}, element("td", {}), ...given.words.map(heading)));
  const row = (tag, t) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", class: "token-name" }, tag),
      ...given.words.map((_, word) => cells[word][t]),
    );
  const to = (name) => heading(`to ${name}`);
  const from = (tag, t) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", class: "token-name" }, `from ${tag}`),
      ...given.tags.map((other, o) => element("td", {}, field(`from ${tag} to ${other}`, state.transitions[t], o))),
    );
  const body = (rows) => element("tbody", {}, ...rows);
  const scrolled = (label, table) =>
    element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, table);
  const transitionHead = element("thead", {}, element("tr", {}, element("td", {}), ...given.tags.map(to)));
  replace(
    root,
    element("p", {}, "Emissions, and → the best path that ends there:"),
    scrolled("emissions and best paths", element("table", {}, head, body(given.tags.map(row)))),
    element("p", {}, "Transitions:"),
    scrolled("transitions", element("table", {}, transitionHead, body(given.tags.map(from)))),
    says,
    element("ul", {}, ...given.tasks.map((task) => element("li", {}, task))),
  );
  update();
}
