/**
 * Candidates for a hidden word as bars, and the sentence that says what they show.
 */

import { element, percent } from "./dom.js";

/**
 * @param {{candidates: {token: string, probability: number}[], original: object | null}} answer
 * @param {{before?: object | null, title: string}} options  before: an answer to compare with, thin bars beside
 */
export function bars(answer, { before = null, title }) {
  const rows = [...answer.candidates];
  const { original } = answer;
  if (original && !rows.some(({ id }) => id === original.id)) rows.push({ ...original, late: true });
  const earlier = new Map(before?.candidates.map((one) => [one.id, one.probability]) ?? []);
  return element(
    "figure",
    { class: "bars" },
    element("figcaption", {}, title),
    element(
      "ol",
      {},
      ...rows.map((one) => {
        const hidden = original?.id === one.id;
        return element(
          "li",
          { class: hidden ? "hidden-word" : null },
          element("span", { class: "word" }, one.token),
          element(
            "span",
            { class: "track", "aria-hidden": "true" },
            ...tracks(one, before ? (earlier.get(one.id) ?? 0) : null),
          ),
          element("span", { class: "share" }, percent(one.probability)),
          element("span", { class: "note" }, note(one, hidden, original)),
        );
      }),
    ),
  );
}

function note(one, hidden, original) {
  if (!hidden) return "";
  const it = `the hidden ${kind(original)}`;
  return one.late ? `${it}, number ${original.rank.toLocaleString("en")}` : it;
}

/** What was hidden: a word, or one piece of a word of several. */
function kind({ of }) {
  return of === null ? "word" : `piece of “${of}”`;
}

function tracks(one, before) {
  const bar = (share, name) => {
    const node = element("span", { class: name });
    node.style.width = `${share && Math.max(0.3, 100 * share)}%`;
    return node;
  };
  const now = bar(one.probability, "bar");
  return before === null ? [now] : [bar(before, "bar before"), now];
}

/** The bars in a sentence. */
export function inWords({ candidates, original }) {
  const [first, second] = candidates;
  const told = ({ token, probability }) => `“${token}” (${percent(probability)})`;
  const best = `BERT expects ${told(first)}${second ? `, then ${told(second)}` : ""}.`;
  if (!original) return best;
  if (original.rank === 1) return `${best} The hidden ${kind(original)} was “${original.token}”: right.`;
  const place = `its choice number ${original.rank.toLocaleString("en")} (${percent(original.probability)})`;
  return `${best} The hidden ${kind(original)} was “${original.token}”, ${place}.`;
}
