/**
 * BERT's forward pass in plain JavaScript, written to be read. Nothing is imported but the error function.
 *
 * Every step is kept by its name, so that it can be looked at: `run` gives a Map from "layer.0.scores" and the like to
 * a tensor. Shapes: T tokens, D hidden size, H heads, d = D / H, F feed-forward size, V vocabulary, N scored tokens.
 * Devlin et al. 2019; Vaswani et al. 2017, section 3. Reading weights is in `safetensors.js`, text in `wordpiece.js`.
 */

import { erf } from "./erf.js";

/** @typedef {{shape: number[], data: Float32Array}} Tensor  the numbers row by row */
/**
 * config.json, and the weights by their names in transformers without the prefix "bert."
 *
 * @typedef {{config: object, weights: Map<string, Tensor>}} Model
 */
/** @typedef {Map<string, Tensor>} Steps */

/**
 * What a lesson may change.
 *
 * @typedef {object} Changes
 * @property {number[]} [hidden]  positions that no token may attend to
 * @property {[number, number][]} [ablated]  heads, as [layer, head], whose output is set to zero
 * @property {Object<number, Float32Array>} [replaced]  vectors [D] to stand in for the token embeddings, by position
 * @property {number[]} [positions]  for each token which position embedding it gets, 0, 1, 2 … where not given
 */

/**
 * The whole model: from ids to the scores of both heads.
 *
 * @param {Model} model
 * @param {number[]} ids  [T]
 * @param {number[]} types  [T], the segment of each token: 0 or 1
 * @param {Changes & {scored?: number[]}} changes  scored: the tokens whose words are scored, all where not given
 * @returns {Steps} with "prediction_logits" [N, V] and "seq_relationship_logits" [1, 2], where the model has the heads
 */
export function run(model, ids, types = ids.map(() => 0), changes = {}) {
  const steps = encode(model, ids, types, changes);
  if (model.weights.has("cls.predictions.bias")) scoreWords(model, steps, changes.scored ?? [...ids.keys()]);
  if (model.weights.has("pooler.dense.weight")) scoreNextSentence(model, steps);
  return steps;
}

/** From ids [T] to vectors [T, D]: "hidden.0" are the embeddings, "hidden.L" what the last layer makes of them. */
export function encode(model, ids, types = ids.map(() => 0), changes = {}) {
  check(model, ids, types, changes);
  const steps = new Map();
  let hidden = embed(model, steps, ids, types, changes); // [T, D]
  for (let layer = 0; layer < model.config.num_hidden_layers; layer++) {
    hidden = runLayer(model, steps, layer, hidden, changes); // [T, D]
  }
  return steps;
}

/** The sum of three learned vectors for each token, normalized: [T, D]. */
function embed(model, steps, ids, types, { replaced = {}, positions = [...ids.keys()] }) {
  const token = lookUp(model.weights.get("embeddings.word_embeddings.weight"), ids); // [T, D]
  const width = token.shape[1];
  for (const [position, vector] of Object.entries(replaced)) token.data.set(vector, position * width);
  steps.set("embeddings.token", token);
  steps.set("embeddings.position", lookUp(model.weights.get("embeddings.position_embeddings.weight"), positions));
  steps.set("embeddings.token_type", lookUp(model.weights.get("embeddings.token_type_embeddings.weight"), types));
  const sum = add(add(token, steps.get("embeddings.position")), steps.get("embeddings.token_type"));
  steps.set("embeddings.sum", sum);
  steps.set("hidden.0", normalize(model, "embeddings.LayerNorm", sum));
  return steps.get("hidden.0");
}

/** Attention, add, normalize; feed-forward, add, normalize: [T, D] to [T, D]. */
function runLayer(model, steps, layer, hidden, changes) {
  const weights = `encoder.layer.${layer}`;
  const keep = (name, tensor) => {
    steps.set(`layer.${layer}.${name}`, tensor);
    return tensor;
  };
  const query = keep("query", linear(model, `${weights}.attention.self.query`, hidden)); // [T, D], heads side by side
  const key = keep("key", linear(model, `${weights}.attention.self.key`, hidden));
  const value = keep("value", linear(model, `${weights}.attention.self.value`, hidden));
  const heads = model.config.num_attention_heads;
  const scores = keep("scores", match(query, key, heads, new Set(changes.hidden))); // [H, T, T]
  const shares = keep("weights", softmax(scores)); // [H, T, T], rows sum to 1
  const ablated = (changes.ablated ?? []).filter((head) => head[0] === layer).map((head) => head[1]);
  const mixed = keep("mixed", mix(shares, value, new Set(ablated))); // [T, D]
  const attention = keep("attention", linear(model, `${weights}.attention.output.dense`, mixed)); // [T, D]
  const middle = keep("attention_residual", add(hidden, attention)); // [T, D]
  const normal = keep("attention_norm", normalize(model, `${weights}.attention.output.LayerNorm`, middle));
  const expanded = keep("expanded", linear(model, `${weights}.intermediate.dense`, normal)); // [T, F]
  const activated = keep("activated", activate(model, expanded)); // [T, F]
  const forward = keep("feed_forward", linear(model, `${weights}.output.dense`, activated)); // [T, D]
  const residual = keep("feed_forward_residual", add(normal, forward)); // [T, D]
  steps.set(`hidden.${layer + 1}`, normalize(model, `${weights}.output.LayerNorm`, residual));
  return steps.get(`hidden.${layer + 1}`);
}

