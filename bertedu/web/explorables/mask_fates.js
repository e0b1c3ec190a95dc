/**
 * Which tokens are masked, drawn again and again: the masking rate, and what becomes of a chosen token (chapter 06).
 */

import { element, replace } from "../dom.js";
import { chance } from "./agreement.js";
import { slider } from "./controls.js";

const MANY = 1000;
const FATES = ["[MASK]", "a random token", "as it was"];

/**
 * One draw, as in section 3.1 of Devlin et al. 2019: of T tokens round(rate · T), at least one, are chosen.
 *
 * @param {string[]} tokens  [T]; those in square brackets are never chosen
 * @param {{rate: number, mask: number, random: number}} shares  of the tokens, and of the chosen ones
 * @param {() => number} uniform  a random number from 0 to 1
 * @param {string[]} words  from which random tokens are taken
 * @returns {{seen: string, fate: number | null}[]} [T]; fate: the place in FATES, null where a token was not chosen
 */
export function draw(tokens, { rate, mask, random }, uniform, words) {
  const open = [...tokens.keys()].filter((position) => !/^\[.*\]$/.test(tokens[position]));
  for (let last = open.length - 1; last > 0; last--) {
    const other = Math.floor(uniform() * (last + 1));
    [open[last], open[other]] = [open[other], open[last]];
  }
  const chosen = new Set(open.slice(0, Math.max(1, Math.round(rate * tokens.length))));
  return tokens.map((token, position) => {
    if (!chosen.has(position)) return { seen: token, fate: null };
    const die = uniform();
    if (die < mask) return { seen: "[MASK]", fate: 0 };
    if (die < mask + random) return { seen: words[Math.floor(uniform() * words.length)], fate: 1 };
    return { seen: token, fate: 2 };
  });
}

/**
 * @param {HTMLElement} root
 * @param {{tokens: string[], words: string[]}} given  tokens: of one text; words: some of the vocabulary
 */
export function show(root, given) {
  const { uniform } = chance(0);
  const shares = { rate: 0.15, mask: 0.8, random: 0.1 };
  const chips = element("div", { class: "chips", role: "group", "aria-label": "What the model reads" });
  const says = element("p", { class: "says", role: "status" });
  const counts = element("p");

  function once() {
    const drawn = draw(given.tokens, shares, uniform, given.words);
    const chip = ({ seen, fate }, position) =>
      element(
        "span",
        { class: `chip ${["masked", "random", "kept"][fate] ?? ""}` },
        element("span", { class: "piece" }, seen, fate === null ? null : element("small", {}, given.tokens[position])),
      );
    replace(chips, ...drawn.map(chip));
    const told = drawn
      .map(({ fate }, position) => (fate === null ? "" : `${given.tokens[position]} (${FATES[fate]})`))
      .filter(Boolean);
    says.textContent = `The model must find: ${told.join(", ")}. Only these have a label.`;
    counts.textContent = "";
  }

  function many() {
    const all = Array.from({ length: MANY }, () => draw(given.tokens, shares, uniform, given.words)).flat();
    const share = (fate) => all.filter((one) => one.fate === fate).length / all.length;
    const parts = FATES.map((name, fate) => `${name} ${(100 * share(fate)).toFixed(1)} %`);
    counts.textContent = `Of all tokens in ${MANY.toLocaleString("en")} draws: ${parts.join(", ")}.`;
  }

  const set = (name) => (value) => {
    shares[name] = value / 100;
    if (shares.mask + shares.random > 1) {
      const other = name === "mask" ? "random" : "mask";
      shares[other] = 1 - shares[name];
      fields[other]?.show(100 * shares[other]);
    }
    once();
  };
  const fields = {
    rate: slider("chosen, % of all tokens", 15, [1, 100], set("rate")),
    mask: slider("of these [MASK], %", 80, [0, 100], set("mask")),
    random: slider("of these random, %", 10, [0, 100], set("random")),
  };
  root.append(
    ...Object.values(fields).map(({ node }) => node),
    element(
      "p",
      { class: "choices" },
      element("button", { type: "button", onclick: once }, "draw again"),
      element("button", { type: "button", onclick: many }, `draw ${MANY.toLocaleString("en")} times`),
    ),
    chips,
    says,
    counts,
  );
  once();
}
