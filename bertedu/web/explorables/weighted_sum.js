/**
 * What a token collects: its query against all keys, softmax, and the sum of the values by these weights (chapter 03).
 */

import { element, replace } from "../dom.js";
import { checkbox, meter, numberField, rounded, tableHead } from "./controls.js";

/**
 * Attention of one query, as in section 3.2.1 of Vaswani et al. 2017.
 *
 * @param {number[]} query  [d]
 * @param {number[][]} keys  [T, d]
 * @param {number[]} values  [T], one number for each token
 * @param {{divided?: boolean, hidden?: boolean[]}} options  divided: by √d; hidden: tokens that get no weight
 * @returns {{scores: number[], weights: number[], output: number}} scores and weights [T]
 */
export function attend(query, keys, values, { divided = true, hidden = keys.map(() => false) } = {}) {
  const root = divided ? Math.sqrt(query.length) : 1;
  const dot = (key) => key.reduce((sum, number, i) => sum + number * query[i], 0) / root;
  const scores = keys.map((key, token) => (hidden[token] ? -Infinity : dot(key)));
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const weights = powers.map((power) => power / total);
  return { scores, weights, output: weights.reduce((sum, weight, token) => sum + weight * values[token], 0) };
}

/**
 * @param {HTMLElement} root
 * @param {{tokens: string[], asking: number, query: number[], key: number[][], value: number[], means: string[],
 *     tasks: string[]}} given  asking: whose query it is; means: what an output below and above zero stands for
 */
export function show(root, given) {
  const start = () => structuredClone({ ...given, divided: true, hidden: given.tokens.map(() => false) });
  let state = start();
  const rows = given.tokens.map(() => ({ score: element("td"), weight: element("span"), bar: meter() }));
  const output = element("p", { class: "says", role: "status" });
  const table = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "keys and values" });
  const query = element("p");

  function update() {
    const { scores, weights, output: sum } = attend(state.query, state.key, state.value, state);
    rows.forEach(({ score, weight, bar }, token) => {
      score.textContent = state.hidden[token] ? "−∞" : rounded(scores[token]);
      weight.textContent = ` ${rounded(weights[token])}`;
      bar.show(weights[token]);
    });
    const parts = weights.map((weight, token) => `${rounded(weight)} · ${rounded(state.value[token], 1)}`);
    const meaning = Math.abs(sum) < 0.005 ? "undecided" : given.means[sum < 0 ? 0 : 1];
    output.textContent = `${given.tokens[given.asking]} receives ${parts.join(" + ")} = ${rounded(sum)}: ${meaning}.`;
  }

  function hide(token, button) {
    const hidden = state.hidden.with(token, !state.hidden[token]);
    if (hidden.every(Boolean)) return; // somebody must be attended to
    state.hidden = hidden;
    button.setAttribute("aria-pressed", String(hidden[token]));
    button.closest("tr").classList.toggle("hidden", hidden[token]);
    update();
  }

  function row(name, token) {
    const { score, weight, bar } = rows[token];
    const button = element(
      "button",
      { type: "button", class: "switch", "aria-pressed": "false", title: `hide ${name}: nobody attends to it` },
      "hide",
    );
    button.addEventListener("click", () => hide(token, button));
    const field = (label, role, list, i) =>
      numberField(label, list[i], role, (number) => {
        list[i] = number;
        update();
      });
    const keys = state.key[token].map((_, i) => field(`key of ${name}, number ${i + 1}`, "key", state.key[token], i));
    return element(
      "tr",
      {},
      element("th", { scope: "row", class: "token-name" }, name),
      element("td", {}, element("span", { class: "vector" }, ...keys)),
      score,
      element("td", {}, bar.node, weight),
      element("td", {}, field(`value of ${name}`, "value", state.value, token)),
      element("td", { class: "keep" }, button),
    );
  }

  function build() {
    const names = ["", "key", "score", "weight", "value", ""];
    const body = element("tbody", {}, ...given.tokens.map(row));
    replace(table, element("table", { class: "compact" }, tableHead(names), body));
    const numbers = state.query.map((number, i) =>
      numberField(`query, number ${i + 1}`, number, "query", (changed) => {
        state.query[i] = changed;
        update();
      }),
    );
    replace(query, `query of ${given.tokens[given.asking]} `, element("span", { class: "vector" }, ...numbers));
    update();
  }

  const division = checkbox("divide the scores, query · key, by √d", true, (divided) => {
    state.divided = divided;
    update();
  });
  const again = element(
    "button",
    {
      type: "button",
      onclick: () => {
        state = start();
        division.querySelector("input").checked = true;
        build();
      },
    },
    "as at the start",
  );
  const tasks = element("ul", {}, ...given.tasks.map((task) => element("li", {}, task)));
  root.append(query, table, output, element("p", { class: "choices" }, division, again), tasks);
  build();
}
