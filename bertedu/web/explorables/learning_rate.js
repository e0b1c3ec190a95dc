/**
 * What a schedule of the learning rate changes: Adam in a valley of two weights, with noise in every gradient
 * (chapter 08). The loss is the sum of ½ · curvature · weight² over both, so the best value of each weight is 0.
 */

import { drawn, element, replace } from "../dom.js";
import { chance } from "./agreement.js";
import { checkbox, rounded, slider } from "./controls.js";

const [WIDE, HIGH] = [360, 90]; // of a curve, in pixels
const [HIGHEST, LOWEST] = [100, 0.001]; // of the losses that are drawn
const LAST = 20; // the steps at the end whose mean is told

/** The share of the peak at a step, after this share of the run. */
export function factor(share, warmup, falls) {
  if (share < warmup) return share / warmup;
  return falls ? (1 - share) / (1 - warmup) : 1;
}

/**
 * The weights after each step of Adam (Kingma and Ba 2015).
 *
 * @param {{start: number[], curvature: number[], betas: number[], epsilon: number}} valley  one number for each weight
 * @param {number[][]} noise  added to the gradients, [steps, weights]
 * @param {number[]} rates  the learning rate of each step
 * @returns {number[][]} [steps + 1, weights]
 */
export function descend({ start, curvature, betas, epsilon }, noise, rates) {
  const [means, squares] = [start.map(() => 0), start.map(() => 0)];
  const path = [start];
  rates.forEach((rate, step) => {
    const moved = path.at(-1).map((weight, i) => {
      const gradient = curvature[i] * weight + noise[step][i];
      means[i] = betas[0] * means[i] + (1 - betas[0]) * gradient;
      squares[i] = betas[1] * squares[i] + (1 - betas[1]) * gradient ** 2;
      const [mean, square] = [means[i] / (1 - betas[0] ** (step + 1)), squares[i] / (1 - betas[1] ** (step + 1))];
      return weight - (rate * mean) / (Math.sqrt(square) + epsilon);
    });
    path.push(moved);
  });
  return path;
}

/** The loss of these weights. */
export function lossOf(weights, curvature) {
  return weights.reduce((sum, weight, i) => sum + (curvature[i] * weight ** 2) / 2, 0);
}

/**
 * @param {HTMLElement} root
 * @param {{start: number[], curvature: number[], betas: number[], epsilon: number, peak: number, steps: number}} given
 */
export function show(root, given) {
  const { steps, curvature } = given;
  const state = { peak: given.peak, warmup: 0, falls: false, seed: 0 };
  const says = element("p", { class: "says", role: "status" });
  const rateCurve = curve("the learning rate by step", ["peak", "0"], steps);
  const lossCurve = curve("the loss by step, each line a tenth", ["100", "10", "1", "0.1", "0.01", "0.001"], steps);
  const onScale = (loss) => Math.log(HIGHEST / Math.min(HIGHEST, Math.max(LOWEST, loss))) / Math.log(HIGHEST / LOWEST);

  function update() {
    const { normal } = chance(state.seed);
    const noise = Array.from({ length: steps }, () => curvature.map(normal));
    const shares = noise.map((_, step) => factor(step / steps, state.warmup, state.falls));
    const rates = shares.map((share) => share * state.peak);
    const losses = descend(given, noise, rates).map((weights) => lossOf(weights, curvature));
    rateCurve.show(shares.map((share) => 1 - share));
    lossCurve.show(losses.map(onScale));
    const most = Math.max(...losses);
    const rises = `rises from ${rounded(losses[0], 1)} to ${rounded(most, 1)}`;
    const begins = most > losses[0] * 1.01 ? rises : "never rises above its start";
    const end = losses.slice(-LAST).reduce((sum, loss) => sum + loss, 0) / LAST;
    says.textContent = `The loss ${begins}. Mean of the last ${LAST} steps: ${rounded(end, 3)}.`;
  }

  const set = (name, part) => (value) => {
    state[name] = value / part;
    update();
  };
  replace(
    root,
    slider("warm-up, % of the steps", 0, [0, 50], set("warmup", 100)).node,
    slider("peak, thousandths", 1000 * given.peak, [10, 500], set("peak", 1000)).node,
    element(
      "p",
      { class: "choices" },
      checkbox("the rate falls to 0 at the end", false, (on) => {
        state.falls = on;
        update();
      }),
      element("button", { type: "button", onclick: () => set("seed", 1)(state.seed + 1) }, "other noise"),
    ),
    says,
    element("p", {}, "learning rate"),
    rateCurve.node,
    element("p", {}, "loss"),
    lossCurve.node,
  );
  update();
}

/** A curve over the steps with marks at equal distances, which shows points from 0 (top) to 1 (bottom). */
function curve(label, marks, steps) {
  const line = drawn("polyline", { fill: "none", stroke: "currentColor", "stroke-width": 2 });
  const height = (i) => (i / (marks.length - 1)) * HIGH;
  const node = drawn(
    "svg",
    { viewBox: `-44 -8 ${WIDE + 54} ${HIGH + 34}`, class: "curve", role: "img", "aria-label": label },
    drawn("path", { d: `M0 0V${HIGH}H${WIDE}`, fill: "none", stroke: "currentColor" }),
    ...marks.map((mark, i) => drawn("text", { x: -6, y: height(i) + 4, "text-anchor": "end" }, mark)),
    drawn("text", { x: WIDE, y: HIGH + 18, "text-anchor": "end" }, `${steps} steps`),
    line,
  );
  return {
    node,
    show(points) {
      const at = (point, i) => `${(i / (points.length - 1)) * WIDE},${point * HIGH}`;
      line.setAttribute("points", points.map(at).join(" "));
    },
  };
}
