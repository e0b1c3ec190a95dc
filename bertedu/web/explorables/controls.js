/**
 * What explorable pictures are worked with: fields for numbers, switches, and a meter for a share.
 */

import { element } from "../dom.js";

/**
 * A field for one number.
 *
 * @param {string} label  what a screen reader says of it
 * @param {number} value
 * @param {string} role  "query", "key" or "value": the colour of its edge
 * @param {(value: number) => void} changed  not called for what is no number
 */
export function numberField(label, value, role, changed) {
  return element("input", {
    type: "number",
    step: "0.5",
    class: `number ${role}`,
    "aria-label": label,
    value,
    oninput: ({ target }) => Number.isFinite(target.valueAsNumber) && changed(target.valueAsNumber),
  });
}

/** The head of a table; a column without a name has a cell that is no heading. */
export function tableHead(names) {
  const cells = names.map((name) => (name ? element("th", { scope: "col" }, name) : element("td")));
  return element("thead", {}, element("tr", {}, ...cells));
}

/** A switch that is on or off. */
export function checkbox(label, checked, changed) {
  const input = element("input", { type: "checkbox", checked, onchange: () => changed(input.checked) });
  return element("label", { class: "choice" }, input, ` ${label}`);
}

/** A bar that fills a share, from 0 to 1, of its track. */
export function meter() {
  const bar = element("span");
  return {
    node: element("span", { class: "meter", "aria-hidden": "true" }, bar),
    show(share) {
      bar.style.width = `${100 * share}%`;
    },
  };
}

/** A number as the course prints it: two decimals and a true minus sign. */
export function rounded(number, digits = 2) {
  const text = Math.abs(number).toFixed(digits);
  return number < 0 && Number(text) ? `−${text}` : text;
}

/**
 * A slider with its value beside it.
 *
 * @param {[number, number]} range
 * @param {(value: number) => void} changed
 */
export function slider(label, value, [min, max], changed) {
  const told = element("span", { "aria-hidden": "true" }, String(value)); // a screen reader has it from the slider
  const input = element("input", {
    type: "range",
    min,
    max,
    value,
    oninput: () => {
      told.textContent = input.value;
      changed(input.valueAsNumber);
    },
  });
  return {
    node: element("label", { class: "slider" }, element("span", {}, label), input, told),
    show(number) {
      input.value = String(Math.round(number));
      told.textContent = input.value;
    },
  };
}
