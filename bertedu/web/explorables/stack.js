/**
 * A stack of encoder layers with random weights, from which parts can be taken away: do the tokens stay different, and
 * do their numbers keep their size (chapter 04)?
 *
 * Shapes: T tokens, D hidden size, H heads, d = D / H. A matrix [O, I] is one Float64Array, row by row.
 */

import { fill } from "../colors.js";
import { choice, drawn, element, replace } from "../dom.js";
import { erf } from "../erf.js";
import { chance } from "./agreement.js";
import { checkbox, rounded, slider } from "./controls.js";

const DEEPEST = 24;
const EPSILON = 1e-12;
const [WIDE, HIGH] = [300, 100];
const [SMALLEST, LARGEST] = [-6, 3]; // powers of ten in the picture of sizes

/**
 * Random tokens, and the weights of all layers with standard deviation 1; biases are zero.
 *
 * @param {{tokens: number, size: number}} given  T and D
 * @returns {{tokens: Float64Array[], layers: Object<string, Float64Array>[]}} tokens [T, D]
 */
export function begin({ tokens, size }, seed, depth = DEEPEST) {
  const { normal } = chance(seed);
  const numbers = (count) => Float64Array.from({ length: count }, normal);
  const square = () => numbers(size * size);
  const layer = () => ({
    ...{ query: square(), key: square(), value: square(), output: square() },
    ...{ expand: numbers(4 * size * size), shrink: numbers(4 * size * size) },
  });
  return { tokens: Array.from({ length: tokens }, () => numbers(size)), layers: Array.from({ length: depth }, layer) };
}

/**
 * The vectors before the first layer and after each.
 *
 * @param {Float64Array[]} tokens  [T, D]
 * @param {object[]} layers  as `begin` draws them
 * @param {{heads: number, deviation: number, residual: boolean, norm: "after" | "before" | "none",
 *     feedForward: boolean}} options  deviation: of the weights; norm: after the addition as in BERT, or before a part
 * @returns {Float64Array[][]} L + 1 times [T, D]
 */
export function flow(tokens, layers, { heads, deviation, residual, norm, feedForward }) {
  const states = [tokens];
  for (const layer of layers) {
    let x = states.at(-1);
    const parts = [(y) => attend(y, layer, heads, deviation)];
    if (feedForward) parts.push((y) => y.map((one) => feed(one, layer, deviation)));
    for (const part of parts) {
      const update = part(norm === "before" ? x.map(normalize) : x);
      const sum = residual ? update.map((one, token) => one.map((number, i) => number + x[token][i])) : update;
      x = norm === "after" ? sum.map(normalize) : sum;
    }
    states.push(x);
  }
  return states;
}

/** Self-attention with H heads: [T, D] to [T, D]. */
function attend(x, { query, key, value, output }, heads, deviation) {
  const [queries, keys, values] = [query, key, value].map((matrix) => x.map((one) => product(matrix, one, deviation)));
  const size = x[0].length / heads; // d
  const mixed = x.map((one) => new Float64Array(one.length));
  for (let head = 0; head < heads; head++) {
    const [from, to] = [head * size, (head + 1) * size];
    x.forEach((_, token) => {
      const scores = keys.map((one) => {
        let score = 0;
        for (let i = from; i < to; i++) score += one[i] * queries[token][i];
        return score / Math.sqrt(size);
      });
      const largest = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - largest));
      const total = powers.reduce((sum, power) => sum + power, 0);
      values.forEach((one, other) => {
        for (let i = from; i < to; i++) mixed[token][i] += (powers[other] / total) * one[i];
      });
    });
  }
  return mixed.map((one) => product(output, one, deviation));
}

/** Expand, GELU, shrink, for one token: [D] to [D]. */
function feed(x, { expand, shrink }, deviation) {
  const inner = product(expand, x, deviation).map((number) => 0.5 * number * (1 + erf(number / Math.SQRT2)));
  return product(shrink, inner, deviation);
}

/** deviation · W x: [O, I] and [I] to [O]. */
function product(matrix, x, deviation) {
  const y = new Float64Array(matrix.length / x.length);
  for (let o = 0, at = 0; o < y.length; o++) {
    let sum = 0;
    for (let i = 0; i < x.length; i++, at++) sum += matrix[at] * x[i];
    y[o] = deviation * sum;
  }
  return y;
}

/** LayerNorm without learned numbers: mean 0 and variance 1. */
function normalize(x) {
  const mean = x.reduce((sum, number) => sum + number, 0) / x.length;
  const variance = x.reduce((sum, number) => sum + (number - mean) ** 2, 0) / x.length;
  return x.map((number) => (number - mean) / Math.sqrt(variance + EPSILON));
}

/** The cosines of all pairs of tokens [T, T], the mean over pairs of different tokens, and the size of the entries. */
export function measured(x) {
  const dot = (one, other) => one.reduce((sum, number, i) => sum + number * other[i], 0);
  const lengths = x.map((one) => Math.sqrt(dot(one, one)) || 1);
  const cosines = x.map((one, i) => x.map((other, j) => dot(one, other) / lengths[i] / lengths[j]));
  const pairs = cosines.flatMap((row, i) => row.filter((_, j) => i !== j));
  const entries = x.flatMap((one) => [...one]);
  const mean = entries.reduce((sum, number) => sum + number, 0) / entries.length;
  const variance = entries.reduce((sum, number) => sum + (number - mean) ** 2, 0) / (entries.length - 1);
  return { cosines, cosine: pairs.reduce((sum, one) => sum + one, 0) / pairs.length, size: Math.sqrt(variance) };
}

