/** Views of which one is seen at a time: a list of tabs, through which arrow keys walk, and the panel of one. */

import { element } from "./dom.js";

/**
 * @param {Object<string, {title: string, node: Node}>} views  by name
 * @param {(name: string) => void} choose
 */
export function tabs(views, choose) {
  const names = Object.keys(views);
  const buttons = names.map((name, number) =>
    element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": `panel-${name}`,
        onclick: () => choose(name),
        onkeydown: (event) => walk(event, number),
      },
      views[name].title,
    ),
  );
  const panels = names.map((name) =>
    element("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` }, views[name].node),
  );
  function walk(event, number) {
    const last = names.length - 1;
    const to = { ArrowRight: number === last ? 0 : number + 1, ArrowLeft: number || last + 1, Home: 0, End: last };
    if (!(event.key in to)) return;
    const next = event.key === "ArrowLeft" ? to.ArrowLeft - 1 : to[event.key];
    event.preventDefault();
    choose(names[next]);
    buttons[next].focus();
  }
  return {
    list: element("div", { role: "tablist", "aria-label": "What to look at" }, ...buttons),
    panels,
    show(name) {
      names.forEach((one, number) => {
        buttons[number].setAttribute("aria-selected", String(one === name));
        buttons[number].tabIndex = one === name ? 0 : -1;
        panels[number].hidden = one !== name;
      });
    },
  };
}
