/**
 * How a text is cut into pieces while it is typed, and for one word which pieces were looked up (chapter 01).
 */

import { readTokenizer } from "../checkpoint.js";
import { chips } from "../chips.js";
import { element, replace } from "../dom.js";
import { textField } from "../field.js";
import { SPECIAL_TOKENS } from "../wordpiece.js";

/**
 * The greedy search in one word: at each place the pieces that were looked up, the longest first, until one was found.
 *
 * @param {Map<string, number>} ids  of the vocabulary
 * @param {string} word  in lower case
 * @returns {{tried: string[], found: string | null}[]} the last has found null where the word becomes [UNK]
 */
export function search(ids, word) {
  const letters = [...word];
  const steps = [];
  for (let start = 0; start < letters.length; ) {
    const tried = [];
    let end = letters.length;
    for (; end > start; end--) {
      tried.push((start ? "##" : "") + letters.slice(start, end).join(""));
      if (ids.has(tried.at(-1))) break;
    }
    const found = end > start;
    steps.push({ tried, found: found ? tried.at(-1) : null });
    if (!found) break;
    start = end;
  }
  return steps;
}

/**
 * @param {HTMLElement} root
 * @param {{files: object, text: string, word: number}} given  files: of a checkpoint; word: the first that is looked at
 */
export function show(root, given) {
  const tokenizer = readTokenizer(given.files);
  let looked = given.word;
  const pieces = element("div", { class: "chips", role: "group", "aria-label": "The text in pieces" });
  const count = element("p", { class: "says", role: "status" });
  const steps = element("div");
  const field = textField("A text", update);

  function update(text) {
    const found = tokenizer.encode(text);
    const words = [];
    for (const piece of found) (words[piece.word] ??= []).push(piece);
    looked = Math.min(looked, words.length - 1);
    const pressed = ({ word }) => word === looked;
    const click = ({ word }) => {
      looked = word;
      update(text);
    };
    const name = (word) => `look at ${word}`;
    replace(pieces, ...chips(found, { pressed, click, name, ids: true }));
    count.textContent = `${counted(words.length, "word")}, ${counted(found.length, "token")}.`;
    replace(steps, ...(words[looked] ? looking(text, words[looked]) : []));
  }

  function looking(text, word) {
    if (SPECIAL_TOKENS.includes(word[0].token) && word[0].token !== "[UNK]") {
      return [element("p", {}, `${word[0].token} is a special token: it is never cut.`)];
    }
    const written = text.slice(word[0].start, word.at(-1).end);
    const normal = tokenizer
      .normalize(written)
      .map(({ character }) => character)
      .join("")
      .trim();
    return [
      element("p", {}, "The search in ", element("b", { class: "token-name" }, normal), ": the longest piece first."),
      ...search(tokenizer.ids, normal).map(({ tried, found }) =>
        element(
          "ol",
          { class: "tried", "aria-label": found ? `found ${found} after ${tried.length}` : "nothing found: [UNK]" },
          ...tried.map((piece) => element("li", { class: piece === found ? "found" : null }, piece)),
          found ? null : element("li", { class: "found" }, "nothing found: [UNK]"),
        ),
      ),
    ];
  }

  root.append(field.node, pieces, count, steps);
  field.show(given.text);
  update(given.text);
}

function counted(number, name) {
  return `${number} ${name}${number === 1 ? "" : "s"}`;
}
