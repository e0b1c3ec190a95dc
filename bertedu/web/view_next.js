/** Does the second sentence follow the first? What the head of next sentence prediction says. */

import { chips } from "./chips.js";
import { element, percent, replace } from "./dom.js";
import { textField } from "./field.js";

const ROOM = 0.3; // the share of the bar that a word needs

/** @param {object} app  the page */
export function nextView(app) {
  const field = textField("The second sentence", (second) => app.set({ second }));
  const says = element("p", { class: "says", role: "status" });
  const bar = element("div", { class: "balance", "aria-hidden": "true" });
  const read = element("div", { class: "chips" });
  const about =
    "In pre-training BERT also learned to tell whether a second sentence followed the first in a text. Here the" +
    " first is the sentence above. BERT reads both as one sequence, with [SEP] between them, and answers from [CLS].";
  const node = element("div", {}, element("p", { class: "about" }, about), field.node, says, bar, read);

  async function update() {
    const { text, second } = app.state;
    field.show(second);
    if (!app.about.judgesPairs) {
      says.textContent =
        "This model has no head for pairs of sentences: choose one that was pre-trained with next sentence prediction.";
      return;
    }
    if (!second.trim()) {
      says.textContent = "Write a second sentence.";
      replace(bar);
      replace(read);
      return;
    }
    const found = await app.ask("look", { text, second }, "next");
    if (!found) return;
    const share = found.follows;
    says.textContent =
      share > 0.5
        ? `BERT says that the second sentence follows the first (${percent(share)}).`
        : `BERT says that the second sentence does not follow the first (${percent(1 - share)} sure).`;
    const part = element("span", {}, share > ROOM ? "follows" : "");
    part.style.width = `${100 * share}%`;
    replace(bar, part, element("span", { class: "rest" }, share < 1 - ROOM ? "does not follow" : ""));
    replace(read, ...chips(found.pieces));
  }

  return { title: "Next sentence", node, update };
}
