/** What the tests of the BERT in JavaScript ask it, in Node and in Chromium alike. */

import { run } from "../../bertedu/web/bert.js";
import { openCheckpoint, readTokenizer } from "../../bertedu/web/checkpoint.js";

/** The numbers of each row one after the other: word scores [N, V], next sentence [2], attention weights [L, H, T, T]. */
export function answerRows(files, rows) {
  const { model } = openCheckpoint(files);
  const parts = rows.flatMap(({ ids, types, changes }) => {
    const steps = run(model, ids, types, changes);
    const named = ["prediction_logits", "seq_relationship_logits"].map((name) => steps.get(name).data);
    const layers = [...Array(model.config.num_hidden_layers).keys()];
    return [...named, ...layers.map((layer) => steps.get(`layer.${layer}.weights`).data)];
  });
  const numbers = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let start = 0;
  for (const part of parts) {
    numbers.set(part, start);
    start += part.length;
  }
  return numbers;
}

/** For each text its ids and offsets, [[id, start, end], …], positions counted in code points as Python does. */
export function pieceRows(files, texts) {
  const tokenizer = readTokenizer(files);
  return texts.map((text) => {
    const positions = new Map();
    let units = 0;
    let count = 0;
    for (const character of text) {
      positions.set(units, count++);
      units += character.length;
    }
    positions.set(units, count);
    return tokenizer.encode(text).map(({ id, start, end }) => [id, positions.get(start), positions.get(end)]);
  });
}
