/**
 * What a page asks a BERT, and what it answers: plain objects with typed arrays, so that a worker can send them.
 *
 * A sentence is `{text, masks}`: masks are the numbers of the words that are hidden, each piece of them a [MASK].
 */

import { encode, likeliest, run } from "./bert.js";
import { openCheckpoint } from "./checkpoint.js";
import { leading } from "./projection.js";

/** @typedef {{text: string, masks?: number[]}} Sentence */

const TOP = 6; // candidates for each [MASK]

/** A model and its tokenizer, ready to be asked. */
export class Bert {
  /** @param {import("./checkpoint.js").Files} files  raises an Error with one sentence for what is no BERT */
  constructor(files) {
    Object.assign(this, openCheckpoint(files));
  }

  /** What the page must know of the model: sizes, what it can do, and the tokenizer's tokens and switches. */
  about() {
    const { config, weights } = this.model;
    const { tokens, lowercase, stripAccents, separateChinese } = this.tokenizer;
    const numbers = [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
    return {
      layers: config.num_hidden_layers,
      heads: config.num_attention_heads,
      size: config.hidden_size,
      positions: config.max_position_embeddings,
      segments: config.type_vocab_size,
      parameters: numbers,
      fillsMasks: weights.has("cls.predictions.bias"),
      judgesPairs: weights.has("cls.seq_relationship.weight") && config.type_vocab_size > 1,
      tokens,
      switches: { lowercase, stripAccents, separateChinese },
    };
  }

  /** The pieces of a sentence with its hidden words masked, and the ids that the model reads. */
  read({ text, masks = [] }, second = null) {
    const { ids, types, pieces } = this.tokenizer.sequence(text, second);
    const firstLength = types.filter((type) => type === 0).length;
    const chosen = new Set(masks);
    const mask = this.tokenizer.ids.get("[MASK]");
    const read = pieces.map((piece, position) => {
      const hidden = position < firstLength && chosen.has(piece.word);
      return { ...piece, position, type: types[position], masked: hidden || piece.id === mask, hidden };
    });
    return { pieces: read, ids: read.map((piece, at) => (piece.hidden ? mask : ids[at])), types };
  }

  /**
   * Read a sentence: candidates for each [MASK], all attention weights, and for a pair whether it fits together.
   *
   * @param {Sentence & {second?: string | null, changes?: import("./bert.js").Changes, temperature?: number}} asked
   */
  look({ text, masks, second = null, changes = {}, temperature = 1 }) {
    const { pieces, ids, types } = this.read({ text, masks }, second);
    const scored = pieces.filter((piece) => piece.masked).map((piece) => piece.position);
    const steps = run(this.model, ids, types, { ...fitting(changes, ids.length), scored });
    const next = steps.get("seq_relationship_logits");
    return {
      pieces,
      answers: this.candidates(steps, pieces, scored, temperature),
      weights: this.attention(steps),
      follows: second === null || !next ? null : likeliest(next.data, 2).find(({ id }) => id === 0).probability,
    };
  }

  /** For each scored token the likeliest words, and how likely the hidden word was and where it stands among all. */
  candidates(steps, pieces, scored, temperature) {
    const logits = steps.get("prediction_logits");
    if (!logits) return [];
    const words = logits.shape[1];
    return scored.map((position, row) => {
      const scores = logits.data.subarray(row * words, (row + 1) * words).slice(0, this.tokenizer.tokens.length);
      const all = likeliest(scores, scores.length, temperature);
      const { id, token, hidden, word } = pieces[position];
      const rank = all.findIndex((one) => one.id === id);
      return {
        position,
        word,
        candidates: all.slice(0, TOP).map((one) => ({ token: this.tokenizer.tokens[one.id], ...one })),
        original: hidden
          ? { token, id, of: wordOfPieces(pieces, word), rank: rank + 1, probability: all[rank].probability }
          : null,
      };
    });
  }

  /** The attention weights of all layers and heads, [L, H, T, T]. */
  attention(steps) {
    const layers = [...Array(this.model.config.num_hidden_layers).keys()];
    const parts = layers.map((layer) => steps.get(`layer.${layer}.weights`));
    const data = new Float32Array(parts.reduce((sum, part) => sum + part.data.length, 0));
    parts.forEach((part, layer) => data.set(part.data, layer * part.data.length));
    return { shape: [parts.length, ...parts[0].shape], data };
  }

  /**
   * Two sentences, each token's vector beside each of the other's: cosines after each layer, the embeddings first.
   *
   * @param {{first: Sentence, second: Sentence}} asked
   */
  compare({ first, second }) {
    const one = this.states(first);
    const other = this.states(second);
    return {
      first: one.pieces,
      second: other.pieces,
      cosines: one.hidden.map((vectors, depth) => crossCosines(vectors, other.hidden[depth])), // L + 1 times [T, T']
      whole: one.hidden.map((vectors, depth) => cosine(mean(vectors), mean(other.hidden[depth]))), // L + 1
    };
  }

  /**
   * One word in several sentences: its vector in each, as points in two directions after each layer.
   *
   * @param {{sentences: string[], word: string}} asked
   */
  contexts({ sentences, word }) {
    const found = sentences.map((text) => this.wordVectors(text, word));
    const missing = sentences.filter((_, number) => !found[number]);
    const kept = found.filter(Boolean);
    const depths = [...Array(this.model.config.num_hidden_layers + 1).keys()];
    return {
      missing,
      sentences: sentences.filter((_, number) => found[number]),
      points: depths.map((depth) => leading(kept.map((vectors) => vectors[depth]))),
      cosines: depths.map((depth) => kept.map((one) => kept.map((other) => cosine(one[depth], other[depth])))),
    };
  }

  /** The vector of a word in a sentence after each layer, its pieces averaged; null where it does not stand there. */
  wordVectors(text, word) {
    const quoted = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const place = new RegExp(`(?<![\\p{L}\\p{N}])${quoted}(?![\\p{L}\\p{N}])`, "iu").exec(text);
    if (!place || !word) return null;
    const { pieces, hidden } = this.states({ text });
    const end = place.index + place[0].length;
    const rows = pieces.filter((piece) => piece.start < end && piece.end > place.index && piece.word >= 0);
    return hidden.map((vectors) => mean({ rows: rows.map((piece) => vectors.rows[piece.position]) }));
  }

  /** Every step of a sentence by name with its shape, and the numbers of one. */
  steps({ text, masks, name }) {
    const { pieces, ids, types } = this.read({ text, masks });
    const scored = pieces.filter((piece) => piece.masked).map((piece) => piece.position);
    const steps = run(this.model, ids, types, { scored });
    const names = [...steps].map(([one, { shape }]) => ({ name: one, shape })).filter(({ shape }) => shape[0]);
    const chosen = steps.has(name) && steps.get(name).shape[0] ? name : names[0].name;
    return { pieces, names, name: chosen, scored, tensor: steps.get(chosen) };
  }

  states(sentence) {
    const { pieces, ids, types } = this.read(sentence);
    const steps = encode(this.model, ids, types);
    const depths = [...Array(this.model.config.num_hidden_layers + 1).keys()];
    return { pieces, hidden: depths.map((depth) => ({ rows: rowsOf(steps.get(`hidden.${depth}`)) })) };
  }
}

/** A hidden word of several pieces, joined: each of them is guessed alone. null for a word of one piece. */
function wordOfPieces(pieces, word) {
  const parts = pieces.filter((piece) => piece.hidden && piece.word === word);
  return parts.length > 1 ? parts.map(({ token }) => token.replace(/^##/, "")).join("") : null;
}

/** Changes that name positions which a shorter sentence no longer has are left out. */
function fitting({ hidden = [], ablated = [], swapped = null }, length) {
  const positions = [...Array(length).keys()];
  if (swapped && swapped.every((position) => position < length)) {
    [positions[swapped[0]], positions[swapped[1]]] = [swapped[1], swapped[0]];
  }
  return { hidden: hidden.filter((position) => position < length), ablated, positions };
}

function rowsOf({ shape: [rows, width], data }) {
  return Array.from({ length: rows }, (_, row) => data.subarray(row * width, (row + 1) * width));
}

function mean({ rows }) {
  return rows[0].map((_, part) => rows.reduce((sum, row) => sum + row[part], 0) / rows.length);
}

function crossCosines(first, second) {
  const data = Float32Array.from(first.rows.flatMap((one) => second.rows.map((other) => cosine(one, other))));
  return { shape: [first.rows.length, second.rows.length], data };
}

/** The cosine of the angle between two vectors. */
export function cosine(one, other) {
  const dot = (x, y) => x.reduce((sum, number, part) => sum + number * y[part], 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other) || 1);
}
