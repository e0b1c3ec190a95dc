/**
 * A model from the files of its folder: config.json, model.safetensors, vocab.txt and tokenizer_config.json or
 * tokenizer.json. Everything is examined before anything is computed: what does not fit gets a sentence.
 */

import { readSafetensors } from "./safetensors.js";
import { SPECIAL_TOKENS, WordPiece } from "./wordpiece.js";

const ACTIVATIONS = ["gelu", "gelu_new"];
const SIZES = [
  ...["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"],
  ...["max_position_embeddings", "type_vocab_size"],
];

/**
 * @typedef {object} Files  the text of the folder's files, by name; null where one is not there
 * @property {string} config
 * @property {ArrayBuffer} weights
 * @property {string | null} vocabulary  vocab.txt
 * @property {string | null} settings  tokenizer_config.json
 * @property {string | null} tokenizer  tokenizer.json
 */

/**
 * @param {Files} files
 * @returns {{model: object, tokenizer: WordPiece}} the model as `bert.js` reads it
 * @throws {Error} with a sentence that says what this is instead of a BERT
 */
export function openCheckpoint(files) {
  const config = readConfig(files.config);
  const tokenizer = readTokenizer(files);
  if (tokenizer.tokens.length > config.vocab_size) {
    throw new Error(
      `The tokenizer has ${tokenizer.tokens.length} tokens and the model knows ${config.vocab_size}: ` +
        "use the tokenizer that was saved with the model.",
    );
  }
  const weights = withoutPrefix(readSafetensors(files.weights));
  checkShapes(config, weights);
  return { model: { config, weights }, tokenizer };
}

function readConfig(text) {
  const config = parsed(text, "config.json");
  if (config.model_type !== "bert") {
    throw new Error(
      `This is a model of the type “${config.model_type ?? "unknown"}”, and only BERT runs on this page: ` +
        'choose a folder whose config.json says "model_type": "bert".',
    );
  }
  config.layer_norm_eps ??= 1e-12;
  config.hidden_act ??= "gelu";
  config.type_vocab_size ??= 2;
  const wrong = SIZES.find((name) => !Number.isSafeInteger(config[name]) || config[name] < 1);
  if (wrong)
    throw new Error(`config.json: ${wrong} is ${shown(config[wrong])}, and must be a whole number above zero.`);
  if (config.hidden_size % config.num_attention_heads) {
    const { hidden_size: size, num_attention_heads: heads } = config;
    throw new Error(`config.json: ${heads} heads cannot share a hidden size of ${size}.`);
  }
  if (!ACTIVATIONS.includes(config.hidden_act)) {
    const known = ACTIVATIONS.join(" and ");
    throw new Error(`config.json: hidden_act is ${shown(config.hidden_act)}, and this page knows ${known}.`);
  }
  if (typeof config.layer_norm_eps !== "number") throw new Error("config.json: layer_norm_eps must be a number.");
  if ((config.position_embedding_type ?? "absolute") !== "absolute") {
    throw new Error("config.json: this model has relative positions, and this page knows absolute ones only.");
  }
  return config;
}

/** A vocab.txt with the switches beside it, or else a tokenizer.json of the kind WordPiece; the files as above. */
export function readTokenizer({ vocabulary, settings, tokenizer }) {
  if (vocabulary !== null) {
    const tokens = vocabulary.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
    const said = settings === null ? {} : parsed(settings, "tokenizer_config.json");
    refuseAdded(Object.values(said.added_tokens_decoder ?? {}));
    const lowercase = said.do_lower_case ?? !tokens.some(hasCapitals);
    return new WordPiece(tokens, {
      lowercase,
      stripAccents: said.strip_accents ?? ("do_lower_case" in said || !tokens.some(hasMarks) ? null : false),
      separateChinese: said.tokenize_chinese_chars ?? true,
    });
  }
  if (tokenizer === null) {
    throw new Error("There is no vocab.txt and no tokenizer.json: add the vocabulary that was saved with the model.");
  }
  const { model, normalizer, added_tokens: added = [] } = parsed(tokenizer, "tokenizer.json");
  if (model?.type !== "WordPiece" || normalizer?.type !== "BertNormalizer") {
    throw new Error(
      `tokenizer.json is of the kind ${shown(model?.type)}, and this page reads BERT's WordPiece only: ` +
        "choose a BERT with a vocab.txt.",
    );
  }
  refuseAdded(added ?? []);
  const tokens = [];
  for (const [token, id] of Object.entries(model.vocab ?? {})) tokens[id] = token;
  if (tokens.length !== Object.keys(model.vocab ?? {}).length) {
    throw new Error("tokenizer.json: the ids of the vocabulary are not 0, 1, 2 and so on: save it again.");
  }
  return new WordPiece(tokens, {
    lowercase: normalizer.lowercase ?? true,
    stripAccents: normalizer.strip_accents ?? null,
    separateChinese: normalizer.handle_chinese_chars ?? true,
  });
}

