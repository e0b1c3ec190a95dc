/** What is said of folders that are no BERT, of damaged weights, and of ids that a model cannot read. */

import { run } from "../../bertedu/web/bert.js";
import { openCheckpoint } from "../../bertedu/web/checkpoint.js";
import { readSafetensors } from "../../bertedu/web/safetensors.js";

function said(action) {
  try {
    action();
    return "";
  } catch (error) {
    return error.message;
  }
}

/** For each row of files that take the place of the folder's own, the sentence with which they are refused. */
export function refusedFiles(files, rows) {
  return rows.map(({ weights, ...others }) => {
    const bytes = weights === undefined ? files.weights : Uint8Array.from(weights).buffer;
    return said(() => openCheckpoint({ ...files, ...others, weights: bytes }));
  });
}

/** For each row of ids, segments and changes, the sentence with which they are refused. */
export function refusedRows(files, rows) {
  const { model } = openCheckpoint(files);
  return rows.map(({ ids, types, changes }) => said(() => run(model, ids, types, changes)));
}

/** All numbers of a file of weights, given as its bytes, one tensor after the other in the order of the file. */
export function numbersOf(files, rows) {
  return rows.map((bytes) =>
    [...readSafetensors(Uint8Array.from(bytes).buffer)].map(([name, { shape, data }]) => [
      name,
      shape,
      [...data].map(String),
    ]),
  );
}
