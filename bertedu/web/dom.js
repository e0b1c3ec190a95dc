/**
 * Elements of a page. Text is put in as text, never as HTML: what somebody typed can do nothing.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} name  of the element, such as "button"
 * @param {Object<string, any>} properties  attributes, and listeners such as `onclick`; false and null are none
 * @param {...(Node | string)} children  strings become text
 */
export function element(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** As `element`, for a drawing. */
export function drawn(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Put these children in place of what was in a node. Where one of them had the focus, its successor gets it. */
export function replace(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  node.replaceChildren(...children.filter((child) => child !== null));
  if (key) [...node.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus();
}

/** A share as people read it: "77 %", "0.4 %", "< 0.1 %". */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** A choice from a list: [value, label] each. */
export function choice(label, options, value, choose) {
  const select = element(
    "select",
    { onchange: (event) => choose(event.target.value) },
    ...options.map(([one, text]) => element("option", { value: one, selected: String(one) === String(value) }, text)),
  );
  return element("label", { class: "choice" }, `${label} `, select);
}
