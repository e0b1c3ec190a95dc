/**
 * What changes when words change places: vectors of tokens, with position vectors added or not (chapter 02).
 */

import { fill } from "../colors.js";
import { element, replace } from "../dom.js";
import { checkbox, rounded, tableHead } from "./controls.js";

/**
 * The vectors that enter the encoder for the tokens in an order.
 *
 * @param {number[]} order  which token stands at each place, [T]
 * @param {number[][]} tokens  the vector of each token, [T, D]
 * @param {number[][]} positions  the vector of each place, [T, D]
 * @param {boolean} added  whether positions are added
 * @returns {number[][]} [T, D], by place
 */
export function vectors(order, tokens, positions, added) {
  return order.map((token, place) => tokens[token].map((number, i) => number + (added ? positions[place][i] : 0)));
}

/** Of how many tokens the vector is another one than at the start. */
export function changed(order, tokens, positions, added) {
  const start = vectors([...order.keys()], tokens, positions, added);
  const now = vectors(order, tokens, positions, added);
  const differs = (one, other) => one.some((number, i) => Math.abs(number - other[i]) > 1e-6);
  return order.filter((token, place) => differs(now[place], start[token])).length;
}

/**
 * @param {HTMLElement} root
 * @param {{tokens: string[], vectors: number[][], positions: number[][]}} given  [T, D] both
 */
export function show(root, given) {
  const count = given.tokens.length;
  let order = [...given.tokens.keys()];
  let added = false;
  const table = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "the vectors" });
  const says = element("p", { class: "says", role: "status" });

  const cells = (numbers) =>
    element(
      "td",
      {},
      ...numbers.map((number) => {
        const cell = element("span", { class: "filled" }, rounded(number, 1));
        cell.style.background = fill(number / 4);
        return cell;
      }),
    );

  function move(place, by) {
    const other = place + by;
    [order[place], order[other]] = [order[other], order[place]];
    update();
  }

  function button(place, by, token) {
    const [arrow, where] = by < 0 ? ["↑", "up"] : ["↓", "down"];
    const off = place + by < 0 || place + by >= count;
    return element(
      "button",
      {
        type: "button",
        disabled: off,
        "aria-label": `move ${given.tokens[token]} ${where}`,
        "data-key": `${token} ${where}`,
        onclick: () => move(place, by),
      },
      arrow,
    );
  }

  function update() {
    const sums = vectors(order, given.vectors, given.positions, added);
    const row = (token, place) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", class: "token-name" }, given.tokens[token]),
        element("td", {}, button(place, -1, token), " ", button(place, 1, token)),
        cells(given.vectors[token]),
        added ? cells(given.positions[place]) : null,
        added ? cells(sums[place]) : null,
      );
    const names = ["token", "", "its vector", ...(added ? ["of the place", "sum"] : [])];
    replace(table, element("table", {}, tableHead(names), element("tbody", {}, ...order.map(row))));
    const moved = changed(order, given.vectors, given.positions, added);
    const text = order.map((token) => given.tokens[token]).join(" ");
    const told = moved
      ? `${moved} of ${count} tokens have another vector than at the start`
      : "every token has the same vector as at the start";
    says.textContent = `“${text}”: ${told}. ${moved ? "Order can be seen." : "Order cannot be seen."}`;
  }

  const switched = checkbox("add position vectors", false, (on) => {
    added = on;
    update();
  });
  root.append(element("p", { class: "choices" }, switched), table, says);
  update();
}
