/**
 * What does each token attend to? The weights of one head as lines between tokens and as a matrix, and all heads small.
 */

import { shownToken } from "./chips.js";
import { drawn, element, percent, replace } from "./dom.js";
import { fill } from "./colors.js";
import { heatmap, thumbnail } from "./heatmap.js";

const ROW = 30; // pixels of a token in the drawing of lines
const FAINTEST = 0.02; // lighter lines are left out
const TENTHS = 10;
const MOST = 3; // tokens named in the sentence

/** @param {object} app  the page */
export function attentionView(app) {
  const heads = element("div", { class: "heads", role: "group", "aria-label": "Choose a head" });
  const says = element("p", { class: "says", role: "status" });
  const lines = element("div", { class: "lines" });
  const matrix = element("div", {});
  const node = element(
    "div",
    {},
    element(
      "p",
      { class: "about" },
      "Each head of each layer mixes into a token what other tokens hold. Its attention weights say how much: the " +
        "weights of one token sum to 1. Choose a head, then a token.",
    ),
    heads,
    says,
    element("div", { class: "beside" }, lines, matrix),
  );

  function update() {
    const { pieces, weights } = app.look;
    const names = pieces.map(shownToken);
    const head = headOf(weights, app.state.layer, app.state.head);
    const masked = pieces.findIndex((piece) => piece.masked);
    const chosen = app.state.token ?? (masked >= 0 ? masked : Math.min(1, names.length - 1));
    const token = Math.min(chosen, names.length - 1);
    replace(heads, ...overview(app, weights, names.length));
    replace(
      lines,
      drawing(names, head, token, (position) => app.set({ token: position })),
    );
    const where = `layer ${app.state.layer + 1}, head ${app.state.head + 1}`;
    says.textContent = inWords(names, head, token, where);
    replace(
      matrix,
      heatmap({
        rows: names,
        columns: names,
        data: head,
        label: `Attention weights of ${where}: a row for each token that attends, a column for each attended to.`,
        told: (row, column) =>
          `“${names[row]}” gives “${names[column]}” ${percent(head[row * names.length + column])}.`,
        chosen: (row) => app.set({ token: row }),
        width: 480,
      }),
    );
  }

  return { title: "Attention", node, update };
}

/** The weights [T, T] of one head. */
function headOf({ shape: [, heads, length], data }, layer, head) {
  const start = (layer * heads + head) * length * length;
  return data.subarray(start, start + length * length);
}

function overview(app, weights, length) {
  const [layers, heads] = weights.shape;
  const rows = Array.from({ length: layers }, (_, layer) =>
    element(
      "div",
      { class: "layer" },
      element("span", {}, `Layer ${layer + 1}`),
      ...Array.from({ length: heads }, (_, head) => {
        const on = app.state.layer === layer && app.state.head === head;
        return element(
          "button",
          {
            type: "button",
            class: "head",
            "aria-pressed": String(on),
            "aria-label": `Layer ${layer + 1}, head ${head + 1}`,
            "data-key": `head-${layer}-${head}`,
            onclick: () => app.set({ layer, head }),
          },
          thumbnail(headOf(weights, layer, head), length),
          element("small", {}, String(head + 1)),
        );
      }),
    ),
  );
  return rows;
}

/** The tokens that attend on the left, those attended to on the right, and a line for each weight of the chosen one. */
function drawing(names, head, token, choose) {
  const length = names.length;
  const shares = (from) => head.subarray(from * length, (from + 1) * length);
  const picture = drawn("svg", {
    viewBox: `0 0 100 ${length * ROW}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  picture.style.height = `${length * ROW}px`;
  const left = element("div", { class: "tokens query", role: "group", "aria-label": "The token that attends" });
  const right = element("div", { class: "tokens key", "aria-hidden": "true" });

  const faint = faintLines(head, length);

  function show(from) {
    replace(picture, ...faint, ...strongLines(from, shares(from)));
    replace(
      right,
      ...names.map((name, to) => {
        const cell = element("span", { class: "token" }, element("b", {}, name), ` ${percent(shares(from)[to])}`);
        cell.style.background = fill(shares(from)[to]);
        cell.classList.toggle("full", shares(from)[to] > 0.65);
        return cell;
      }),
    );
    [...left.children].forEach((button, row) => button.classList.toggle("on", row === from));
  }

  left.append(
    ...names.map((name, row) =>
      element(
        "button",
        {
          type: "button",
          class: "token",
          "aria-pressed": String(row === token),
          "data-key": `token-${row}`,
          onclick: () => choose(row),
          onpointerenter: () => show(row),
          onfocus: () => show(row),
        },
        name,
      ),
    ),
  );
  show(token);
  return element("div", { class: "bipartite", onpointerleave: () => show(token) }, left, picture, right);
}

/** What all tokens attend to, as one path for each tenth: a path is drawn faster than its lines one by one. */
function faintLines(head, length) {
  const paths = Array.from({ length: TENTHS }, () => []);
  for (let index = 0; index < length * length; index++) {
    if (head[index] < FAINTEST) continue;
    const [from, to] = [Math.floor(index / length), index % length];
    const tenth = Math.min(TENTHS - 1, Math.floor(TENTHS * head[index]));
    paths[tenth].push(`M0 ${(from + 0.5) * ROW}L100 ${(to + 0.5) * ROW}`);
  }
  return paths.map((lines, tenth) =>
    drawn("path", { d: lines.join(""), "stroke-opacity": (0.12 * (tenth + 0.5)) / TENTHS }),
  );
}

function strongLines(from, shares) {
  return [...shares.keys()]
    .filter((to) => shares[to] > FAINTEST)
    .map((to) =>
      drawn("path", {
        d: `M0 ${(from + 0.5) * ROW}L100 ${(to + 0.5) * ROW}`,
        "stroke-opacity": (0.25 + 0.75 * shares[to]).toFixed(3),
        "stroke-width": 1 + 4 * shares[to],
      }),
    );
}

function inWords(names, head, token, where) {
  const shares = [...head.subarray(token * names.length, (token + 1) * names.length)];
  const order = [...shares.keys()].sort((one, other) => shares[other] - shares[one]).slice(0, MOST);
  const told = order.map((to) => `“${names[to]}” ${percent(shares[to])}`).join(", ");
  return `In ${where}, “${names[token]}” attends most to ${told}.`;
}
