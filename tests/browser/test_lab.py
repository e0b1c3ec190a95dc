"""What a reader sees and does in JupyterLab: views and widgets drawn, worked by keyboard, and nothing fetched."""

import json

import pytest

BUSY = "[...document.querySelectorAll('.jp-InputPrompt')].every(p => p.innerText.trim() !== '[*]:')"
READY = """name => {
    const widget = window.jupyterapp.shell.currentWidget;
    return widget?.context?.path === name && widget.sessionContext.session?.kernel?.status === 'idle';
}"""
CELL = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell"  # JupyterLab opens again what was open before
RUN_ALL = "window.jupyterapp.commands.execute('notebook:run-all-cells')"


@pytest.fixture
def shoot(page, screenshots):
    """Keep a picture of one element, or of what the window shows."""

    def shoot(name: str, element=None) -> None:
        (element or page).screenshot(path=screenshots / f"{name}.png")

    return shoot


def open_notebook(page, lab: str, name: str) -> None:
    page.goto(lab.replace("NAME", name))
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector(".jp-SplashScreen, #jupyterlab-splash", state="detached")


def run_all(page, name: str) -> None:
    page.wait_for_function(READY, arg=name)
    page.evaluate(RUN_ALL)
    page.wait_for_function(BUSY)
    errors = page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']")
    assert not errors.count(), errors.all_inner_texts()


def cell(page, code: str):
    """The cell whose code begins so."""
    return page.locator(CELL).filter(has=page.locator(".jp-InputArea", has_text=code)).first


def press(page, view, control: str, key: str, times: int = 1) -> None:
    """Go to a slider by its description and press a key, as somebody without a mouse."""
    row = view.locator(".widget-hslider").filter(has_text=control)
    row.locator(".noUi-handle").focus()
    for _ in range(times):
        page.keyboard.press(key)


def test_a_notebook_that_was_not_run_shows_its_pictures(page, lab, asked_elsewhere, shoot):
    open_notebook(page, lab, "views.ipynb")
    cell(page, "word_in_context(").locator(".jp-OutputArea-output img").wait_for()
    for code in ("head_view(", "model_view(", "attention_explorer(", "fill_mask_box(", "word_in_context("):
        assert cell(page, code).locator(".jp-OutputArea-output img").count() == 1, code
    assert "the model sees" in cell(page, "masking_playground(").locator("table").first.inner_text()
    assert "Error displaying widget" not in page.inner_text("body")
    shoot("stored-explorer", cell(page, "attention_explorer("))
    shoot("stored-playground", cell(page, "masking_playground("))
    assert not asked_elsewhere


def test_views_and_widgets_work_in_the_browser(page, lab, ticks, asked_elsewhere, shoot):
    open_notebook(page, lab, "views.ipynb")
    run_all(page, "views.ipynb")
    look_at_bertviz(page, shoot)
    explore_attention(page, shoot)
    play_with_masking(page, shoot)
    fill_masks(page, shoot)
    follow_a_word(page, shoot)
    touch_a_picture(page, shoot)
    answer_the_quiz(page, shoot, ticks, "quiz-views")
    turn_a_card(page, shoot)
    take_an_interview(page, shoot)
    assert not asked_elsewhere


def touch_a_picture(page, shoot) -> None:
    view = cell(page, "explorable('weighted_sum'")
    inside = view.frame_locator("iframe[title^='What does a token collect']")
    assert "0.80 · 1.0" in inside.get_by_role("status").inner_text()
    inside.get_by_label("query, number 1").fill("-2")
    assert "0.20 · 1.0" in inside.get_by_role("status").inner_text()
    shoot("explorable", view)


def look_at_bertviz(page, shoot) -> None:
    view = cell(page, "head_view(weights")
    inside = view.frame_locator("iframe[title^='bertviz head view']")
    inside.locator("svg text", has_text="berlin").first.wait_for()
    inside.locator("#layer").select_option("1")
    inside.locator("#left text", has_text="capital").first.hover()
    shoot("bertviz-head-view", view)
    view = cell(page, "model_view(weights")
    inside = view.frame_locator("iframe[title^='bertviz model view']")
    inside.locator("svg rect").nth(1).wait_for(state="attached")
    inside.locator("svg").click(position={"x": 200, "y": 200})
    inside.locator("text", has_text="berlin").first.wait_for()
    shoot("bertviz-model-view", view)


def explore_attention(page, shoot) -> None:
    view = cell(page, "attention_explorer(model")
    region = view.get_by_role("region", name="Layer 1, head 1")
    lines = region.locator("line").count()
    press(page, view, "smallest weight", "ArrowRight", 20)
    page.wait_for_function("([e, n]) => e.querySelectorAll('line').length < n", arg=[view.element_handle(), lines])
    press(page, view, "layer", "ArrowRight")
    press(page, view, "head", "ArrowRight")
    region = view.get_by_role("region", name="Layer 2, head 2")
    region.wait_for()
    view.get_by_role("button", name="2 berlin").focus()
    page.keyboard.press("Enter")
    region.get_by_text("Token 2, berlin, attends to:").wait_for()
    assert view.locator("select").input_value() == "2 berlin"
    shoot("attention-explorer", view)


