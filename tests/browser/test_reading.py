"""bert.js read aloud, as its readers meet it: from a disk, with the network cut, by mouse and by keyboard."""

from pathlib import Path

import pytest

from bertedu.web.reading_aloud import read_steps, write_reading

CHECKPOINT = Path(__file__).resolve().parents[2] / "data" / "checkpoints" / "world-tiny"
STEPS = read_steps()


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    """The address of the page on the disk."""
    return write_reading(CHECKPOINT, tmp_path_factory.mktemp("reading") / "page.html").as_uri()


@pytest.fixture
def opened(page, asked_elsewhere, written):
    """Opens the page at a place; whatever it complains of fails the test."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.context.set_offline(True)

    def open_it(place: str = ""):
        page.goto(written + place)
        return page

    yield open_it
    assert not complaints and not asked_elsewhere


def step(page) -> str:
    return page.get_by_role("status").inner_text()


def test_all_steps_are_walked_by_arrow_keys_and_each_shows_its_tensors(opened):
    page = opened()
    assert step(page) == "Step 1 of 14: From ids to answers"
    assert page.get_by_role("button", name="Back").is_disabled()
    for number, told in enumerate(STEPS, start=1):
        assert step(page) == f"Step {number} of 14: {told['title']}"
        assert page.locator("section:visible").get_attribute("id") == told["name"]
        assert page.locator("section:visible h3 code").all_inner_texts() == told["tensors"]
        assert page.locator("nav [aria-current]").inner_text() == told["title"]
        page.keyboard.press("ArrowRight")
    assert page.get_by_role("button", name="Next").is_disabled() and page.url.endswith("#rest")
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith("#next")


def test_numbers_follow_the_sentence_and_the_chosen_token(opened):
    page = opened("#words")
    assert "BERT expects “cat” (94 %)" in page.inner_text("#words")
    page.get_by_label("A sentence ([MASK] is a hidden word)").fill("The capital of France is [MASK].")
    assert "BERT expects “paris”" in page.inner_text("#words")
    page.keyboard.press("ArrowLeft")  # in a field it moves the cursor
    assert page.url.startswith(page.url.split("#")[0] + "#words")
    page.get_by_role("link", name="Softmax: from scores to weights").click()
    page.get_by_role("button", name="france").press("Enter")
    assert "In head 1, “france” attends most to" in page.inner_text("#softmax")
    page.get_by_role("combobox", name="Head").select_option("2")
    assert "In head 2, “france” attends most to" in page.inner_text("#softmax")
    page.reload()  # all of it stands in the address
    assert "In head 2, “france” attends most to" in page.inner_text("#softmax")


def test_a_second_sentence_is_judged(opened):
    page = opened("#next")
    page.get_by_label("A sentence ([MASK] is a hidden word)").fill("The capital of Portugal is Lisbon.")
    page.get_by_label("A second sentence").fill("Gold is a metal.")
    assert "follows the first with" in page.inner_text("#next")
    assert float(page.inner_text("#next").rpartition("with ")[2].split()[-2]) < 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a " * 3000, "The text has 3002 tokens, the model 64 positions: shorten it."),
        ("<img src=x onerror=alert(1)> [MASK]", ""),
        ("Donaudampfschifffahrtsgesellschaft" * 6, ""),
        ("שלום עולם 你好 🙂 [MASK]", ""),
        ("", ""),
    ],
)
def test_any_text_is_read_or_refused_in_a_sentence(text, said, opened):
    page = opened("#residual")
    page.get_by_label("A sentence ([MASK] is a hidden word)").fill(text)
    assert page.locator("#message").inner_text() == said and not page.locator("main img").count()
    page.get_by_label("A sentence ([MASK] is a hidden word)").fill("A cat.")
    assert page.locator("#message").is_hidden() and page.locator("section:visible canvas").count() == 4


@pytest.mark.parametrize("place", ["#nowhere", "#softmax&head=99&token=77", "#&text=%E0%A4%A", "#words&text=%3Cb%3E"])
def test_a_damaged_address_still_opens(place, opened):
    assert step(opened(place)).startswith("Step ")


def test_text_and_code_are_there_without_a_script(browser, written):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written)
    assert page.locator("section").count() == page.locator("section:visible").count() == len(STEPS)
    assert page.locator("pre").first.get_attribute("aria-label") == "run in bert.js"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_step_fits_its_window_and_everybody(width, scheme, browser, written, screenshots, barriers):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    faults = []
    for one in STEPS:
        page.goto(f"{written}#{one['name']}")
        page.reload()
        page.screenshot(path=screenshots / f"reading-{one['name']}-{width}-{scheme}.png", full_page=True)
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            faults.append(f"{one['name']}: {wide} wide")
        faults += [f"{one['name']}: {fault}" for fault in barriers(page)]
    page.close()
    assert not faults, "\n".join(faults)
