/** What each tensor of `bert.js` is, by its name: its shape in the course's letters, and a sentence. */

const ABOUT = {
  "embeddings.token": [
    "[T, D]",
    "One row of the table of token embeddings for each token: the same in every sentence.",
  ],
  "embeddings.position": ["[T, D]", "One row for each position. It tells BERT the order of the tokens."],
  "embeddings.token_type": ["[T, D]", "One row for the segment: first or second sentence."],
  "embeddings.sum": ["[T, D]", "The three vectors of each token, added."],
  query: ["[T, D]", "What each token asks for: its vector through a linear layer. The heads lie side by side."],
  key: ["[T, D]", "What each token offers to be found by."],
  value: ["[T, D]", "What each token gives to those that attend to it."],
  scores: ["[H, T, T]", "How well each query matches each key: their dot product, divided by √d."],
  weights: ["[H, T, T]", "Softmax of the scores: each row sums to 1. This is attention."],
  mixed: ["[T, D]", "The values, mixed by the weights of each head."],
  attention: ["[T, D]", "The mixed values through the output layer, which joins the heads."],
  attention_residual: ["[T, D]", "Added to what the layer was given: the residual stream."],
  attention_norm: ["[T, D]", "LayerNorm: every row gets mean 0 and variance 1, then is scaled and shifted."],
  expanded: ["[T, F]", "The first linear layer of the feed-forward part, four times as wide."],
  activated: ["[T, F]", "GELU: what is below zero nearly vanishes."],
  feed_forward: ["[T, D]", "Back to D numbers for each token."],
  feed_forward_residual: ["[T, D]", "Added to what the feed-forward part was given."],
  "masked_lm.norm": ["[N, D]", "At each [MASK], the vector that the masked-word head compares with every word."],
  prediction_logits: ["[N, V]", "A score for every word of the vocabulary. Softmax makes probabilities of them."],
  pooler_output: ["[1, D]", "[CLS] through a linear layer and tanh: one vector for the whole text."],
  seq_relationship_logits: ["[1, 2]", "The scores for “follows” and “does not follow”."],
};

/**
 * @param {string} name  as in `bert.js`, such as "layer.0.query"
 * @returns {[string, string]} its shape in letters, and what it is
 */
export function about(name) {
  const depth = /^hidden\.(\d+)$/.exec(name);
  if (!depth) return ABOUT[name.replace(/^layer\.\d+\./, "")] ?? ["", ""];
  const first = "The embeddings, normalized: what layer 1 reads.";
  return ["[T, D]", Number(depth[1]) ? `The vectors after layer ${depth[1]}.` : first];
}
