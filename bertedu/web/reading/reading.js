/**
 * bert.js read aloud: one step at a time, its code beside the tensors of a sentence. The text and the code of all steps
 * stand in the page; this shows one of them and computes its numbers. What is seen stands in the address.
 */

import { Bert } from "../answers.js";
import { bars, inWords } from "../bars.js";
import { fromBase64 } from "../base64.js";
import { run } from "../bert.js";
import { shownToken } from "../chips.js";
import { choice, element, replace } from "../dom.js";
import { textField } from "../field.js";
import { about } from "../tensor_names.js";
import { follows, headOf, numbers, strips } from "./tensors.js";

const MOST_TEXT = 2000; // characters of an address's text
const TYPED = "input, textarea, select, pre, .scroll"; // here the arrow keys mean something else
const at = (name) => document.getElementById(name);

/** The page with its model. */
class Reading {
  constructor({ files, text, steps, weights }) {
    this.bert = new Bert({ ...files, weights: fromBase64(weights) });
    this.steps = steps;
    this.start = { step: steps[0].name, text, second: "", token: null, head: 0 };
    this.state = { ...this.start };
    this.fields = {
      text: textField("A sentence ([MASK] is a hidden word)", (said) => this.set({ text: said, token: null })),
      second: textField("A second sentence, if you like", (said) => this.set({ second: said, token: null })),
    };
    this.heads = element("span", {});
    replace(at("sentence"), element("div", { class: "fields" }, this.fields.text.node, this.fields.second.node));
    this.build();
    this.read();
  }

