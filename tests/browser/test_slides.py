"""Every slide of every deck in a browser: it fits its page at two sizes, is read easily, and asks for nothing."""

import pytest

from bertedu.classroom.handout import write_handouts
from bertedu.classroom.slides import write_slides
from bertedu.course.building.places import Places

NAMES = [path.stem for path in Places().all_sources()]
# Turns the pages with the right arrow, as a teacher does, and says of each what does not fit.
MEASURE = """() => {
  const faults = [], slides = [...document.querySelectorAll('.slide')];
  for (const [i, slide] of slides.entries()) {
    if (slide.hidden) faults.push(`slide ${i + 1} is not shown`);
    const page = slide.getBoundingClientRect(), foot = slide.querySelector('.foot').getBoundingClientRect();
    const scale = page.width / 1280, say = (what, e) => faults.push(`slide ${i + 1}: ${e.tagName} ${what}`);
    if (page.right > innerWidth + 1 || page.bottom > innerHeight + 1) say('leaves the window', slide);
    for (const e of slide.querySelectorAll('.kicker, h1, h2, .body, .body *')) {
      const box = e.getBoundingClientRect();
      if (!box.width || (e.closest('svg') && e.tagName !== 'svg')) continue;
      if (box.bottom > foot.top + 1) say(`is ${Math.round(box.bottom - foot.top)} too low`, e);
      if (box.right > page.right - 60 * scale || box.left < page.left + 20 * scale) say('is too wide', e);
      const inner = Math.max(e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight);
      if (e.tagName === 'PRE' && inner > 1) say('is cut', e);
      if (e.tagName === 'IMG' && (!e.alt || box.height < 150 * scale)) say('is too small, or has no words', e);
    }
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  }
  return [slides.length, faults];
}"""
CONTRAST = """() => {
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const parts = c => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0.5) return c.slice(0, 3); } return [255, 255, 255]; };
  const pale = new Set();
  document.documentElement.classList.remove('js');
  document.querySelectorAll('[hidden]').forEach(e => e.hidden = false);
  document.querySelectorAll('details').forEach(e => e.open = true);
  for (const e of document.querySelectorAll('main *')) {
    if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(parts(getComputedStyle(e).color).slice(0, 3)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) pale.add(`${e.tagName}.${e.className}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return [...pale];
}"""


@pytest.fixture(scope="session")
def decks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decks")
    return {path.stem.removesuffix("_slides"): path for path, _ in write_slides((), folder)}


@pytest.fixture(scope="session")
def handouts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handouts")
    return [*write_handouts((), folder), *write_handouts((), folder, solutions=True)]


@pytest.mark.parametrize("name", NAMES)
def test_every_slide_fits_its_page_can_be_read_and_fetches_nothing(name, decks, page, asked_elsewhere):
    for width, height in ((1280, 720), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(decks[name].as_uri())
        page.reload()
        count, faults = page.evaluate(MEASURE)
        print(f"{name} at {width}x{height}: {count} slides, {len(faults)} do not fit")
        assert not faults, "\n".join(faults)
    assert not page.evaluate(CONTRAST)
    assert not asked_elsewhere


def test_a_deck_is_used_with_the_keyboard(decks, page, screenshots):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(decks["03_self_attention"].as_uri())
    shown = "document.querySelector('.slide[aria-current]').getAttribute('aria-label').split(' ')[0]"
    for key, place in (
        ("ArrowRight", "2"),
        (" ", "3"),
        ("PageUp", "2"),
        ("End", "35"),
        ("Home", "1"),
        ("ArrowLeft", "1"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(shown) == place, key
    page.keyboard.press("o")
    page.keyboard.press("Tab")
    page.screenshot(path=screenshots / "slides-overview.png")
    page.keyboard.press("Enter")
    assert page.evaluate(shown) == "2" and page.url.endswith("#2")
    page.keyboard.press("b")
    assert page.locator("#below").is_visible() and "compute one attention head" in page.locator("#below").inner_text()
    page.keyboard.press("b")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    notes = popup.value
    notes.keyboard.press("ArrowRight")  # the window of notes turns the pages too
    assert page.evaluate(shown) == "3" and "The token embedding" not in notes.inner_text("h1")
    assert notes.inner_text("h1").startswith("3 of 35: Recall") and "Which three vectors" in notes.inner_text("#notes")


def test_a_deck_prints_one_slide_a_page(decks, page):
    page.goto(decks["00_start_here"].as_uri())
    count = page.locator(".slide").count()
    printed = page.pdf(prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") == count


def test_a_handout_can_be_read_fits_its_page_and_fetches_nothing(handouts, page, asked_elsewhere):
    page.set_viewport_size({"width": 1024, "height": 768})
    for path in handouts:
        page.goto(path.as_uri())
        assert not page.evaluate(CONTRAST), path.name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path.name
        assert page.evaluate("[...document.images].every(image => image.alt && image.complete)"), path.name
    assert not asked_elsewhere