/**
 * @param {HTMLElement} root
 * @param {{tokens: number, size: number, heads: number, layers: number, deviation: number, seed: number}} given
 *     tokens, size, heads: T, D and H; layers: after how many it is looked first; deviation: of the weights
 */
export function show(root, given) {
  let seed = given.seed;
  let start = begin(given, seed);
  const state = { residual: true, norm: "after", feedForward: true, deviation: given.deviation, depth: given.layers };
  let found = [];
  const says = element("p", { class: "says", role: "status" });
  const grid = element("div");
  const cosine = chart("mean cosine", ["1", "0"], (one) => one.cosine);
  const power = (one) => Math.log10(Math.max(one.size, 1e-300));
  const size = chart("size of the entries", [`10${superscript(LARGEST)}`, `10${superscript(SMALLEST)}`], (one) => {
    return (power(one) - SMALLEST) / (LARGEST - SMALLEST);
  });

  function compute() {
    const states = flow(start.tokens, start.layers, { ...state, heads: given.heads });
    found = states.map(measured);
    look();
  }

  function look() {
    const now = found[state.depth];
    const told = `mean cosine ${rounded(now.cosine)}, size of the entries ${sized(now.size)}`;
    says.textContent = `After ${state.depth} layers: ${told}. ${verdict(now)}`;
    cosine.show(found, state.depth);
    size.show(found, state.depth);
    replace(grid, gridOf(now.cosines));
  }

  const set = (name) => (value) => {
    state[name] = value;
    compute();
  };
  const norms = [
    ["after", "after each addition"],
    ["before", "before each part"],
    ["none", "none"],
  ];
  const other = () => {
    start = begin(given, ++seed);
    compute();
  };
  root.append(
    element(
      "p",
      { class: "choices" },
      checkbox("residual connections", true, set("residual")),
      choice("LayerNorm", norms, "after", set("norm")),
      checkbox("feed-forward networks", true, set("feedForward")),
    ),
    slider("look after layer", state.depth, [0, DEEPEST], (depth) => {
      state.depth = depth;
      look();
    }).node,
    slider("weights: standard deviation, %", Math.round(100 * state.deviation), [1, 50], (part) => {
      set("deviation")(part / 100);
    }).node,
    says,
    element("div", { class: "looks charts" }, figure("Cosines of all pairs of tokens", grid), cosine.node, size.node),
    element("p", { class: "choices" }, element("button", { type: "button", onclick: other }, "other random numbers")),
  );
  compute();
}

function superscript(number) {
  return String(number).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
}

/** A size as people read it: 0.98, 5.2, or 3 · 10⁻⁸. */
function sized(number) {
  if (number >= 0.01 && number < 1000) return rounded(number);
  const [digits, power] = number.toExponential(0).split("e");
  return `${digits} · 10${superscript(Number(power))}`;
}

function verdict({ cosine, size }) {
  const alike = cosine > 0.9 ? "are nearly the same" : cosine > 0.5 ? "have become alike" : "are still different";
  const kept = size < 0.5 ? "smaller than" : size > 2 ? "larger than" : "about as large as";
  return `The tokens ${alike}, and their numbers ${kept} at the start.`;
}

function figure(name, ...inside) {
  return element("figure", { class: "plain" }, element("figcaption", {}, name), ...inside);
}

/** The cosines as a grid of filled cells; what they say stands in the sentence. */
function gridOf(cosines) {
  const cell = (number) => {
    const td = element("td", {});
    td.style.background = fill(number);
    return td;
  };
  const row = (numbers) => element("tr", {}, ...numbers.map(cell));
  return element("table", { class: "cosines", "aria-hidden": "true" }, element("tbody", {}, ...cosines.map(row)));
}

/** A curve over the layers, and a mark where it is looked. */
function chart(name, [top, bottom], height) {
  const curve = drawn("polyline", { fill: "none", stroke: "currentColor", "stroke-width": 2 });
  const mark = drawn("circle", { r: 5, fill: "currentColor" });
  const picture = drawn(
    "svg",
    { viewBox: `-44 -10 ${WIDE + 54} ${HIGH + 36}`, class: "curve", "aria-hidden": "true" },
    drawn("path", { d: `M0 0V${HIGH}H${WIDE}`, fill: "none", stroke: "currentColor" }),
    drawn("text", { x: -6, y: 6, "text-anchor": "end" }, top),
    drawn("text", { x: -6, y: HIGH, "text-anchor": "end" }, bottom),
    drawn("text", { x: WIDE, y: HIGH + 18, "text-anchor": "end" }, `${DEEPEST} layers`),
    drawn("text", { x: 0, y: HIGH + 18 }, "0"),
    curve,
    mark,
  );
  const place = (one, depth) => {
    const share = Math.min(1.05, Math.max(-0.05, height(one)));
    return [(depth / DEEPEST) * WIDE, HIGH * (1 - share)];
  };
  return {
    node: figure(name, picture),
    show(found, depth) {
      curve.setAttribute("points", found.map((one, at) => place(one, at).join()).join(" "));
      const [x, y] = place(found[depth], depth);
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", y);
    },
  };
}
