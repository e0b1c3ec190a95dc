/** A model of one's own: the files of a folder that was dropped on the page or chosen. They stay on this machine. */

const NAMES = {
  config: "config.json",
  weights: "model.safetensors",
  vocabulary: "vocab.txt",
  settings: "tokenizer_config.json",
  tokenizer: "tokenizer.json",
};
const MOST_BYTES = 1_000_000_000;
const DEEPEST = 3; // a run's folder has its model in checkpoint/

/**
 * The files of a dropped folder, or dropped files.
 *
 * @param {DataTransfer} transfer
 * @returns {Promise<{file: File, path: string}[]>}
 */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  return (await Promise.all(entries.map((entry) => filesUnder(entry, 0)))).flat();
}

async function filesUnder(entry, depth) {
  if (entry.isFile) {
    if (!Object.values(NAMES).includes(entry.name)) return [];
    return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), path: entry.fullPath }];
  }
  if (depth > DEEPEST) return [];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const more = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at a time
    if (!more.length) break;
    found.push(...more);
  }
  return (await Promise.all(found.map((one) => filesUnder(one, depth + 1)))).flat();
}

/**
 * What the worker needs to open a model, from files in one folder: the least deep one that has a config.json.
 *
 * @param {{file: File, path: string}[]} files
 * @returns {Promise<{name: string, files: import("./checkpoint.js").Files}>}
 * @throws {Error} with a sentence, where it is no model's folder
 */
export async function modelFiles(files) {
  const configs = files.filter(({ file }) => file.name === NAMES.config);
  if (!configs.length) {
    throw new Error("There is no config.json in what was dropped: drop the folder of a run or of a saved model.");
  }
  const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
  const folders = configs.map(({ path }) => folderOf(path)).sort((one, other) => one.length - other.length);
  const has = (folder, name) => files.find(({ file, path }) => path === folder + file.name && file.name === name)?.file;
  const folder = folders.find((one) => has(one, NAMES.weights)) ?? folders[0];
  const weights = has(folder, NAMES.weights);
  if (!weights) throw new Error("There is no model.safetensors beside config.json: save the model in this format.");
  if (weights.size > MOST_BYTES)
    throw new Error("model.safetensors has more than a gigabyte: too large for this page.");
  const text = async (name) => (await has(folder, name)?.text()) ?? null;
  return {
    name: nameOf(folder),
    files: {
      config: await text(NAMES.config),
      vocabulary: await text(NAMES.vocabulary),
      settings: await text(NAMES.settings),
      tokenizer: await text(NAMES.tokenizer),
      weights: await weights.arrayBuffer(),
    },
  };
}

/** The folder's name; of a run's folder, which has its model in checkpoint/, the run's. */
function nameOf(folder) {
  const parts = folder.split("/").filter((part) => part && part !== "checkpoint");
  return parts.at(-1) ?? "your model";
}
