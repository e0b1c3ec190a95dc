/**
 * From a start score and an end score of each token to an answer: all spans in one table (chapter 12).
 */

import { fill } from "../colors.js";
import { element, replace } from "../dom.js";
import { checkbox, numberField, rounded, slider } from "./controls.js";

/**
 * The span with the highest sum of scores, as in section 4.2 of Devlin et al. 2019; of equal ones the first.
 *
 * @param {number[]} start  [T]
 * @param {number[]} end  [T]
 * @param {{longest?: number, backwards?: boolean}} options  longest: how many tokens an answer may have; backwards:
 *     whether it may end before it starts
 * @returns {{from: number, to: number, score: number}}
 */
export function best(start, end, { longest = start.length, backwards = false } = {}) {
  let found = null;
  start.forEach((one, from) =>
    end.forEach((other, to) => {
      if (!allowed(from, to, { longest, backwards })) return;
      if (!found || one + other > found.score) found = { from, to, score: one + other };
    }),
  );
  return found;
}

/** Whether a span from one token to another can be an answer. */
function allowed(from, to, { longest, backwards }) {
  return (backwards || to >= from) && to - from < longest;
}

/**
 * @param {HTMLElement} root
 * @param {{tokens: string[], start: number[], end: number[], tasks: string[]}} given  [T]
 */
export function show(root, given) {
  const count = given.tokens.length;
  const state = { start: [...given.start], end: [...given.end], longest: count, backwards: false };
  const cells = given.tokens.map(() => given.tokens.map(() => element("td", { class: "filled" })));
  const says = element("p", { class: "says", role: "status" });

  function update() {
    const { from, to, score } = best(state.start, state.end, state);
    const most = Math.max(...state.start.map(Math.abs)) + Math.max(...state.end.map(Math.abs));
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const sum = state.start[i] + state.end[j];
        const open = allowed(i, j, state);
        cell.textContent = rounded(sum, 1);
        cell.className = `filled${open ? "" : " forbidden"}${i === from && j === to ? " best" : ""}`;
        cell.style.background = open ? fill(sum / (1.6 * most || 1)) : "";
      }),
    );
    const answer = given.tokens.slice(from, to + 1).join(" ");
    const told = answer ? `“${answer}”` : "empty, since it ends before it starts";
    const where = `starts at ${given.tokens[from]}, ends at ${given.tokens[to]}`;
    says.textContent = `The best span ${where}, with ${rounded(score, 1)}: ${told}.`;
  }

  const field = (list, name, i) =>
    numberField(`${name} score of ${given.tokens[i]}`, list[i], "", (number) => {
      list[i] = number;
      update();
    });
  const ends = given.tokens.map((token, i) =>
    element("th", { scope: "col" }, element("span", { class: "token-name" }, token), field(state.end, "end", i)),
  );
  const rows = given.tokens.map((token, i) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        element("span", { class: "token-name" }, token),
        " ",
        field(state.start, "start", i),
      ),
      ...cells[i],
    ),
  );
  const head = element("thead", {}, element("tr", {}, element("td", {}, "starts at ↓, ends at →"), ...ends));
  const scrolled = { class: "scroll", tabindex: "0", role: "group", "aria-label": "scores of all spans" };
  const longest = slider("longest answer, tokens", count, [1, count], (value) => {
    state.longest = value;
    update();
  });
  const backwards = checkbox("an answer may end before it starts", false, (on) => {
    state.backwards = on;
    update();
  });
  replace(
    root,
    element("div", scrolled, element("table", { class: "spans" }, head, element("tbody", {}, ...rows))),
    says,
    longest.node,
    element("p", { class: "choices" }, backwards),
    element("ul", {}, ...given.tasks.map((task) => element("li", {}, task))),
  );
  update();
}
