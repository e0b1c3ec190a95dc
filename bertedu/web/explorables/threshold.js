/**
 * From probabilities to decisions: what a threshold finds, what it misses, and what it raises in vain (chapter 10).
 */

import { drawn, element, percent, replace } from "../dom.js";
import { rounded, slider } from "./controls.js";

const [WIDE, HIGH] = [400, 34]; // of a row of ticks, in pixels

/**
 * The confusion matrix of a threshold, and what is computed from it. Chosen is what has at least the threshold.
 *
 * @param {number[]} probabilities  [N]
 * @param {boolean[]} truths  [N]
 * @returns {Object<string, number>}  hits, alarms, missed, left; precision, recall, f1. precision is NaN where nothing
 *     was chosen
 */
export function judged(probabilities, truths, threshold) {
  const count = (chosen, truth) =>
    probabilities.filter((one, i) => one >= threshold === chosen && Boolean(truths[i]) === truth).length;
  const [hits, alarms] = [count(true, true), count(true, false)];
  const [missed, left] = [count(false, true), count(false, false)];
  const f1 = (2 * hits) / (2 * hits + alarms + missed);
  return { hits, alarms, missed, left, precision: hits / (hits + alarms), recall: hits / (hits + missed), f1 };
}

/**
 * @param {HTMLElement} root
 * @param {{probabilities: number[], truths: boolean[], label: string, tasks: string[]}} given  [N]
 */
export function show(root, given) {
  const { probabilities, truths, label } = given;
  const says = element("p", { class: "says", role: "status" });
  const cells = Object.fromEntries(["hits", "alarms", "missed", "left"].map((name) => [name, element("td")]));
  const figures = element("p");
  const kinds = [
    { name: label, y: 0, truth: true },
    { name: `not ${label}`, y: HIGH + 22, truth: false },
  ];
  const bar = drawn("path", { stroke: "currentColor", "stroke-width": 2 });
  const ticks = probabilities.map((one, i) => {
    const { y } = kinds.find(({ truth }) => truth === Boolean(truths[i]));
    return drawn("path", { d: `M${one * WIDE} ${y}v${HIGH}`, class: "tick" });
  });
  const chart = drawn(
    "svg",
    {
      viewBox: `-6 -18 ${WIDE + 12} ${2 * HIGH + 64}`,
      class: "curve",
      role: "img",
      "aria-label": "a line for each text",
    },
    ...kinds.map(({ name, y }) => drawn("text", { x: 0, y: y - 5 }, name)),
    drawn("text", { x: 0, y: 2 * HIGH + 37 }, "0"),
    drawn("text", { x: WIDE, y: 2 * HIGH + 37, "text-anchor": "end" }, "probability 1"),
    ...ticks,
    bar,
  );

  function update(threshold) {
    const found = judged(probabilities, truths, threshold);
    for (const [name, cell] of Object.entries(cells)) cell.textContent = found[name];
    ticks.forEach((tick, i) => tick.classList.toggle("chosen", probabilities[i] >= threshold));
    bar.setAttribute("d", `M${threshold * WIDE} -4V${2 * HIGH + 26}`);
    const precision = Number.isNaN(found.precision) ? "none, nothing is chosen" : percent(found.precision);
    const rest = `recall ${percent(found.recall)}, F1 ${rounded(found.f1)}`;
    says.textContent = `From ${rounded(threshold)} on: precision ${precision}, ${rest}.`;
    figures.textContent = `${found.hits} found, ${found.missed} missed, ${found.alarms} false alarms.`;
  }

  const row = (name, one, other) => element("tr", {}, element("th", { scope: "row" }, name), one, other);
  const head = ["chosen", "not chosen"].map((name) => element("th", { scope: "col" }, name));
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, element("td"), ...head)),
    element("tbody", {}, row(label, cells.hits, cells.missed), row(`not ${label}`, cells.alarms, cells.left)),
  );
  replace(
    root,
    slider("threshold, %", 50, [1, 99], (value) => update(value / 100)).node,
    chart,
    says,
    figures,
    table,
    element("ul", {}, ...given.tasks.map((task) => element("li", {}, task))),
  );
  update(0.5);
}