def play_with_masking(page, shoot) -> None:
    view = cell(page, "masking_playground(tokenizer")
    press(page, view, "chosen, %", "ArrowRight", 15)
    press(page, view, "of these [MASK]", "ArrowLeft", 40)
    view.get_by_text("5 of 16 tokens have a label").wait_for()
    view.get_by_text("The loss is").wait_for()
    view.locator("input[type='checkbox']").focus()
    page.keyboard.press("Space")
    shoot("masking-playground", view)


def fill_masks(page, shoot) -> None:
    view = cell(page, "fill_mask_box(model")
    view.get_by_label("sentence").fill("The capital of [MASK] is [MASK].")
    view.get_by_text("[MASK] number 2").wait_for()
    press(page, view, "answers", "ArrowLeft", 2)
    page.wait_for_function("e => e.querySelectorAll('tbody tr').length === 6", arg=view.element_handle())
    view.get_by_label("sentence").press("End")
    page.keyboard.type(" And")
    view.get_by_text("The capital of [MASK] is [MASK]. And").first.wait_for()
    shoot("fill-mask-box", view)


def follow_a_word(page, shoot) -> None:
    view = cell(page, "word_in_context(model")
    view.get_by_text("bank at layer 2 of 2").wait_for()
    press(page, view, "layer", "Home")
    view.get_by_text("bank at layer 0 of 2: embeddings only").wait_for()
    press(page, view, "layer", "ArrowRight", 2)
    view.locator("select").select_option("2 He brought his money to the bank.")
    view.get_by_text("Compared with 2 He brought").wait_for()
    shoot("word-in-context", view)


def answer_the_quiz(page, shoot, ticks, name: str) -> None:
    """Its first answer is explained, and the kernel keeps whether it was right."""
    quiz = page.locator(CELL).filter(has=page.locator(".MCButton")).last
    quiz.locator(".MCButton").first.click()
    feedback = quiz.locator(".Feedback").first
    page.wait_for_function("e => e.innerText.trim().length > 0", arg=feedback.element_handle())
    shoot(name, quiz.locator(".Quiz").first)
    told = quiz.locator(".bertedu-quiz-answers input")
    page.wait_for_function("e => e.value.startsWith('{\"1\":')", arg=told.element_handle())
    right = json.loads(told.input_value())["1"]
    for _ in range(100):
        if ticks.exists():
            break
        page.wait_for_timeout(200)
    kept = [tick.split(".1: ")[1] for tick in json.loads(ticks.read_text("utf-8"))]
    assert kept == ["right" if right else "wrong"]
    ticks.unlink()


def turn_a_card(page, shoot) -> None:
    view = cell(page, "flashcards('attention')")
    cards = view.locator(".flip-container")
    cards.get_by_text("divide the scores by √d").first.wait_for()
    shoot("flashcard-front", view)
    cards.focus()
    page.keyboard.press("Space")
    cards.get_by_text("its variance is d").first.wait_for()
    page.wait_for_timeout(1000)  # until it has turned
    shoot("flashcard-back", view)


def take_an_interview(page, shoot) -> None:
    view = cell(page, "interview('attention')")
    view.get_by_text("divide the scores by √d").first.wait_for()
    view.get_by_role("button", name="I have answered").focus()
    page.keyboard.press("Enter")
    view.get_by_text("Tick what you said").wait_for()
    view.locator("input[type='checkbox']").first.focus()
    page.keyboard.press("Space")
    view.get_by_role("button", name="Go on").focus()
    page.keyboard.press("Enter")
    view.get_by_text("Follow-ups").wait_for()
    shoot("interview", view)
    assert view.locator("input[type='checkbox']").count() == 3


def test_every_chapter_runs_in_jupyterlab_and_fetches_nothing(page, lab, ticks, asked_elsewhere, shoot):
    open_notebook(page, lab, "01_wordpiece_tokenizer.ipynb")
    run_all(page, "01_wordpiece_tokenizer.ipynb")
    view = page.locator(CELL).filter(has=page.locator(".widget-text")).first  # its code is hidden
    view.get_by_label("text").fill("an electrocardiogram")
    view.get_by_text("##", exact=False).last.wait_for()
    shoot("chapter-01-widget", view)
    answer_the_quiz(page, shoot, ticks, "chapter-01-quiz")
    assert not asked_elsewhere


def test_a_page_outside_is_noticed(page, lab, asked_elsewhere):
    open_notebook(page, lab, "views.ipynb")
    page.evaluate("fetch('https://example.com/').catch(() => 0)")
    page.evaluate("new Image().src = 'http://example.org/a.png'")
    page.wait_for_timeout(500)
    assert asked_elsewhere == ["https://example.com/", "http://example.org/a.png"]