/** How well each query matches each key, in every head: q · k / √d, and -Infinity for a hidden key: [H, T, T]. */
function match(query, key, heads, hidden) {
  const [length, width] = query.shape;
  const size = width / heads; // d
  const scores = zeros(heads, length, length);
  let index = 0;
  for (let head = 0; head < heads; head++) {
    for (let from = 0; from < length; from++) {
      for (let to = 0; to < length; to++) {
        const product = dot(query.data, from * width + head * size, key.data, to * width + head * size, size);
        scores.data[index++] = hidden.has(to) ? -Infinity : product / Math.sqrt(size);
      }
    }
  }
  return scores;
}

/** Exponentials that are divided by their sum, in each row of the last axis. */
function softmax(scores) {
  return eachRow(scores, (row) => {
    const largest = row.reduce((most, score) => Math.max(most, score), -Infinity);
    const powers = Float64Array.from(row, (score) => Math.exp(score - largest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  });
}

/** The values, mixed by the weights of each head, heads side by side again: [H, T, T] and [T, D] to [T, D]. */
function mix(weights, value, ablated) {
  const [heads, length] = weights.shape;
  const width = value.shape[1];
  const size = width / heads;
  const mixed = zeros(length, width);
  for (let head = 0; head < heads; head++) {
    if (ablated.has(head)) continue; // its part of every vector stays zero
    for (let from = 0; from < length; from++) {
      for (let part = head * size; part < (head + 1) * size; part++) {
        let sum = 0;
        for (let to = 0; to < length; to++) {
          sum += weights.data[(head * length + from) * length + to] * value.data[to * width + part];
        }
        mixed.data[from * width + part] = sum;
      }
    }
  }
  return mixed;
}

/** The masked-word head: a score for each word at each of N tokens, [N, V], from the table of token embeddings. */
export function scoreWords(model, steps, scored) {
  const last = steps.get(`hidden.${model.config.num_hidden_layers}`);
  const dense = linear(model, "cls.predictions.transform.dense", lookUp(last, scored)); // [N, D]
  const normal = normalize(model, "cls.predictions.transform.LayerNorm", activate(model, dense)); // [N, D]
  steps.set("masked_lm.norm", normal);
  const embeddings = model.weights.get("embeddings.word_embeddings.weight"); // [V, D]
  const bias = model.weights.get("cls.predictions.bias"); // [V]
  steps.set("prediction_logits", multiply(normal, embeddings, bias)); // [N, V]
}

/** The pooler reads [CLS] alone, [1, D]; from it the head of the next sentence scores IsNext and NotNext, [1, 2]. */
export function scoreNextSentence(model, steps) {
  const last = steps.get(`hidden.${model.config.num_hidden_layers}`);
  const dense = linear(model, "pooler.dense", lookUp(last, [0])); // [1, D]
  steps.set("pooler_output", { shape: dense.shape, data: dense.data.map(Math.tanh) });
  if (!model.weights.has("cls.seq_relationship.weight")) return;
  steps.set("seq_relationship_logits", linear(model, "cls.seq_relationship", steps.get("pooler_output"))); // [1, 2]
}

/**
 * The likeliest entries of a row of scores.
 *
 * @param {Float32Array} scores  [V]
 * @param {number} top  how many
 * @param {number} temperature  above 1 the probabilities come closer to each other, below 1 they move apart
 * @returns {{id: number, probability: number}[]} the likeliest first
 */
export function likeliest(scores, top, temperature = 1) {
  const shares = softmax({ shape: [1, scores.length], data: scores.map((score) => score / temperature) }).data;
  const ids = [...shares.keys()].sort((one, other) => scores[other] - scores[one] || one - other);
  return ids.slice(0, top).map((id) => ({ id, probability: shares[id] }));
}

/** The rows of a table by their numbers: [R, D] and N numbers to [N, D]. */
function lookUp(table, numbers) {
  const width = table.shape[1];
  const rows = zeros(numbers.length, width);
  for (const [row, number] of numbers.entries()) {
    rows.data.set(table.data.subarray(number * width, (number + 1) * width), row * width);
  }
  return rows;
}

/** A linear layer by its name: [N, I] to [N, O]. */
function linear(model, name, x) {
  return multiply(x, model.weights.get(`${name}.weight`), model.weights.get(`${name}.bias`));
}

/**
 * x Wᵀ + b: [N, I], [O, I] and [O] to [N, O]. Blocks of four rows by two outputs: each number that is read serves
 * several of eight sums. Where fewer rows or outputs are left, the last is computed again.
 */
function multiply(x, weight, bias) {
  const [rows, inputs] = x.shape;
  const outputs = weight.shape[0];
  const y = zeros(rows, outputs);
  const [from, by, to] = [x.data, weight.data, y.data];
  for (let output = 0; output < outputs; output += 2) {
    const pair = [output, Math.min(output + 1, outputs - 1)];
    const [w0, w1] = [pair[0] * inputs, pair[1] * inputs];
    for (let row = 0; row < rows; row += 4) {
      const four = [row, Math.min(row + 1, rows - 1), Math.min(row + 2, rows - 1), Math.min(row + 3, rows - 1)];
      const [x0, x1, x2, x3] = [four[0] * inputs, four[1] * inputs, four[2] * inputs, four[3] * inputs];
      let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let i = 0; i < inputs; i++) {
        const [a, b] = [by[w0 + i], by[w1 + i]];
        a0 += a * from[x0 + i];
        a1 += a * from[x1 + i];
        a2 += a * from[x2 + i];
        a3 += a * from[x3 + i];
        b0 += b * from[x0 + i];
        b1 += b * from[x1 + i];
        b2 += b * from[x2 + i];
        b3 += b * from[x3 + i];
      }
      [a0, a1, a2, a3, b0, b1, b2, b3].forEach((sum, n) => {
        const [at, of] = [four[n % 4], pair[n >> 2]];
        to[at * outputs + of] = sum + bias.data[of];
      });
    }
  }
  return y;
}

/** The dot product of two stretches of numbers. */
function dot(x, xStart, y, yStart, length) {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += x[xStart + i] * y[yStart + i];
  return sum;
}

function add(x, y) {
  return { shape: x.shape, data: x.data.map((number, index) => number + y.data[index]) };
}

/** LayerNorm: each row to mean 0 and variance 1, then scaled and shifted as learned. */
function normalize(model, name, x) {
  const [scale, shift] = [model.weights.get(`${name}.weight`).data, model.weights.get(`${name}.bias`).data];
  return eachRow(x, (row) => {
    const mean = row.reduce((sum, number) => sum + number, 0) / row.length;
    const variance = row.reduce((sum, number) => sum + (number - mean) ** 2, 0) / row.length;
    const deviation = Math.sqrt(variance + model.config.layer_norm_eps);
    return row.map((number, index) => ((number - mean) / deviation) * scale[index] + shift[index]);
  });
}

/** GELU: x · Φ(x), exactly or, for "gelu_new", in the tanh form of Google's code. */
function activate(model, x) {
  const exact = (number) => 0.5 * number * (1 + erf(number / Math.SQRT2));
  const tanh = (number) => 0.5 * number * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (number + 0.044715 * number ** 3)));
  return { shape: x.shape, data: x.data.map(model.config.hidden_act === "gelu_new" ? tanh : exact) };
}

