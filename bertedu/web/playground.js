/**
 * The page: a sentence, its pieces, what BERT expects at the hidden words, and views that look inside.
 *
 * The state is one object and stands in the address. Whatever changes it goes through `set`; the worker is asked, and
 * what is seen is made anew from the state and the answer.
 */

import { bars, inWords } from "./bars.js";
import { chips } from "./chips.js";
import { element, replace } from "./dom.js";
import { Engine } from "./engine.js";
import { textField } from "./field.js";
import { droppedFiles, modelFiles } from "./folder.js";
import { fitState, movedMasks, readAddress, wordsOf, writeAddress } from "./state.js";
import { tabs } from "./tabs.js";
import { attentionView } from "./view_attention.js";
import { changeView } from "./view_change.js";
import { compareView } from "./view_compare.js";
import { contextsView } from "./view_contexts.js";
import { nextView } from "./view_next.js";
import { stepsView } from "./view_steps.js";
import { swapView } from "./view_swap.js";
import { WordPiece } from "./wordpiece.js";

const MOST_CHIPS = 300;
const OTHER_GAPS = /_{2,}|\[mask\]|<mask>/iu; // as others write a gap
const at = (name) => document.getElementById(name);

/** The page with its model. */
class Playground {
  constructor({ name, start, samples, sources, files, address, weights, worker }) {
    Object.assign(this, { name, start, samples, sources, about: null, look: null, known: null });
    this.engine = new Engine(worker);
    const { state, faults } = readAddress(location.hash || address, start);
    this.state = state;
    this.views = {
      attention: attentionView(this),
      swap: swapView(this),
      change: changeView(this),
      compare: compareView(this),
      next: nextView(this),
      contexts: contextsView(this),
      steps: stepsView(this),
    };
    this.tabs = tabs(this.views, (view) => this.set({ view }));
    this.field = textField("A sentence", (text) => this.edit(text));
    this.build();
    this.opening = weights
      .then((text) => this.open(name, { ...files, weights: text }, faults))
      .catch((error) => this.say(error.message));
  }

