/**
 * The page's side of the worker: questions go out, answers come back, and of questions of one kind only the newest
 * waits, so that fast typing never queues up work.
 */

/** Asks a worker. */
export class Engine {
  /** @param {string} code  the script of `worker.js`, joined */
  constructor(code) {
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = () =>
      this.receive({ error: "The computing thread of this page stopped: load the page again." });
    this.waiting = new Map(); // by kind, in the order in which they were first asked
    this.running = null;
    this.number = 0;
  }

  /**
   * @param {string} ask  "open", "look", "compare", "contexts" or "steps"
   * @param {object} asked
   * @param {string} kind  of questions of one kind the newest replaces one that still waits
   * @returns {Promise<object | null>} the answer; null where a newer question took this one's turn
   * @throws {Error} with a sentence, where there is no answer
   */
  ask(ask, asked, kind = ask) {
    return new Promise((resolve, reject) => {
      this.waiting.get(kind)?.resolve(null);
      this.waiting.set(kind, { ask, asked, resolve, reject });
      this.send();
    });
  }

  send() {
    if (this.running || !this.waiting.size) return;
    const [kind, question] = this.waiting.entries().next().value;
    this.waiting.delete(kind);
    this.running = question;
    this.worker.postMessage({ number: ++this.number, ask: question.ask, asked: question.asked });
  }

  receive({ answer, error, milliseconds }) {
    const question = this.running;
    this.running = null;
    if (error) question?.reject(new Error(error));
    else question?.resolve(Object.assign(answer, { milliseconds }));
    this.send();
  }
}