  build() {
    const move = (by) => () => this.move(by);
    this.back = element("button", { type: "button", "data-key": "back", onclick: move(-1) }, "← Back");
    this.next = element("button", { type: "button", "data-key": "next", onclick: move(1) }, "Next →");
    this.says = element("p", { role: "status" });
    replace(at("walk"), element("div", { class: "choices" }, this.back, this.next, this.says, this.heads));
    for (const link of document.querySelectorAll("nav a")) {
      link.addEventListener("click", (event) => {
        event.preventDefault(); // the sentence stays
        this.set({ step: link.hash.slice(1) });
        at(this.state.step).scrollIntoView();
      });
    }
    addEventListener("hashchange", () => location.hash !== this.written && this.read());
    addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.target.closest?.(TYPED)) return;
      event.preventDefault();
      this.move(by);
    });
    addEventListener("resize", () => this.show());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  get number() {
    return this.steps.findIndex(({ name }) => name === this.state.step);
  }

  move(by) {
    const next = this.steps[this.number + by];
    if (next) this.set({ step: next.name });
  }

  /** Take over what the address says; what it says of nothing that is here is left out. */
  read() {
    const [step, ...rest] = location.hash.replace(/^#/, "").split("&");
    const said = new URLSearchParams(rest.join("&"));
    const state = { ...this.start };
    if (this.steps.some(({ name }) => name === step)) state.step = step;
    for (const name of ["text", "second"]) {
      if (said.has(name)) state[name] = said.get(name).slice(0, MOST_TEXT);
    }
    if (/^[1-9]\d?$/.test(said.get("token") ?? "")) state.token = Number(said.get("token")) - 1;
    if (/^[1-9]\d?$/.test(said.get("head") ?? "")) state.head = Number(said.get("head")) - 1;
    this.state = state;
    this.update();
  }

  set(changes) {
    const step = this.state.step;
    Object.assign(this.state, changes);
    this.update();
    const scrolled = at("walk").getBoundingClientRect().top <= 0; // the bar sticks to the window's top
    if (step !== this.state.step && scrolled) at(this.state.step).scrollIntoView();
  }

  write() {
    const said = new URLSearchParams();
    for (const name of ["text", "second"]) {
      if (this.state[name] !== this.start[name]) said.set(name, this.state[name]);
    }
    if (this.state.token !== null) said.set("token", this.state.token + 1);
    if (this.state.head) said.set("head", this.state.head + 1);
    const rest = String(said);
    this.written = `#${this.state.step}${rest && `&${rest}`}`;
    if (location.hash !== this.written && (location.hash || this.state.step !== this.start.step || rest)) {
      history.replaceState(null, "", this.written);
    }
    this.written = location.hash;
  }

  /** Compute all tensors of the sentence, and show those of the step. What cannot be read gets its sentence. */
  update() {
    for (const name of ["text", "second"]) this.fields[name].show(this.state[name]);
    this.write();
    try {
      const { pieces, ids, types } = this.bert.read({ text: this.state.text }, this.state.second || null);
      const scored = pieces.filter((piece) => piece.masked).map((piece) => piece.position);
      this.found = { pieces, ids, scored, tensors: run(this.bert.model, ids, types, { scored }) };
      this.say("");
    } catch (error) {
      this.found = null;
      this.say(error.message);
    }
    this.show();
  }

  say(sentence) {
    at("message").textContent = sentence;
    at("message").hidden = !sentence;
  }

  show() {
    const { number, steps } = this;
    this.back.disabled = number === 0;
    this.next.disabled = number === steps.length - 1;
    const told = `Step ${number + 1} of ${steps.length}: ${steps[number].title}`;
    if (this.says.textContent !== told) this.says.textContent = told;
    for (const { name } of steps) at(name).hidden = name !== this.state.step;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === `#${this.state.step}`) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    this.showTokens();
    this.showTensors(steps[number].tensors);
  }

  /** The token whose numbers are written out: the chosen one, or else the first [MASK]. */
  get token() {
    const { pieces, scored } = this.found;
    return Math.min(this.state.token ?? scored[0] ?? 1, pieces.length - 1);
  }

  showTokens() {
    const pieces = this.found?.pieces ?? [];
    const button = (piece) =>
      element(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-pressed": String(piece.position === this.token),
          "data-key": `token-${piece.position}`,
          onclick: () => this.set({ token: piece.position }),
        },
        element("span", { class: "piece" }, shownToken(piece), " ", element("small", {}, String(piece.id))),
      );
    replace(at("tokens"), ...pieces.map(button));
    const heads = Array.from({ length: this.bert.model.config.num_attention_heads }, (_, head) => [head, head + 1]);
    this.state.head = Math.min(this.state.head, heads.length - 1);
    const chosen = this.heads.contains(document.activeElement);
    replace(this.heads, choice("Head", heads, this.state.head, (head) => this.set({ head: Number(head) })));
    if (chosen) this.heads.querySelector("select").focus();
    this.heads.hidden = !this.steps[this.number].tensors.some((name) => /scores$|weights$/.test(name));
  }

  showTensors(names) {
    const place = at(this.state.step).querySelector(".tensors");
    if (!this.found) return replace(place);
    if (!names.length) return replace(place, this.list());
    replace(place, ...names.filter((name) => this.found.tensors.has(name)).map((name) => this.tensor(name)));
  }

  /** All tensors by name, in the order in which they are computed. */
  list() {
    const line = ([name, { shape }]) => element("li", {}, `${name} [${shape.join(", ")}]`);
    const lines = [...this.found.tensors].map(line);
    const head = `The Map that run returns for this sentence: ${lines.length} tensors.`;
    return element("div", {}, element("p", {}, head), element("ol", { class: "list" }, ...lines));
  }

  tensor(name) {
    const tensor = this.found.tensors.get(name);
    const [letters, text] = about(name);
    const shape = `${letters} = [${tensor.shape.join(", ")}]`;
    const head = element("h3", {}, element("code", {}, name), " ", element("small", {}, shape));
    const says = element("p", { class: "about" }, text);
    return element("div", { class: "tensor" }, head, says, ...this.picture(name, tensor));
  }

  picture(name, tensor) {
    if (name === "prediction_logits") return this.words();
    if (name === "seq_relationship_logits") return [element("p", { class: "numbers" }, follows(tensor))];
    const names = this.found.pieces.map(shownToken);
    if (tensor.shape.length === 3) {
      const choose = (token) => this.set({ token });
      return headOf(name, tensor, { head: this.state.head, token: this.token, names, choose });
    }
    const [rows, columns] = tensor.shape;
    const { scored } = this.found;
    const labels = { "masked_lm.norm": scored.map((one) => names[one]), pooler_output: ["[CLS]"] }[name] ?? names;
    const row = labels === names ? this.token : 0;
    if (!rows) return [element("p", {}, "No word is hidden: write [MASK] in the sentence.")];
    const vector = tensor.data.subarray(row * columns, (row + 1) * columns);
    return [strips(name, tensor, labels), numbers(labels[row], vector)];
  }

  /** The likeliest words at each [MASK]. */
  words() {
    const { tensors, pieces, scored } = this.found;
    const answers = this.bert.candidates(tensors, pieces, scored, 1);
    if (!answers.length) return [element("p", {}, "No word is hidden: write [MASK] in the sentence.")];
    const title = ({ position }) => `The likeliest words for token ${position + 1}, [MASK]`;
    return answers
      .slice(0, 3)
      .flatMap((answer) => [element("p", {}, inWords(answer)), bars(answer, { title: title(answer) })]);
  }
}

const data = JSON.parse(at("data").textContent);
try {
  new Reading({ ...data, weights: at("weights").textContent });
} catch {
  at("message").textContent = "This browser cannot compute here: open the page in a newer one. The code can be read.";
  at("message").hidden = false;
}
at("weights").remove(); // the model has it now
