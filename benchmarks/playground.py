"""How long somebody waits at the playground: from opening it to the first answer, and from a key to the picture.

    python benchmarks/playground.py              # both checkpoints of the course, a table in Markdown
    python benchmarks/playground.py --times 50

The page is opened in Chromium from the disk and from a server on this machine: in a fresh profile each time, and again
in a tab that stays open, as somebody does whose browser is running. The page's own clock counts, from the beginning of
the navigation until the first answer is drawn: what watches the page for this script takes time of its own. Then a
letter is written and taken away again at the end of a sentence of 24 tokens with a [MASK] in it, and the time counted
until the page has drawn the candidates and the attention of all heads. Median and 95th percentile, in milliseconds.
"""

import argparse
import contextlib
import functools
import http.server
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from bertedu import BertTokenizer
from bertedu.web.playground import write_playground

CHECKPOINTS = Path(__file__).resolve().parents[1] / "data" / "checkpoints"
TOKENS = 24
WORDS = "the capital of the country is in the north and the people of the city are at the [MASK] of the river"
TYPE = """async text => {
    const field = document.querySelector("#sentence textarea");
    const begun = performance.now();
    field.value = text;
    field.dispatchEvent(new Event("input"));
    await new Promise(done => new MutationObserver(done).observe(document.body, {attributes: true}));
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));  // the frame is drawn
    return performance.now() - begun;
}"""

DRAWN = """new MutationObserver((_, seen) => {
    if (!document.body?.dataset.ready) return;
    seen.disconnect();
    requestAnimationFrame(() => setTimeout(() => { globalThis.drawnAt = performance.now(); }));
}).observe(document, {subtree: true, attributes: true, attributeFilter: ["data-ready"]});"""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of the folder's files on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def opening(page: Page, address: str) -> float:
    """Milliseconds from the beginning of the navigation until the first answer is drawn."""
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    return page.wait_for_function("() => globalThis.drawnAt").json_value()


def in_fresh_profiles(browser: Browser, address: str, times: int) -> list[float]:
    """Openings, each as the first page of a browser without a history."""
    found = []
    for _ in range(times):
        context = browser.new_context()
        context.add_init_script(DRAWN)
        found.append(opening(context.new_page(), address))
        context.close()
    return found


def in_one_tab(browser: Browser, address: str, times: int) -> list[float]:
    """Openings in a browser that is running, without the first."""
    context = browser.new_context()
    context.add_init_script(DRAWN)
    page = context.new_page()
    found = [opening(page, address) for _ in range(times + 1)]
    context.close()
    return found[1:]


def typing(browser: Browser, address: str, text: str, times: int) -> list[float]:
    """Milliseconds from a key to the picture, for a text with one letter more, and without it."""
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", state="attached")
    for _ in range(5):  # the browser compiles what is run often
        page.evaluate(TYPE, text)
        page.evaluate(TYPE, f"{text} a")
    found = [page.evaluate(TYPE, text if number % 2 else f"{text} a") for number in range(times)]
    page.close()
    return found


def shown(values: list[float]) -> str:
    """Median and 95th percentile."""
    return f"{np.median(values):.0f} / {np.percentile(values, 95):.0f}"


def text_for(folder: Path) -> str:
    """A text that has 24 tokens with [CLS] and [SEP], one of them [MASK]."""
    tokenizer, words = BertTokenizer.from_pretrained(folder), WORDS.split()
    while tokenizer(" ".join(words)).input_ids.size(1) > TOKENS:
        words.pop(0)
    while tokenizer(" ".join(words)).input_ids.size(1) < TOKENS:
        words.append(".")
    return " ".join(words)


def main() -> None:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    print("| model | page, MB | file, fresh profile | file | server, fresh profile | server | key to picture |")
    print("|---|---|---|---|---|---|---|")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name, served(Path(name)) as server:
        browser = playwright.chromium.launch(executable_path=chromium)
        for model in ("world-tiny", "mixed-mini"):
            path = write_playground(CHECKPOINTS / model, Path(name) / f"{model}.html")
            cells = [
                f"{path.stat().st_size / 1e6:.1f}",
                *(
                    shown(open_often(browser, address, options.times))
                    for address in (path.as_uri(), f"{server}/{path.name}")
                    for open_often in (in_fresh_profiles, in_one_tab)
                ),
                shown(typing(browser, path.as_uri(), text_for(CHECKPOINTS / model), 4 * options.times)),
            ]
            print(f"| {model} | {' | '.join(cells)} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
