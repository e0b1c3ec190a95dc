/** What explorable pictures compute, as a test asks for it. */

import { Bert } from "../../bertedu/web/answers.js";
import { run } from "../../bertedu/web/bert.js";
import { readTokenizer } from "../../bertedu/web/checkpoint.js";
import { Adam, chance, learn } from "../../bertedu/web/explorables/agreement.js";
import { viterbi } from "../../bertedu/web/explorables/best_path.js";
import { divided, Training } from "../../bertedu/web/explorables/live_head.js";
import { descend, factor, lossOf } from "../../bertedu/web/explorables/learning_rate.js";
import { draw } from "../../bertedu/web/explorables/mask_fates.js";
import { counted, scaled, total } from "../../bertedu/web/explorables/parameters.js";
import { search } from "../../bertedu/web/explorables/pieces.js";
import { best } from "../../bertedu/web/explorables/span_scores.js";
import { begin, flow, measured } from "../../bertedu/web/explorables/stack.js";
import { differing, follow } from "../../bertedu/web/explorables/way.js";
import { judged } from "../../bertedu/web/explorables/threshold.js";
import { alike, degrees } from "../../bertedu/web/explorables/token_matches.js";
import { changed, vectors } from "../../bertedu/web/explorables/word_order.js";
import { attend } from "../../bertedu/web/explorables/weighted_sum.js";

/** For each query with its keys and values the scores, weights and the sum. */
export function sums(files, rows) {
  return rows.map(({ query, key, value, ...options }) => attend(query, key, value, options));
}

/** For each word the steps of the search. */
export function searches(files, rows) {
  const { ids } = readTokenizer(files);
  return rows.map((word) => search(ids, word));
}

const arrays = (weights) =>
  Object.fromEntries(Object.entries(weights).map(([name, numbers]) => [name, Float64Array.from(numbers)]));
const lists = (weights) => Object.fromEntries(Object.entries(weights).map(([name, numbers]) => [name, [...numbers]]));

/** For each batch with its weights the loss, the gradients, and the weights after the steps of Adam with it. */
export function trainings(files, rows) {
  return rows.map(({ weights: numbers, batch, steps }) => {
    const weights = arrays(numbers);
    const { loss, gradients } = learn(weights, batch);
    const adam = new Adam(weights);
    for (let step = 0; step < steps; step++) adam.step(learn(weights, batch).gradients);
    return { loss, gradients: lists(gradients), weights: lists(weights) };
  });
}

/** The sentences to train on and to test on. */
export function made(files, [given]) {
  const { train, test } = divided(given);
  return { train: train.map(said), test: test.map(said) };
}

const said = ({ words, answer }) => [words.join(" "), answer];

/** How the training of each seed ends: the share of right answers. */
export function ends(files, rows) {
  return rows.map(({ seed, ...given }) => {
    const training = new Training(given, seed);
    for (let step = 0; step < 150; step++) training.step();
    return training.accuracy();
  });
}

/** For each set of shares the fates of many draws: how often each token was chosen, and what was seen instead. */
export function fates(files, rows) {
  return rows.map(({ tokens, words, times, ...shares }) => {
    const { uniform } = chance(0);
    return Array.from({ length: times }, () => draw(tokens, shares, uniform, words));
  });
}

/** For each order the vectors, and of how many tokens they are others than at the start. */
export function orders(files, rows) {
  return rows.map(({ order, tokens, positions, added }) => ({
    vectors: vectors(order, tokens, positions, added),
    changed: changed(order, tokens, positions, added),
  }));
}

/** For each pair of scores the best span. */
export function spans(files, rows) {
  return rows.map(({ start, end, ...options }) => best(start, end, options));
}

/** For each table of factors the best path and the sum over all. */
export function paths(files, rows) {
  return rows.map(({ emissions, transitions }) => viterbi(emissions, transitions));
}

/** For each sentence its vectors, its answers, and how many vectors of each stage differ from those of the first. */
export function ways(files, rows) {
  const bert = new Bert(files);
  const found = rows.map((sentence) => follow(bert, sentence));
  return found.map(({ vectors: states, answers }) => ({
    states,
    answers: answers.map(({ candidates, position }) => ({ position, word: candidates[0].token, candidates })),
    changed: differing(states, found[0].vectors)?.map((tokens) => tokens.filter(Boolean).length) ?? null,
  }));
}

/** For each stack the weights that are drawn, the vectors after each layer, and what is measured of them. */
export function stacks(files, rows) {
  return rows.map(({ given, seed, depth, options, weights: told = true }) => {
    const { tokens, layers } = begin(given, seed, depth);
    const states = flow(tokens, layers, options);
    const measures = states.map((state) => (({ cosine, size }) => ({ cosine, size }))(measured(state)));
    if (!told) return { measures };
    return { tokens: tokens.map((one) => [...one]), layers: layers.map(lists), states: states.map(nested), measures };
  });
}

const nested = (state) => state.map((one) => [...one]);

/** For each config its parts and their sum, and the sums where a size is halved or doubled. */
export function sizes(files, rows) {
  return rows.map(({ config, changes }) => ({
    parts: counted(config),
    total: total(config),
    changed: changes.map(([name, by]) => scaled(config, name, by)),
  }));
}

/** For the ids of each text the names of the tensors that the model makes of it. */
export function names(files, rows) {
  const { model } = new Bert(files);
  return rows.map((ids) => [...run(model, ids).keys()]);
}

/** For each valley the weights after each step, and the losses. */
export function descents(files, rows) {
  return rows.map(({ noise, peak, warmup, falls, ...valley }) => {
    const rates = noise.map((_, step) => peak * factor(step / noise.length, warmup, falls));
    const path = descend(valley, noise, rates);
    return { path, losses: path.map((weights) => lossOf(weights, valley.curvature)) };
  });
}

/** For each threshold the confusion matrix and its figures; null where there is none. */
export function thresholds(files, rows) {
  return rows.map(({ probabilities, truths, threshold }) => judged(probabilities, truths, threshold));
}

/** For each pair of sentences their scores, and the angle between the means. */
export function matches(files, rows) {
  return rows.map(({ rows: ours, columns, ...products }) => {
    const found = alike(products, ours, columns);
    return { ...found, angle: degrees(found.mean) };
  });
}
