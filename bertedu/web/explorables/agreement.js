/**
 * One head of attention that decides "is" or "are", with its gradients written out (chapter 03): the vector at [MASK]
 * after one layer of self-attention, and a linear layer. Numbers are float64, as in the chapter.
 *
 * Shapes: V words, T tokens, D hidden size. A matrix [O, I] is one Float64Array, row by row.
 */

const WIDTH = 32; // D
const POSITIONS = 64;
const LINEAR = ["query", "key", "value", "output", "decide"];

/** Random numbers that repeat with their seed: uniform from 0 to 1 (mulberry32), and normal (Box and Muller 1958). */
export function chance(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

/**
 * The weights before training, drawn as PyTorch draws those of nn.Embedding and nn.Linear.
 *
 * @returns {Object<string, Float64Array>} "token.weight" [V, D], "query.weight" [D, D], "query.bias" [D] and so on
 */
export function begin(words, seed) {
  const { uniform, normal } = chance(seed);
  const bound = 1 / Math.sqrt(WIDTH);
  const weights = {
    "token.weight": Float64Array.from({ length: words * WIDTH }, normal),
    "position.weight": Float64Array.from({ length: POSITIONS * WIDTH }, normal),
  };
  for (const name of LINEAR) {
    const outputs = name === "decide" ? 2 : WIDTH;
    const even = () => bound * (2 * uniform() - 1);
    weights[`${name}.weight`] = Float64Array.from({ length: outputs * WIDTH }, even);
    weights[`${name}.bias`] = Float64Array.from({ length: outputs }, even);
  }
  return weights;
}

/**
 * From the ids of a sentence to the scores of "is" and "are"; what the backward pass needs is kept.
 *
 * @param {number[]} ids  [T]
 * @param {number} mask  the position of [MASK]
 */
export function read(weights, ids, mask) {
  const layer = (name, x) => linear(weights[`${name}.weight`], weights[`${name}.bias`], x);
  const vector = (id, place) => plus(row(weights["token.weight"], id), row(weights["position.weight"], place));
  const x = ids.map(vector); // [T, D]
  const query = layer("query", x[mask]); // [D]
  const keys = x.map((one) => layer("key", one)); // [T, D]
  const values = x.map((one) => layer("value", one)); // [T, D]
  const shares = softmax(keys.map((key) => dot(query, key) / Math.sqrt(WIDTH))); // [T]
  const mixed = new Float64Array(WIDTH);
  values.forEach((value, token) => addScaled(mixed, value, shares[token]));
  const output = layer("output", mixed); // [D]
  return { x, query, keys, values, shares, mixed, output, scores: layer("decide", output) };
}

/**
 * The mean loss of a batch, and its gradient for every weight.
 *
 * @param {{ids: number[], mask: number, answer: number}[]} batch
 * @returns {{loss: number, gradients: Object<string, Float64Array>}}
 */
export function learn(weights, batch) {
  const gradients = zerosLike(weights);
  let loss = 0;
  for (const { ids, mask, answer } of batch) {
    const step = read(weights, ids, mask);
    const shares = softmax([...step.scores]);
    loss -= Math.log(shares[answer]) / batch.length;
    const scores = Float64Array.from(shares, (share, verb) => (share - (verb === answer ? 1 : 0)) / batch.length);
    backward(weights, gradients, ids, mask, step, scores);
  }
  return { loss, gradients };
}

/** Each step of `read` backwards: from the gradient of the scores [2] to that of every weight, which is added up. */
function backward(weights, gradients, ids, mask, { x, query, keys, values, shares, mixed, output }, scores) {
  const back = (name, input, gradient) => {
    const [matrix, bias] = [gradients[`${name}.weight`], gradients[`${name}.bias`]];
    for (let o = 0, at = 0; o < gradient.length; o++) {
      bias[o] += gradient[o];
      for (let i = 0; i < WIDTH; i++, at++) matrix[at] += gradient[o] * input[i];
    }
    return transposed(weights[`${name}.weight`], gradient);
  };
  const ofMixed = back("output", mixed, back("decide", output, scores)); // [D]
  const ofX = x.map(() => new Float64Array(WIDTH)); // [T, D]
  const ofShares = values.map((value) => dot(ofMixed, value)); // [T]
  const mean = ofShares.reduce((sum, number, token) => sum + shares[token] * number, 0);
  const ofQuery = new Float64Array(WIDTH);
  ids.forEach((_, token) => {
    const ofScore = (shares[token] * (ofShares[token] - mean)) / Math.sqrt(WIDTH); // softmax backwards, and the √d
    addScaled(ofQuery, keys[token], ofScore);
    const ofKey = query.map((number) => number * ofScore);
    const ofValue = ofMixed.map((number) => number * shares[token]);
    addScaled(ofX[token], back("key", x[token], ofKey), 1);
    addScaled(ofX[token], back("value", x[token], ofValue), 1);
  });
  addScaled(ofX[mask], back("query", x[mask], ofQuery), 1);
  ids.forEach((id, token) => {
    addScaled(row(gradients["token.weight"], id), ofX[token], 1);
    addScaled(row(gradients["position.weight"], token), ofX[token], 1);
  });
}

/** Adam (Kingma and Ba 2015), as PyTorch computes it. Changes the weights in place. */
export class Adam {
  constructor(weights, rate = 0.01) {
    Object.assign(this, { weights, rate, steps: 0 });
    [this.means, this.squares] = [zerosLike(weights), zerosLike(weights)];
  }

  step(gradients) {
    this.steps++;
    const [first, second] = [1 - 0.9 ** this.steps, 1 - 0.999 ** this.steps];
    for (const [name, weight] of Object.entries(this.weights)) {
      const [mean, square, gradient] = [this.means[name], this.squares[name], gradients[name]];
      for (let i = 0; i < weight.length; i++) {
        mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
        square[i] = 0.999 * square[i] + 0.001 * gradient[i] ** 2;
        weight[i] -= (this.rate * mean[i]) / first / (Math.sqrt(square[i] / second) + 1e-8);
      }
    }
  }
}

/** Zeros of the same names and sizes. */
function zerosLike(weights) {
  return Object.fromEntries(Object.entries(weights).map(([name, { length }]) => [name, new Float64Array(length)]));
}

/** Exponentials that are divided by their sum. */
export function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function row(table, number) {
  return table.subarray(number * WIDTH, (number + 1) * WIDTH);
}

/** W x + b: [O, I], [O] and [I] to [O]. */
function linear(matrix, bias, x) {
  const y = Float64Array.from(bias);
  for (let o = 0, at = 0; o < y.length; o++) {
    for (let i = 0; i < WIDTH; i++, at++) y[o] += matrix[at] * x[i];
  }
  return y;
}

/** Wᵀ y: [O, I] and [O] to [I]. */
function transposed(matrix, y) {
  const x = new Float64Array(WIDTH);
  for (let o = 0, at = 0; o < y.length; o++) {
    for (let i = 0; i < WIDTH; i++, at++) x[i] += matrix[at] * y[o];
  }
  return x;
}

function dot(one, other) {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
  return sum;
}

function plus(one, other) {
  return one.map((number, i) => number + other[i]);
}

function addScaled(to, from, scale) {
  for (let i = 0; i < to.length; i++) to[i] += scale * from[i];
}