  build() {
    const samples = this.samples.map(({ text, masks }) =>
      element(
        "button",
        { type: "button", class: "sample", onclick: () => this.set({ text, masks, token: null }) },
        text,
      ),
    );
    replace(
      at("sentence"),
      this.field.node,
      element("div", { class: "samples" }, element("span", {}, "Try:"), ...samples),
    );
    replace(at("views"), this.tabs.list, ...this.tabs.panels);
    addEventListener("hashchange", () => {
      if (location.hash === this.written || !this.about) return;
      const { state, faults } = readAddress(location.hash, this.start);
      this.show(state, faults);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.update());
    at("folder").addEventListener("change", ({ target }) => {
      this.take([...target.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
      target.value = "";
    });
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      this.take(droppedFiles(event.dataTransfer));
    });
  }

  /** Open what somebody dropped or chose; where it is no BERT, say so and keep the model that is there. */
  async take(files) {
    this.say("Reading the folder …");
    try {
      await this.opening;
      const { name, files: found } = await modelFiles(await files);
      await this.open(name, found, []);
      at("about").textContent = ""; // nobody knows what this one has read
    } catch (error) {
      this.say(error.message);
    }
  }

  async open(name, files, faults) {
    this.about = await this.engine.ask("open", files);
    this.name = name;
    this.tokenizer = new WordPiece(this.about.tokens, this.about.switches);
    const { layers, heads, size, parameters, tokens, positions } = this.about;
    at("model").textContent =
      `${name}: ${layers} layers of ${heads} heads, ${size} numbers for a token, a vocabulary of ` +
      `${tokens.length.toLocaleString("en")} pieces, ${parameters.toLocaleString("en")} weights. ` +
      `It reads up to ${positions} pieces.`;
    this.show(this.state, faults);
  }

  /** Take over a state that came from elsewhere, as far as this model can show it. */
  show(state, faults) {
    const fitted = fitState(state, this.about);
    this.state = fitted.state;
    this.say([...faults, ...fitted.faults].join(" "));
    this.update();
  }

  /** Change some of the state, and all that is seen with it. */
  set(changes) {
    Object.assign(this.state, changes);
    this.say("");
    this.update();
  }

  /** The sentence was edited: hidden words move along with their text. */
  edit(text) {
    if (!this.tokenizer) return void Object.assign(this.state, { text, masks: [] }); // read as soon as BERT is there
    const words = (one) => wordsOf(this.tokenizer.encode(one));
    const masks = movedMasks(words(this.state.text), words(text), this.state.masks);
    this.set({ text, masks, token: null });
  }

  toggle(word) {
    const { masks } = this.state;
    this.set({ masks: masks.includes(word) ? masks.filter((one) => one !== word) : [...masks, word], token: null });
  }

  ask(ask, asked, kind) {
    return this.engine.ask(ask, asked, kind);
  }

  say(sentence) {
    at("message").textContent = sentence;
    at("message").hidden = !sentence;
  }

  /** Ask the worker, and show the answer and the view that is open. What cannot be answered gets its sentence. */
  async update() {
    if (!this.tokenizer) return;
    const { state } = this;
    this.field.show(state.text);
    this.write();
    this.tabs.show(state.view);
    this.showPieces();
    try {
      const found = await this.ask("look", { text: state.text, masks: state.masks }, "sentence");
      if (!found) return; // a newer question is on its way
      this.look = { ...found, text: state.text };
      this.hideViews(false);
      this.showAnswers();
      await this.views[state.view].update();
    } catch (error) {
      this.say(error.message);
      this.showNothing();
    }
    document.body.dataset.ready = String(Number(document.body.dataset.ready ?? 0) + 1);
  }

  /** Where this sentence cannot be read, what was seen of the last one goes. */
  showNothing() {
    if (this.look?.text === this.state.text) return; // only the view has no answer
    replace(at("bars"));
    at("answer").textContent = "";
    this.hideViews(true);
  }

  /** Where there is nothing to look inside, the heading goes with the views. */
  hideViews(hidden) {
    at("views").hidden = hidden;
    at("inside").hidden = hidden;
  }

  write() {
    if (location.protocol === "about:") return; // in a frame of a notebook, which has no address of its own
    this.written = writeAddress(this.state, this.start);
    if (this.written !== (location.hash || "#")) history.replaceState(null, "", this.written);
    this.written = location.hash;
  }

  showPieces() {
    const { pieces } = this.read();
    const shown = chips(pieces.slice(0, MOST_CHIPS), {
      pressed: ({ word }) => this.state.masks.includes(word),
      click: ({ word }) => this.toggle(word),
      name: (word, on) => `${word}: ${on ? "hidden, show it" : "hide it"}`,
      ids: true,
    });
    replace(at("pieces"), ...shown, pieces.length > MOST_CHIPS ? element("span", {}, "…") : null);
    const unknown = pieces.some(({ token }) => token === "[UNK]");
    at("count").textContent =
      `${pieces.length} pieces, each with its id; [CLS] and [SEP] stand around every text. Choose a word to hide it ` +
      "from BERT." +
      (unknown ? " [UNK] stands for a word that this BERT has no pieces for: it cannot tell such words apart." : "");
  }

  /** The pieces on this side of the worker: at each key, before anything is computed. */
  read() {
    const { pieces } = this.tokenizer.sequence(this.state.text);
    const masks = new Set(this.state.masks);
    return {
      pieces: pieces.map((piece, position) => {
        const hidden = masks.has(piece.word);
        return { ...piece, position, type: 0, hidden, masked: hidden || piece.token === "[MASK]" };
      }),
    };
  }

  showAnswers() {
    const { answers } = this.look;
    const title = ({ position }, number) =>
      answers.length > 1 ? `[MASK] ${number + 1}, at position ${position + 1}` : "What stands at [MASK]?";
    replace(at("bars"), ...answers.slice(0, 4).map((answer, number) => bars(answer, { title: title(answer, number) })));
    at("answer").textContent = this.answerInWords(answers.slice(0, 4));
  }

  answerInWords(answers) {
    if (!this.about.fillsMasks) return "This model was not trained to fill masks: look inside it below.";
    if (!this.state.text.trim()) return "Write a sentence, and BERT reads it.";
    const how = "Choose a word above, or write [MASK] in its place, and BERT says what it would expect there.";
    const gap = OTHER_GAPS.exec(this.state.text);
    if (!answers.length) return `Nothing is hidden. ${gap ? `A gap is written [MASK], not ${gap[0]}.` : how}`;
    const which = (number) => (answers.length > 1 ? `[MASK] ${number + 1}: ` : "");
    return answers.map((answer, number) => which(number) + inWords(answer)).join("\n");
  }
}

/** The weights are the last and by far the longest element: the page is built while the browser still reads them. */
async function weightsWhenRead() {
  if (document.readyState === "loading") await new Promise((done) => addEventListener("DOMContentLoaded", done));
  const text = at("weights").textContent;
  at("weights").remove(); // the worker gets it
  return text;
}

const data = JSON.parse(at("data").textContent);
try {
  new Playground({ ...data, weights: weightsWhenRead(), worker: at("worker").textContent });
} catch {
  at("message").textContent = "This browser cannot compute here: open the page in a newer one.";
  at("message").hidden = false;
}