/** Tokens that somebody added are found in a text before it is split, and this page has only BERT's own. */
function refuseAdded(tokens) {
  const strange = tokens.find((token) => !SPECIAL_TOKENS.includes(token?.content));
  if (strange) {
    throw new Error(`The tokenizer has tokens of its own, such as ${shown(strange?.content)}: choose a BERT without.`);
  }
}

/** A vocabulary with capitals says that text is not lower-cased; special tokens such as [CLS] say nothing. */
function hasCapitals(token) {
  return !/^\[.*\]$/.test(token) && token !== token.toLowerCase();
}

/** And one with marks that would be stripped, that they are not. */
function hasMarks(token) {
  return /\p{Mn}/u.test(token.normalize("NFD"));
}

/** Names as `bert.js` reads them: without "bert.", and with the newer names of LayerNorm's weights. */
function withoutPrefix(tensors) {
  const renamed = (name) => name.replace(/^bert\./, "").replace(/LayerNorm\.gamma$/, "LayerNorm.weight");
  return new Map(
    [...tensors].map(([name, tensor]) => [renamed(name).replace(/LayerNorm\.beta$/, "LayerNorm.bias"), tensor]),
  );
}

/** Every weight that will be read is there and has the shape that config.json asks for. Heads may be missing whole. */
function checkShapes(config, weights) {
  for (const [name, shape] of expectedShapes(config, weights)) {
    const there = weights.get(name);
    if (!there) throw new Error(`The weights lack ${name}: this is not the whole of a BERT.`);
    if (there.shape.join() !== shape.join()) {
      throw new Error(
        `The weights have ${name} in the shape [${there.shape.join(", ")}], and config.json asks for ` +
          `[${shape.join(", ")}]: take both files from one folder.`,
      );
    }
  }
}

function* expectedShapes(config, weights) {
  const { hidden_size: D, intermediate_size: F, vocab_size: V } = config;
  const linear = (name, inputs, outputs) => [
    [`${name}.weight`, [outputs, inputs]],
    [`${name}.bias`, [outputs]],
  ];
  const norm = (name) => [
    [`${name}.weight`, [D]],
    [`${name}.bias`, [D]],
  ];
  yield ["embeddings.word_embeddings.weight", [V, D]];
  yield ["embeddings.position_embeddings.weight", [config.max_position_embeddings, D]];
  yield ["embeddings.token_type_embeddings.weight", [config.type_vocab_size, D]];
  yield* norm("embeddings.LayerNorm");
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `encoder.layer.${layer}`;
    for (const name of ["query", "key", "value"]) yield* linear(`${at}.attention.self.${name}`, D, D);
    yield* linear(`${at}.attention.output.dense`, D, D);
    yield* norm(`${at}.attention.output.LayerNorm`);
    yield* linear(`${at}.intermediate.dense`, D, F);
    yield* linear(`${at}.output.dense`, F, D);
    yield* norm(`${at}.output.LayerNorm`);
  }
  if (weights.has("pooler.dense.weight")) yield* linear("pooler.dense", D, D);
  if (weights.has("cls.seq_relationship.weight")) yield* linear("cls.seq_relationship", D, 2);
  if (weights.has("cls.predictions.bias")) {
    yield* linear("cls.predictions.transform.dense", D, D);
    yield* norm("cls.predictions.transform.LayerNorm");
    yield ["cls.predictions.bias", [V]];
  }
}

function parsed(text, name) {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // said below
  }
  throw new Error(`${name} is not the JSON of a model's folder: copy it again.`);
}

function shown(value) {
  return value === undefined ? "not given" : JSON.stringify(value).slice(0, 40);
}
