/**
 * What is each part for? Ablate heads, block tokens (no token may attend to them), swap two positions, change the
 * temperature, and compare the answer with that of the whole model.
 */

import { bars, inWords } from "./bars.js";
import { chips, shownToken } from "./chips.js";
import { choice, element, replace } from "./dom.js";

const TEMPERATURES = [0.25, 0.5, 1, 2, 4];

/** @param {object} app  the page */
export function changeView(app) {
  const heads = element("div", { class: "heads", role: "group", "aria-label": "Ablate heads" });
  const tokens = element("div", { class: "chips", role: "group", "aria-label": "Block tokens" });
  const more = element("div", { class: "choices" });
  const says = element("p", { class: "says", role: "status" });
  const answers = element("div", { class: "beside" });
  const reset = element(
    "button",
    { type: "button", onclick: () => app.set({ ablated: [], hidden: [], swapped: null, temperature: 1 }) },
    "Put everything back",
  );
  const node = element(
    "div",
    {},
    element("p", { class: "about" }, "Take something away and see whether the answer above needed it."),
    says, // above the switches: on a phone what stands below them is not seen
    element("h3", {}, "Ablate a head: its output becomes zero"),
    heads,
    element("h3", {}, "Block a token: no token may attend to it"),
    tokens,
    element("h3", {}, "Swap two positions, or change the temperature"),
    more,
    reset,
    answers,
  );

  async function update() {
    const { text, masks, ablated, hidden, swapped, temperature } = app.state;
    replace(heads, ...headRows(app));
    replace(tokens, ...tokenChips(app));
    replace(more, ...choices(app));
    if (new Set(hidden).size >= app.look.pieces.length) {
      replace(answers);
      says.textContent = "Every token is blocked: leave one to attend to.";
      return;
    }
    const changed = await app.ask(
      "look",
      { text, masks, changes: { ablated, hidden, swapped }, temperature },
      "change",
    );
    if (!changed) return;
    const pairs = app.look.answers.map((before, number) => [before, changed.answers[number]]);
    replace(
      answers,
      ...pairs.flatMap(([before, after]) => [
        bars(before, { title: "The whole model" }),
        bars(after, { title: "Changed (thin: before)", before }),
      ]),
    );
    says.textContent = pairs.length ? inShort(app.state, ...pairs[0]) : "Hide a word above: then there is an answer.";
  }

  return { title: "Change the model", node, update };
}

function inShort({ ablated, hidden, swapped, temperature }, before, after) {
  const done = [
    ablated.length ? `${ablated.length} ${ablated.length > 1 ? "heads" : "head"} ablated` : "",
    hidden.length ? `${hidden.length} ${hidden.length > 1 ? "tokens" : "token"} blocked` : "",
    swapped ? "two positions swapped" : "",
    temperature !== 1 ? `temperature ${temperature}` : "",
  ].filter(Boolean);
  if (!done.length) return "Nothing is changed yet: both answers are the same.";
  const same = before.candidates[0].id === after.candidates[0].id;
  return `With ${done.join(", ")}: ${same ? "the first answer stays." : "the first answer changes."} ${inWords(after)}`;
}

function headRows(app) {
  const { layers, heads } = app.about;
  const is = (layer, head) => app.state.ablated.some(([one, other]) => one === layer && other === head);
  const toggle = (layer, head) => {
    const others = app.state.ablated.filter(([one, other]) => one !== layer || other !== head);
    app.set({ ablated: is(layer, head) ? others : [...others, [layer, head]] });
  };
  return Array.from({ length: layers }, (_, layer) =>
    element(
      "div",
      { class: "layer" },
      element("span", {}, `Layer ${layer + 1}`),
      ...Array.from({ length: heads }, (_, head) =>
        element(
          "button",
          {
            type: "button",
            class: "switch",
            "aria-pressed": String(is(layer, head)),
            "aria-label": `Ablate layer ${layer + 1}, head ${head + 1}`,
            "data-key": `ablate-${layer}-${head}`,
            onclick: () => toggle(layer, head),
          },
          `head ${head + 1}`,
        ),
      ),
    ),
  );
}

function tokenChips(app) {
  const plain = (piece) => ({ ...piece, token: shownToken(piece), masked: false, hidden: false });
  const all = app.look.pieces.map((piece) => ({ ...plain(piece), word: piece.position })); // each piece is a button
  const { hidden } = app.state;
  const toggle = ({ position }) =>
    app.set({ hidden: hidden.includes(position) ? hidden.filter((one) => one !== position) : [...hidden, position] });
  return chips(all, {
    pressed: ({ position }) => hidden.includes(position),
    click: toggle,
    name: (token, on) => `${token}: ${on ? "blocked" : "block it"}`,
  });
}

function choices(app) {
  const { swapped, temperature } = app.state;
  const names = app.look.pieces.map((piece, position) => [position, `${position + 1} ${shownToken(piece)}`]);
  const [one, other] = swapped ?? ["", ""];
  const swap = (first, second) =>
    app.set({ swapped: first === "" || second === "" ? null : [Number(first), Number(second)] });
  const first = one === "" ? Math.min(1, names.length - 1) : one;
  return [
    choice("Swap the position of", names, first, (value) => swap(value, other)),
    choice("with that of", [["", "no other"], ...names], other, (value) => swap(first, value)),
    choice(
      "Temperature",
      TEMPERATURES.map((value) => [value, String(value)]),
      temperature,
      (value) => app.set({ temperature: Number(value) }),
    ),
  ];
}
