/** What explorable pictures compute, as a test asks for it. */

import { readTokenizer } from "../../bertedu/web/checkpoint.js";
import { search } from "../../bertedu/web/explorables/pieces.js";
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
