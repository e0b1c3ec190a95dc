/**
 * A head that learns which noun decides "is" or "are", while one watches: loss, accuracy, and what [MASK] attends to.
 */

import { drawn, element, percent, replace } from "../dom.js";
import { Adam, begin, chance, learn, read } from "./agreement.js";
import { meter, rounded } from "./controls.js";

const STEPS = 150;
const AT_ONCE = 5; // steps between two pictures
const BATCH = 64;
const [WIDE, HIGH] = [300, 110];
const VERBS = ["is", "are"];

/**
 * Sentences about pairs of nouns, and what [MASK] stands for, as the chapter makes them.
 *
 * @param {[string, string][]} pairs
 * @param {[string, string][]} endings  of the two nouns: "" or "s"
 * @returns {{words: string[], answer: number}[]}
 */
export function sentences(pairs, endings, prepositions) {
  const made = [];
  for (const [one, two] of pairs) {
    for (const [s1, s2] of endings) {
      for (const near of prepositions) {
        for (const old of [false, true]) {
          for (const [first, second] of [
            [one + s1, two + s2],
            [two + s2, one + s1],
          ]) {
            const phrase = old ? `old ${first} ${near} the ${second}` : `${first} ${near} the old ${second}`;
            const words = `[CLS] the ${phrase} [MASK] wet . [SEP]`.split(" ");
            made.push({ words, answer: first.endsWith("s") ? 1 : 0 });
          }
        }
      }
    }
  }
  return made;
}

/** The chapter's data: three quarters of the pairs of nouns to learn from, the hard sentences of the others to test. */
export function divided({ nouns, prepositions }) {
  const pairs = nouns.flatMap((one, i) => nouns.slice(i + 1).map((two) => [one, two]));
  const all = ["", "s"].flatMap((one) => ["", "s"].map((two) => [one, two]));
  const hard = all.filter(([one, two]) => one !== two);
  return {
    train: sentences(
      pairs.filter((_, i) => i % 4),
      all,
      prepositions,
    ),
    test: sentences(
      pairs.filter((_, i) => i % 4 === 0),
      hard,
      prepositions,
    ),
  };
}

/** Training that goes on step by step. */
export class Training {
  constructor(given, seed) {
    const { train, test } = divided(given);
    const vocabulary = [...new Set([...train, ...test].flatMap(({ words }) => words))];
    this.ids = new Map(vocabulary.map((word, id) => [word, id]));
    this.train = train.map((one) => this.coded(one));
    this.test = test.map((one) => this.coded(one));
    this.weights = begin(vocabulary.length, seed);
    this.adam = new Adam(this.weights);
    this.chance = chance(seed + 1);
    this.losses = [];
  }

  /** A sentence as the model reads it: its ids, and where [MASK] stands. */
  coded({ words, answer = null }) {
    return { ids: words.map((word) => this.ids.get(word)), mask: words.indexOf("[MASK]"), answer };
  }

  step() {
    const drawn = () => this.train[Math.floor(this.chance.uniform() * this.train.length)];
    const batch = Array.from({ length: BATCH }, drawn);
    const { loss, gradients } = learn(this.weights, batch);
    this.adam.step(gradients);
    this.losses.push(loss);
  }

  /** The share of the hard sentences that are answered right. */
  accuracy() {
    const right = ({ ids, mask, answer }) => {
      const [is, are] = read(this.weights, ids, mask).scores;
      return (are > is ? 1 : 0) === answer;
    };
    return this.test.filter(right).length / this.test.length;
  }

  /** What [MASK] attends to in a sentence, and which verb it gets. */
  look(words) {
    const { ids, mask } = this.coded({ words });
    const { shares, scores } = read(this.weights, ids, mask);
    return { shares, verb: VERBS[scores[1] > scores[0] ? 1 : 0] };
  }
}

/**
 * @param {HTMLElement} root
 * @param {{nouns: string[], prepositions: string[], seed: number, texts: string[]}} given  texts: what is looked at
 */
export function show(root, given) {
  const texts = given.texts.map((text) => `[CLS] ${text} [MASK] wet . [SEP]`.split(" "));
  let seed = given.seed;
  let training = new Training(given, seed);
  let running = null;
  const says = element("p", { class: "says", role: "status" });
  const curve = drawn("polyline", { fill: "none", stroke: "currentColor", "stroke-width": 2 });
  const chart = drawn(
    "svg",
    { viewBox: `-34 -8 ${WIDE + 44} ${HIGH + 34}`, class: "curve", role: "img", "aria-label": "the loss by step" },
    drawn("path", { d: `M0 0V${HIGH}H${WIDE}`, fill: "none", stroke: "currentColor" }),
    drawn("text", { x: -6, y: 10, "text-anchor": "end" }, "1"),
    drawn("text", { x: -6, y: HIGH, "text-anchor": "end" }, "0"),
    drawn("text", { x: WIDE, y: HIGH + 18, "text-anchor": "end" }, `${STEPS} steps`),
    drawn("text", { x: 4, y: HIGH + 18 }, "loss"),
    curve,
  );
  const looks = texts.map((words) => ({
    words,
    bars: words.map(() => ({ bar: meter(), share: element("span") })),
    verb: element("b"),
  }));
  const go = element("button", { type: "button", onclick: () => start() }, `train ${STEPS} steps`);
  const other = element("button", { type: "button", onclick: () => again(seed + 1) }, "other numbers at the start");

  function update(settled) {
    const { losses } = training;
    const points = losses.map((loss, step) => `${(step / STEPS) * WIDE},${HIGH * (1 - Math.min(1, loss))}`);
    curve.setAttribute("points", points.join(" "));
    for (const { words, bars, verb } of looks) {
      const { shares, verb: found } = training.look(words);
      bars.forEach(({ bar, share }, token) => {
        bar.show(shares[token]);
        share.textContent = rounded(shares[token]);
      });
      verb.textContent = found;
    }
    if (!settled) return; // somebody who listens hears the end, not thirty numbers on the way
    const trained = `After ${losses.length} steps the loss is ${rounded(losses.at(-1) ?? 0)}`;
    const told = losses.length ? trained : "Before training";
    says.textContent = `${told}: ${percent(training.accuracy())} of the hard sentences are right.`;
  }

  function start() {
    if (running) return;
    if (training.losses.length >= STEPS) training = new Training(given, seed);
    const go = () => {
      for (let step = 0; step < AT_ONCE; step++) training.step();
      const done = training.losses.length >= STEPS;
      running = done ? null : setTimeout(go);
      update(done);
    };
    running = setTimeout(go);
  }

  function again(next) {
    clearTimeout(running);
    [running, seed] = [null, next];
    training = new Training(given, seed);
    update(true);
  }

  const table = ({ words, bars, verb }) =>
    element(
      "table",
      {},
      element("caption", {}, `${words.slice(1, -4).join(" ")} `, verb, " wet"),
      element(
        "tbody",
        {},
        ...words.map((word, token) =>
          element(
            "tr",
            {},
            element("th", { scope: "row", class: "token-name" }, word),
            element("td", {}, bars[token].bar.node, " ", bars[token].share),
          ),
        ),
      ),
    );
  replace(
    root,
    element("p", { class: "choices" }, go, other),
    says,
    chart,
    element("p", {}, "What [MASK] attends to, and its answer:"),
    element("div", { class: "looks" }, ...looks.map(table)),
  );
  update(true);
}
