"""The website as its readers meet it: every page at three widths, light and dark, served from a folder below a root."""

import functools
import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest

WIDTHS = (1280, 768, 360)
SCHEMES = ("light", "dark")
REPOSITORY = Path(__file__).resolve().parents[2]
NOT_PAGES = ("_static", "pagefind")
PARTS = ("chapters", "teaching", "interview", "reference", "benchmarks", "explorables", "all others")
FOLDED = """[...document.querySelectorAll("details > :not(summary)")].filter(one => {
    const style = getComputedStyle(one);
    return !one.parentElement.open || style.animationName !== "none" || style.opacity !== "1";
}).map(one => one.textContent.slice(0, 60))"""
DRAWN = """async () => {
    for (const image of document.images) image.loading = "eager";
    await Promise.all([...document.images].map(image => image.decode().catch(() => 0)));
    return [...document.images].filter(image => !image.naturalWidth).map(image => image.src.slice(0, 120));
}"""
SERIOUS = """([without, options]) => axe.run({include: [document], exclude: without.map(one => [one])}, options)
    .then(result => result.violations.filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 150)}`))"""
VIOLATIONS = {"resultTypes": ["violations"], "preload": False}  # preloading asks for style sheets at wrong addresses
LAYOUT = {**VIOLATIONS, "rules": {"color-contrast": {"enabled": False}}}  # colours are those of the widest window
CODE = ["pre"]  # thousands of spans in a few colours: looked at on one page of each kind
CODE_IS_LOOKED_AT = ("chapters/03_self_attention.html", "reference/model.html")
TOO_WIDE = "() => document.documentElement.scrollWidth - innerWidth"


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_args) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The website, built anew, or the one whose folder BERTEDU_SITE names; links that lead nowhere fail here."""
    if built := os.environ.get("BERTEDU_SITE"):
        return Path(built)
    pytest.importorskip("myst_nb", reason="the site's packages are missing: pip install -e '.[site]'")
    from bertedu.website.building import build_site

    folder = tmp_path_factory.mktemp("built") / "site"
    build_site(REPOSITORY, folder)
    return folder


@pytest.fixture(scope="session")
def address(site) -> Iterator[str]:
    """The address of the site: a folder of its server, not the root."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/{site.name}/"
    server.shutdown()


def pages_of(site: Path, part: str) -> list[str]:
    """The pages in a folder of the site, or all that are in none of the other parts."""
    found = (path.relative_to(site) for path in sorted(site.rglob("*.html")))
    pages = [path for path in found if path.parts[0] not in NOT_PAGES]
    return [path.as_posix() for path in pages if (path.parts[0] if path.parts[0] in PARTS else PARTS[-1]) == part]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_page_of_the_site_is_whole_and_asks_for_nothing_outside(scheme, part, site, address, browser):
    """No request elsewhere, no error, every picture drawn, nothing too wide, and no serious finding of axe."""
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 1000}, color_scheme=scheme)
    page, faults = context.new_page(), []
    page.on("request", lambda one: one.url.startswith((address, "data:", "blob:")) or faults.append(f"asks {one.url}"))
    page.on("console", lambda one: one.type == "error" and faults.append(f"says {one.text[:150]}"))
    page.on("pageerror", lambda one: faults.append(f"fails: {str(one)[:150]}"))
    pages = pages_of(site, part)
    assert pages
    for name in pages:
        before = len(faults)
        page.set_viewport_size({"width": WIDTHS[0], "height": 1000})
        page.goto(address + name)
        page.evaluate(axe)
        faults += [f"does not draw {source}" for source in page.evaluate(DRAWN)]
        without = [] if name in CODE_IS_LOOKED_AT else CODE
        faults += page.evaluate(SERIOUS, [without, VIOLATIONS])
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1000})
            if (much := page.evaluate(TOO_WIDE)) > 1:
                faults.append(f"at {width}: {much} pixels too wide")
        if scheme == SCHEMES[0]:
            faults += [f"at {WIDTHS[-1]}: {one}" for one in page.evaluate(SERIOUS, [without, LAYOUT])]
        faults[before:] = [f"{name} {fault}" for fault in faults[before:]]
    context.close()
    assert not faults, "\n".join(faults)


def test_a_word_of_the_field_is_found_where_it_is_defined(address, page, shoot_site):
    page.goto(f"{address}search.html?q=perplexity")
    first = page.locator(".pagefind-ui__result-link").first
    first.wait_for()
    assert first.inner_text() == "Term: perplexity"
    shoot_site("search")
    first.click()
    page.wait_for_url("**/terms.html#term-perplexity")


def test_a_quiz_says_why_an_answer_is_wrong_and_counts(address, page):
    page.goto(f"{address}chapters/03_self_attention.html")
    questions = page.locator(".quiz fieldset")
    for number in range(questions.count()):
        for button in questions.nth(number).locator("button[data-right=true]").all():
            button.click()
    wrong = questions.first.locator("button[data-right=false]").first
    wrong.click()
    assert wrong.locator("xpath=following-sibling::p").is_visible()
    assert (
        page.locator(".quiz-score").inner_text()
        == f"{questions.count()} of {questions.count()} right at the first attempt."
    )


def test_on_paper_everything_is_unfolded_and_drawn(address, page):
    page.goto(f"{address}chapters/03_self_attention.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(FOLDED) == []
    assert page.locator("details.hide > summary:visible").count() == 0


def test_on_a_phone_the_answer_of_the_playground_is_seen_without_scrolling_in_its_frame(address, page):
    page.set_viewport_size({"width": 360, "height": 760})
    page.goto(address)
    frame = page.locator("iframe.playground")
    answer = page.frame_locator("iframe.playground").locator("text=BERT expects")
    answer.wait_for()
    assert answer.bounding_box()["y"] + 200 < frame.bounding_box()["y"] + frame.bounding_box()["height"]


def test_a_finished_chapter_has_a_tick_on_the_map_after_the_page_was_left(address, page):
    page.goto(f"{address}chapters/03_self_attention.html")
    page.get_by_label("I have finished chapter 03").check()
    page.goto(f"{address}chapters/index.html")
    assert page.locator(".map li.done").get_attribute("data-chapter") == "03"


def test_the_question_bank_is_searched_and_an_answer_is_folded_until_asked_for(address, page):
    page.goto(f"{address}interview/index.html")
    page.get_by_label("Search", exact=True).last.fill("padding mask")
    shown = page.locator("ul.bank li:visible")
    assert 0 < shown.count() < 40
    page.goto(f"{address}interview/attention.html")
    answer = page.locator("details.answer").first
    assert not answer.locator("p").first.is_visible()
    answer.locator("summary").click()
    answer.get_by_label("I said this").first.check()


def test_the_playground_answers_on_the_front_page(address, page, asked_elsewhere, shoot_site):
    page.goto(address)
    inside = page.frame_locator("iframe.playground")
    inside.get_by_text("BERT expects").wait_for()
    shoot_site("front")
    assert not asked_elsewhere


@pytest.fixture
def shoot_site(page, screenshots):
    """Keep a picture of what the window shows."""
    return lambda name: page.screenshot(path=screenshots / f"site-{name}.png")