function eachRow(x, change) {
  const width = x.shape.at(-1);
  const y = zeros(...x.shape);
  for (let start = 0; start < x.data.length; start += width) {
    y.data.set(change(x.data.subarray(start, start + width)), start);
  }
  return y;
}

function zeros(...shape) {
  return { shape, data: new Float32Array(shape.reduce((product, size) => product * size, 1)) };
}

/** Says in one sentence what cannot be read or changed. */
function check(model, ids, types, { hidden = [], positions = [] }) {
  const { vocab_size: words, max_position_embeddings: most, type_vocab_size: segments } = model.config;
  const outside = (numbers, size) => numbers.find((one) => !Number.isInteger(one) || one < 0 || one >= size);
  if (!ids.length) throw new Error("There is no token to read.");
  if (ids.length > most) throw new Error(`The text has ${ids.length} tokens, the model ${most} positions: shorten it.`);
  if (outside(ids, words) !== undefined) throw new Error(`The model has no token with the id ${outside(ids, words)}.`);
  if (outside(types, segments) !== undefined) throw new Error(`The model has no segment ${outside(types, segments)}.`);
  if (outside(positions, most) !== undefined) throw new Error(`The model has no position ${outside(positions, most)}.`);
  if (new Set(hidden).size >= ids.length) throw new Error("Every token is hidden from attention: leave at least one.");
}
