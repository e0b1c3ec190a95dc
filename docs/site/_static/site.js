// What the pages do: quizzes, ticks of finished chapters (kept in this browser), the search in the question bank, and
// paper on which everything is unfolded. Nothing is sent anywhere.
(function () {
  "use strict";
  const KEPT = "bertedu-finished";

  function finished() {
    try {
      return new Set(JSON.parse(localStorage.getItem(KEPT) || "[]"));
    } catch {
      return new Set(); // no storage, or something else has written there
    }
  }

  function keep(chapters) {
    try {
      localStorage.setItem(KEPT, JSON.stringify([...chapters].sort()));
    } catch {
      // a browser that keeps nothing shows ticks until the page is left
    }
  }

  function quiz(box) {
    const questions = [...box.querySelectorAll("fieldset")];
    const first = new Map(); // question -> whether the first attempt was right
    for (const question of questions) {
      const found = new Set();
      question.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        const right = button.dataset.right === "true";
        button.setAttribute("aria-expanded", "true");
        button.classList.add(right ? "right" : "wrong");
        button.nextElementSibling.hidden = false;
        if (right) found.add(button);
        if (!first.has(question) && (!right || found.size === Number(question.dataset.wanted))) first.set(question, right);
        const score = [...first.values()].filter(Boolean).length;
        if (first.size === questions.length)
          box.querySelector(".quiz-score").textContent = `${score} of ${questions.length} right at the first attempt.`;
      });
    }
  }

  function tick(box) {
    const chapter = box.dataset.chapter;
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "checkbox";
    input.checked = finished().has(chapter);
    input.addEventListener("change", () => {
      const chapters = finished();
      if (input.checked) chapters.add(chapter);
      else chapters.delete(chapter);
      keep(chapters);
      mark();
    });
    label.append(input, ` I have finished chapter ${chapter}`);
    box.append(label);
  }

  function mark() {
    const chapters = finished();
    for (const item of document.querySelectorAll(".map li[data-chapter]"))
      item.classList.toggle("done", chapters.has(item.dataset.chapter));
    for (const link of document.querySelectorAll(".bd-sidebar a[href], .bd-links a[href]")) {
      const found = /(?:^|\/)(\d\d[a-z]?)_\w+\.html$/.exec(link.getAttribute("href"));
      const here = link.classList.contains("current") && /\/chapters\/(\d\d[a-z]?)_/.exec(location.pathname);
      const number = (found && link.href.includes("/chapters/") && found[1]) || (here && here[1]);
      if (number) link.classList.toggle("done", chapters.has(number));
    }
  }

  function bank(form) {
    const [search, level] = [form.querySelector("input"), form.querySelector("select")];
    const lists = [...document.querySelectorAll("ul.bank")];
    const show = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const list of lists) {
        let here = 0;
        for (const item of list.children) {
          const text = `${item.textContent} ${item.dataset.words}`.toLowerCase();
          const fits = words.every((word) => text.includes(word)) && (!level.value || item.dataset.level === level.value);
          item.hidden = !fits;
          here += fits;
        }
        list.closest("section").hidden = !here;
        count += here;
      }
      form.querySelector("output").textContent = `${count} question${count === 1 ? "" : "s"}`;
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", show);
    show();
  }

  function points(answer) {
    const said = [...answer.querySelectorAll("p")].find((line) => line.textContent.startsWith("Must be said"));
    for (const point of said ? said.nextElementSibling.querySelectorAll("li") : []) {
      const input = document.createElement("input");
      input.type = "checkbox";
      input.setAttribute("aria-label", "I said this");
      point.prepend(input, " ");
    }
  }

  // What scrolls sideways can be scrolled from the keyboard.
  function reach() {
    for (const block of document.querySelectorAll("pre, .pst-scrollable-table-container, .cell_output .output, .formula"))
      if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }

  // Names for somebody who listens, where the theme gives none or another than what is written there.
  function name() {
    for (const button of document.querySelectorAll(".search-button-field, details.hide > summary"))
      button.removeAttribute("aria-label");
    for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
      const link = summary.closest("li")?.querySelector("a");
      summary.setAttribute("aria-label", `Show or hide the pages of ${link ? link.textContent.trim() : "this part"}`);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".quiz").forEach(quiz);
    document.querySelectorAll(".finished").forEach(tick);
    document.querySelectorAll(".bank-search").forEach(bank);
    document.querySelectorAll("details.answer").forEach(points);
    name();
    reach();
    mark();
  });
  window.addEventListener("resize", reach);

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => opened.forEach((one) => (one.open = false)));
})();
