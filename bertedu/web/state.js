/**
 * What the page shows, and how it stands in the address: everything after "#", so that a link says "look at this".
 *
 * Layers, heads and words are counted from 1 in an address, as on the page, and from 0 in the state. What is as at the
 * start is left out. An address may be damaged: what cannot be read is left out too, and said.
 */

const MOST_TEXT = 20_000; // characters of an address's text
export const VIEWS = ["attention", "swap", "change", "compare", "next", "contexts", "steps"];

/** For each name how it is read from the address, and written; a reader gives undefined for what cannot be. */
const FIELDS = {
  text: texts(),
  masks: numbers(),
  view: { read: (said) => (VIEWS.includes(said) ? said : undefined), write: String },
  layer: number(),
  head: number(),
  token: number(),
  changed: texts(),
  ablated: {
    read: (said) => listed(said.split(" ").filter(Boolean), (one) => pair(one, /^(\d{1,3})\.(\d{1,3})$/)),
    write: (heads) => heads.map(([layer, head]) => `${layer + 1}.${head + 1}`).join(" "),
  },
  hidden: numbers(),
  swapped: {
    read: (said) => (said === "" ? null : pair(said, /^(\d{1,4}) (\d{1,4})$/)),
    write: (positions) => (positions ? positions.map((position) => position + 1).join(" ") : ""),
  },
  temperature: {
    read: (said) => (Number(said) >= 0.1 && Number(said) <= 5 ? Number(said) : undefined),
    write: String,
  },
  other: texts(),
  depth: { read: (said) => (/^\d{1,3}$/.test(said) ? Number(said) : undefined), write: String },
  second: texts(),
  word: texts(),
  sentences: texts(),
  step: { read: (said) => (/^[\w.]{1,60}$/.test(said) ? said : undefined), write: String },
};

/**
 * @param {string} hash  the address from "#" on
 * @param {object} start  the state where the address says nothing
 * @returns {{state: object, faults: string[]}} faults: a sentence for each part that could not be read
 */
export function readAddress(hash, start) {
  const state = { ...start };
  const faults = [];
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  for (const name of new Set(said.keys())) {
    const value = FIELDS[name]?.read(said.get(name));
    if (value === undefined) faults.push(`The address says “${name}” in a way that cannot be read: it was left out.`);
    else state[name] = value;
  }
  if (said.has("text") && !said.has("masks")) state.masks = []; // those of the start are of another text
  return { state, faults: faults.slice(0, 3) };
}

/** The address of a state, "#" and what differs from the start. */
export function writeAddress(state, start) {
  const said = new URLSearchParams();
  for (const [name, { write }] of Object.entries(FIELDS)) {
    if (write(state[name]) !== write(start[name]) || (name === "masks" && state.text !== start.text)) {
      said.set(name, write(state[name]));
    }
  }
  return `#${said}`;
}

/** The parts of a state that a model of other sizes has not are put to what it has; a sentence for each. */
export function fitState(state, { layers, heads }) {
  const faults = [];
  const fitted = { ...state };
  if (state.layer >= layers || state.head >= heads) {
    faults.push(
      `The model has no head ${state.head + 1} in a layer ${state.layer + 1}: it has ${layers} layers of ${heads}.`,
    );
    Object.assign(fitted, { layer: 0, head: 0 });
  }
  fitted.ablated = state.ablated.filter(([layer, head]) => layer < layers && head < heads);
  if (fitted.ablated.length < state.ablated.length) faults.push("Some of the heads to ablate are not in this model.");
  fitted.depth = Math.min(state.depth, layers);
  return { state: fitted, faults };
}

/**
 * The hidden words after a text was edited: those before the change keep their numbers, those after it move along. A
 * word that was itself changed stays hidden; where more was changed, what was hidden there is so no longer.
 *
 * @param {string[]} before  the words
 * @param {string[]} after
 * @param {number[]} masks  numbers of hidden words before
 */
export function movedMasks(before, after, masks) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const more = after.length - before.length;
  const one = more === 0 && before.length - start - end === 1;
  const kept = (word) => one || word < start || word >= before.length - end;
  return masks.filter(kept).map((word) => (word < start ? word : word + more));
}

/** The words of a text as strings, from its pieces. */
export function wordsOf(pieces) {
  const words = [];
  for (const { word, token } of pieces) words[word] = (words[word] ?? "") + token;
  return words;
}

function texts() {
  return { read: (said) => (said.length <= MOST_TEXT ? said : undefined), write: String };
}

function number() {
  return { read: (said) => counted(said), write: (value) => (value === null ? "" : String(value + 1)) };
}

function numbers() {
  return {
    read: (said) => listed(said.split(" ").filter(Boolean), counted),
    write: (values) => values.map((value) => value + 1).join(" "),
  };
}

/** A number counted from 1, as one counted from 0. */
function counted(said) {
  return /^[1-9]\d{0,4}$/.test(said) ? Number(said) - 1 : undefined;
}

function pair(said, pattern) {
  const found = pattern.exec(said)?.slice(1).map(Number);
  return found?.every((one) => one > 0) ? found.map((one) => one - 1) : undefined;
}

function listed(parts, read) {
  const values = parts.map(read);
  return values.includes(undefined) ? undefined : values;
}
