// Reads a question from standard input, {folder, ask, rows}, and writes the answer to standard output: the bytes of
// float32 numbers, or JSON.
import { existsSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const { web, folder, ask, rows } = JSON.parse(readFileSync(0, "utf8"));
const answers = await import(web);
const text = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : null);
const weights = join(folder, "model.safetensors");
const bytes = existsSync(weights) ? readFileSync(weights) : Buffer.alloc(0);
const files = {
  config: text("config.json"),
  weights: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  vocabulary: text("vocab.txt"),
  settings: text("tokenizer_config.json"),
  tokenizer: text("tokenizer.json"),
};
const found = answers[ask](files, rows);
const output = found instanceof Float32Array ? Buffer.from(found.buffer) : Buffer.from(JSON.stringify(found));
for (let written = 0; written < output.length;) {
  try {
    written += writeSync(1, output, written);
  } catch (error) {
    if (error.code !== "EAGAIN") throw error; // the pipe is full: the reader takes its time
  }
}
