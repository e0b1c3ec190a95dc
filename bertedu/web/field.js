/** A labelled field for text, which keeps the cursor where it is while the page follows. */

import { element } from "./dom.js";

/**
 * @param {string} label
 * @param {(text: string) => void} changed  called at each key
 * @param {{rows?: number}} options  rows: how many are seen at least
 */
export function textField(label, changed, { rows = 1 } = {}) {
  const input = element("textarea", {
    rows,
    dir: "auto",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    oninput: () => changed(input.value),
  });
  return {
    node: element("label", { class: "field" }, element("span", {}, label), input),
    show(text) {
      if (input.value !== text) input.value = text;
    },
  };
}
