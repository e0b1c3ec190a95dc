// A deck of slides: keys, an overview, notes under the slide or in a window of their own, and the number in the address.
"use strict";
(() => {
  const root = document.documentElement, slides = [...document.querySelectorAll(".slide")];
  const below = document.getElementById("below"), help = document.getElementById("help");
  const said = document.getElementById("said"), done = document.getElementById("done");
  let now = 0, speaker = null, began = Date.now();
  root.classList.add("js");

  const notes = i => slides[i] ? slides[i].querySelector("aside").innerHTML : "";
  const name = i => slides[i] ? slides[i].getAttribute("aria-label") : "the end";

  function show(i, quiet) {
    now = Math.max(0, Math.min(slides.length - 1, i));
    slides.forEach((slide, k) => {
      slide.hidden = k !== now;
      if (k === now) slide.setAttribute("aria-current", "true"); else slide.removeAttribute("aria-current");
    });
    done.style.width = 100 * (now + 1) / slides.length + "%";
    below.innerHTML = notes(now);
    below.scrollTop = 0;
    if (!quiet) said.textContent = name(now);
    try { history.replaceState(null, "", "#" + (now + 1)); } catch { location.hash = now + 1; }
    tell();
  }
  function fit() {
    root.style.setProperty("--scale", Math.min(innerWidth / 1280, innerHeight / 720));
  }
  function overview(on) {
    root.classList.toggle("all", on);
    slides.forEach(slide => on ? slide.setAttribute("tabindex", "0") : slide.removeAttribute("tabindex"));
    if (on) slides[now].focus(); else show(now, true);
  }
  function tell() {
    if (!speaker || speaker.closed) return;
    const page = speaker.document;
    page.getElementById("name").textContent = name(now);
    page.getElementById("next").textContent = "Next: " + name(now + 1);
    page.getElementById("notes").innerHTML = notes(now);
    speaker.scrollTo(0, 0);
  }
  function open_notes() {
    speaker = window.open("", "notes", "width=820,height=720");
    if (!speaker) { below.hidden = false; return; }  // the browser allows no second window
    const page = speaker.document;
    page.title = "Notes: " + document.title;
    page.documentElement.lang = root.lang;
    page.body.innerHTML = '<p><span id="clock"></span> · <span id="next"></span></p><h1 id="name"></h1><div id="notes"></div>';
    const style = page.createElement("style");
    style.textContent = "body{font:20px/1.5 sans-serif;margin:24px;color:#1d2430;background:#fff}h1{font-size:24px;color:#004c97}" +
      "pre{background:#f4f4f1;padding:10px;overflow:auto;font-size:16px}table{border-collapse:collapse}td,th{border:1px solid #c9d0d9;padding:4px 8px;text-align:left}";
    page.head.append(style);
    page.onkeydown = key;
    tell();
  }
  setInterval(() => {
    if (!speaker || speaker.closed) return;
    const seconds = Math.floor((Date.now() - began) / 1000);
    speaker.document.getElementById("clock").textContent = Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
  }, 1000);

  const actions = {
    next: () => show(now + 1), before: () => show(now - 1), first: () => show(0), last: () => show(slides.length - 1),
    overview: () => overview(!root.classList.contains("all")), notes: () => { below.hidden = !below.hidden; },
    speaker: open_notes, full: () => document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen(),
    help: () => { help.hidden = !help.hidden; if (!help.hidden) help.focus(); },
    close: () => { if (!help.hidden) help.hidden = true; else overview(!root.classList.contains("all")); },
  };
  const keys = { ArrowRight: "next", ArrowDown: "next", PageDown: "next", " ": "next", n: "next", ArrowLeft: "before", ArrowUp: "before",
    PageUp: "before", Backspace: "before", p: "before", Home: "first", End: "last", o: "overview", Escape: "close", b: "notes",
    s: "speaker", f: "full", "?": "help" };

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = root.classList.contains("all"), place = slides.indexOf(event.target);
    if (all && place >= 0 && (event.key === "Enter" || event.key === " ")) { now = place; overview(false); event.preventDefault(); return; }
    if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    const action = event.key === " " && event.shiftKey ? "before" : keys[event.key];
    if (!action || (all && !["overview", "close", "help"].includes(action))) return;
    event.preventDefault();
    actions[action]();
  }
  document.addEventListener("keydown", key);
  document.getElementById("bar").addEventListener("click", event => {
    if (event.target.dataset.do) { actions[event.target.dataset.do](); event.target.blur(); }
  });
  slides.forEach((slide, i) => slide.addEventListener("click", () => {
    if (root.classList.contains("all")) { now = i; overview(false); }
  }));
  let still;
  addEventListener("pointermove", () => {  // the buttons show while the pointer moves
    root.classList.add("moved");
    clearTimeout(still);
    still = setTimeout(() => root.classList.remove("moved"), 2500);
  });
  addEventListener("resize", fit);
  addEventListener("hashchange", () => show((parseInt(location.hash.slice(1), 10) || 1) - 1));
  fit();
  show((parseInt(location.hash.slice(1), 10) || 1) - 1, true);
})();
