/**
 * The thread that computes: it opens a model and answers one question after the other, so that the page stays fluent.
 *
 * A message is {number, ask, asked}, where ask is "open" or the name of a question of `answers.js`; the reply has the
 * same number and either the answer or, as a sentence, why there is none.
 */

import { Bert } from "./answers.js";
import { fromBase64 } from "./base64.js";

const QUESTIONS = ["look", "compare", "contexts", "steps"];
let bert = null;

function open({ weights, ...files }) {
  const opened = new Bert({ ...files, weights: typeof weights === "string" ? fromBase64(weights) : weights });
  bert = opened; // only now: a folder that is refused leaves the model that was there
  return bert.about();
}

function answer({ ask, asked }) {
  if (ask === "open") return open(asked);
  if (!bert || !QUESTIONS.includes(ask)) throw new Error("There is no model to ask yet.");
  return bert[ask](asked);
}

self.onmessage = ({ data }) => {
  const begun = performance.now();
  try {
    const found = answer(data);
    self.postMessage({ number: data.number, answer: found, milliseconds: performance.now() - begun });
  } catch (error) {
    self.postMessage({ number: data.number, error: error.message });
  }
};
