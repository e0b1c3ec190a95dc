"""The playground in Chromium, opened from the disk with the network cut: everything on it is worked."""

import base64
from pathlib import Path

import pytest
from support.small_runs import save_run

from bertedu.visualization import write_report
from bertedu.web.playground import write_playground

REPOSITORY = Path(__file__).resolve().parents[2]
TINY, MINI = (REPOSITORY / "data" / "checkpoints" / name for name in ("world-tiny", "mixed-mini"))
VIEWS = ("attention", "swap", "change", "compare", "next", "contexts", "steps")
SCRIPTS = "Ελληνικά עברית العربية हिन्दी ไทย 한국어 日本語 中文 🙂 e\u0301 \u202e"


@pytest.fixture(scope="session")
def written(tmp_path_factory) -> str:
    """The address of the page with the smallest checkpoint."""
    return write_playground(TINY, tmp_path_factory.mktemp("page") / "playground.html").as_uri()


@pytest.fixture
def complaints(page) -> list[str]:
    """What the page writes to the console, and errors that nobody caught."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text))
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.fixture(autouse=True)
def nothing_asked_and_nothing_said(page, complaints, asked_elsewhere):
    page.context.set_offline(True)
    yield
    assert not complaints and not asked_elsewhere


class Visitor:
    """Somebody at the page, who waits for each answer."""

    def __init__(self, page, address: str):
        self.page = page
        page.goto(address)
        self.wait("body[data-ready]")

    def wait(self, selector: str) -> None:
        self.page.wait_for_selector(selector, state="attached")

    def answers(self) -> int:
        return int(self.page.evaluate("document.body.dataset.ready"))

    def do(self, action) -> "Visitor":
        """Do something, until it has been answered."""
        before = self.answers()
        action()
        self.wait(f"body:not([data-ready='{before}'])")
        return self

    def view(self, name: str) -> "Visitor":
        return self.do(lambda: self.page.click(f"#tab-{name}"))

    def write(self, label: str, text: str) -> "Visitor":
        return self.do(lambda: self.page.get_by_label(label, exact=True).fill(text))

    def press(self, name: str) -> "Visitor":
        return self.do(lambda: self.page.get_by_role("button", name=name, exact=True).click())

    def word(self, title: str) -> "Visitor":
        return self.do(lambda: self.page.get_by_title(title, exact=True).click())

    def text(self, selector: str) -> str:
        return " ".join(self.page.locator(selector).inner_text().split())

    @property
    def answer(self) -> str:
        return self.text("#answer")

    @property
    def says(self) -> str:
        return self.text("[role=tabpanel]:not([hidden]) .says")

    @property
    def message(self) -> str:
        return self.text("#message") if self.page.locator("#message").is_visible() else ""

    @property
    def pieces(self) -> list[str]:
        return self.page.locator("#pieces .piece").evaluate_all("all => all.map(one => one.firstChild.textContent)")


@pytest.fixture
def visitor(page, written) -> Visitor:
    return Visitor(page, written)


def test_the_first_view_is_a_hidden_word_and_its_answers(visitor):
    assert "BERT expects “portuguese” (77 %), then “spanish” (20 %)." in visitor.answer
    assert visitor.pieces == ["[CLS]", "the", "people", "of", "brazil", "speak", "[MASK]", ".", "[SEP]"]
    assert visitor.page.locator("#bars li").count() == 6


def test_pieces_follow_each_key(visitor):
    field = visitor.page.get_by_label("A sentence", exact=True)
    field.fill("")
    seen = []
    for key in "unhappy":
        field.press(key)
        seen.append("".join(piece.removeprefix("##") for piece in visitor.pieces[1:-1]))
    assert seen == ["u", "un", "unh", "unha", "unhap", "unhapp", "unhappy"]


EARLY = """new MutationObserver((_, seen) => {
    const field = document.querySelector("#sentence textarea");
    if (!field) return;
    seen.disconnect();
    field.value = "A young [MASK] is called a calf.";
    field.dispatchEvent(new Event("input"));
}).observe(document, {subtree: true, childList: true});"""


def test_what_is_written_while_the_page_is_still_read_is_answered(page, written):
    page.add_init_script(EARLY)
    visitor = Visitor(page, written)
    assert visitor.pieces[1:4] == ["a", "young", "[MASK]"] and "“cow” (29 %)" in visitor.answer


def test_words_are_hidden_and_shown_again(visitor):
    visitor.word("portuguese: hidden, show it")
    assert "Nothing is hidden. Choose a word above, or write [MASK] in its place" in visitor.answer
    visitor.word("brazil: hide it").word("people: hide it")
    assert visitor.pieces[2] == visitor.pieces[4] == "[MASK]" and visitor.page.locator("#bars figure").count() == 2


def test_a_hidden_word_of_several_pieces_is_said_to_be_guessed_piece_by_piece(visitor):
    visitor.write("A sentence", "A pizza is food.").word("pizza: hide it")
    assert "[MASK] 2: BERT expects" in visitor.answer and "The hidden piece of “pizza” was “##zz”" in visitor.answer
    assert "the hidden piece of “pizza”" in visitor.text("#bars")


def test_a_hidden_word_stays_hidden_while_words_are_written_before_it(visitor):
    visitor.write("A sentence", "Today the people of Brazil speak Portuguese.")
    assert visitor.pieces[-3] == "[MASK]" and "The hidden word was “portuguese”" in visitor.answer


def test_attention_follows_head_and_token(visitor):
    assert visitor.says.startswith("In layer 2, head 2, “[MASK]” attends most to “brazil” 95 %")
    visitor.do(lambda: visitor.page.get_by_role("button", name="Layer 1, head 1", exact=True).click())
    assert visitor.says.startswith("In layer 1, head 1, “[MASK]” attends most to “speak” 75 %")
    token = visitor.page.locator(".query .token", has_text="speak")
    token.hover()
    assert visitor.page.locator(".key .token").all_inner_texts()[4].startswith("brazil")
    visitor.do(token.click)
    assert visitor.says.startswith("In layer 1, head 1, “speak”")
    visitor.page.locator(".heatmap").hover(position={"x": 110, "y": 110})
    assert "gives" in visitor.text("[role=tabpanel]:not([hidden]) .cell")


def test_a_swapped_word_changes_the_answer(visitor):
    visitor.view("swap")
    assert "Now BERT expects “french” (98 %)" in visitor.says
    visitor.write("The sentence with another word", "The people of Japan speak Portuguese.")
    assert "Now BERT expects “japanese”" in visitor.says
    visitor.write("The sentence with another word", "The people of the large Japan speak Portuguese.")
    assert "different numbers of pieces" in visitor.text("#panel-swap")
    visitor.write("A sentence", "A young cow is called a calf.").word("calf: hide it")
    assert visitor.says.startswith("This is another sentence than the one above")
    visitor.press("Begin with the sentence above")
    assert visitor.says == "Both sentences are the same: change a word in this one."


def test_another_sentence_above_is_the_one_in_which_a_word_is_swapped(visitor):
    visitor.view("swap").press("A young cow is called a calf.")
    assert visitor.says == "Both sentences are the same: change a word in this one."
    visitor.write("The sentence with another word", "A young cat is called a calf.")
    assert "Now BERT expects “kitten”" in visitor.says


def test_an_ablated_head_changes_the_answer(visitor):
    visitor.view("change")
    assert "Nothing is changed yet" in visitor.says
    visitor.press("Ablate layer 2, head 2")
    assert visitor.says.startswith("With 1 head ablated: the first answer changes.")
    visitor.press("Put everything back").word("brazil: block it")
    assert visitor.says.startswith("With 1 token blocked: the first answer changes.")
    visitor.press("Put everything back")
    visitor.do(lambda: visitor.page.get_by_label("Temperature").select_option("4"))
    assert visitor.says.startswith("With temperature 4: the first answer stays.")
    visitor.do(lambda: visitor.page.get_by_label("with that of").select_option("4"))
    assert "two positions swapped" in visitor.says


def test_sentences_are_compared_judged_and_put_on_a_map(visitor):
    visitor.view("compare")
    assert "Closest of different words: “[MASK]” and “portuguese”" in visitor.says
    visitor.view("next")
    assert "follows the first (97 %)" in visitor.says
    visitor.write("The second sentence", "A young cow is called a calf.")
    assert "does not follow" in visitor.says
    visitor.view("contexts")
    assert "Closest: sentences 1 and 3" in visitor.says and visitor.page.locator(".map circle").count() == 4
    visitor.write("Sentences with it, one a line", "The bank lends money.\nShe sat on the bank of the river.")
    assert visitor.says.startswith("Sentences 1 and 2 (cosine 0.") and visitor.says.endswith("compare with.")
    visitor.write("Sentences with it, one a line", "The bank lends money.\nNothing here.")
    assert "was not found in 1 of the sentences" in visitor.says


def test_every_step_is_shown_with_its_shape_and_its_code(visitor):
    visitor.view("steps")
    names = visitor.page.locator("#panel-steps option").all_inner_texts()
    assert names[0].startswith("embeddings.token [9, 128]") and len(names) == 37
    for name in names:
        assert f": {name.split()[0]}, [" in visitor.says and "function " in visitor.text("#panel-steps code"), name
        if name != names[-1]:
            visitor.press("Next →")


@pytest.mark.parametrize("view", VIEWS)
def test_a_link_shows_what_was_seen(view, visitor, page, written):
    visitor.write("A sentence", "Paris is the capital of France.").view(view)
    seen, address = (visitor.says, visitor.answer, visitor.pieces), page.evaluate("location.href")
    page.goto("about:blank")
    again = Visitor(page, address)
    assert (again.says, again.answer, again.pieces) == seen


def test_an_address_that_changes_is_followed_and_can_be_gone_back_from(visitor):
    follow = lambda: visitor.page.evaluate("location.hash = '#text=A+young+cow+is+called+a+calf.&masks=7'")  # noqa: E731
    assert "“calf”" in visitor.do(follow).answer
    assert "“portuguese”" in visitor.do(visitor.page.go_back).answer


def test_a_damaged_address_gets_a_sentence_and_the_page_goes_on(page, written):
    visitor = Visitor(page, f"{written}#layer=99&head=x&masks=1+2+a&view=none&%E0%A4%A&text=%3Cimg+src%3Dx%3E")
    assert "cannot be read: it was left out" in visitor.message and visitor.pieces[1:5] == ["[UNK]", "i", "##m", "##g"]
    assert page.locator("#pieces img, #answer img").count() == 0
    visitor.press("Paris is the capital of France.")
    assert not visitor.message and "“paris”" in visitor.answer


def test_three_thousand_tokens_and_every_script_leave_the_page_alive(visitor):
    visitor.write("A sentence", "the " * 3000)
    assert visitor.message == "The text has 3002 tokens, the model 64 positions: shorten it."
    assert not visitor.answer and not visitor.page.locator("#views").is_visible()
    assert not visitor.page.get_by_text("Look inside").is_visible()
    visitor.write("A sentence", SCRIPTS)
    assert not visitor.message and "[UNK]" in visitor.pieces
    assert "[UNK] stands for a word that this BERT has no pieces for" in visitor.text("#count")
    visitor.write("A sentence", "<script>alert(1)</script> & [MASK]")
    assert "script" in "".join(visitor.pieces).replace("##", "") and "BERT expects" in visitor.answer
    visitor.write("A sentence", "")
    assert visitor.pieces == ["[CLS]", "[SEP]"] and not visitor.message
    assert visitor.answer == "Write a sentence, and BERT reads it."
    for view in VIEWS[1:]:
        visitor.view(view)


@pytest.mark.parametrize("gap", ["___", "[mask]", "<mask>"])
def test_a_gap_written_in_another_way_is_told_how_to_be_written(visitor, gap):
    visitor.write("A sentence", f"The people of Brazil speak {gap}.")
    assert visitor.answer == f"Nothing is hidden. A gap is written [MASK], not {gap}."


def test_what_is_missing_in_a_view_is_said_in_it(visitor):
    visitor.view("next").write("The second sentence", " ")
    assert visitor.says == "Write a second sentence."
    visitor.write("A sentence", "[MASK]").view("change")
    for token in ("[CLS]", "[MASK]", "[SEP]"):
        visitor.word(f"{token}: block it")
    assert visitor.says == "Every token is blocked: leave one to attend to." and not visitor.message


def test_a_folder_of_ones_own_answers_and_another_gets_a_sentence(visitor, tmp_path):
    choose = visitor.page.locator("#folder").set_input_files
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("nothing")
    choose(tmp_path / "empty")
    visitor.page.get_by_text("There is no config.json in what was dropped").wait_for()
    (tmp_path / "other").mkdir()
    for path in TINY.iterdir():
        (tmp_path / "other" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "other" / "config.json").write_text('{"model_type": "roberta"}')
    choose(tmp_path / "other")
    visitor.page.get_by_text("This is a model of the type “roberta”").wait_for()
    visitor.word("brazil: hide it")
    assert "BERT expects" in visitor.answer
    visitor.do(lambda: choose(MINI))
    assert visitor.text("#model").startswith("mixed-mini: 4 layers of 4 heads")
    visitor.write("A sentence", "He looked at the [MASK] and said nothing.")
    assert "BERT expects “door” (19 %)" in visitor.answer


def test_the_report_of_a_run_leads_to_its_own_bert(page, tmp_path):
    page.goto(write_report(save_run(tmp_path / "my-run")).as_uri())
    page.get_by_role("link", name="Ask it on a page of its own").click()
    page.wait_for_selector("body[data-ready]", state="attached")
    assert page.inner_text("#model").startswith("my-run: ") and "BERT expects" in page.inner_text("#answer")


DROP = """files => {
    const transfer = new DataTransfer();
    for (const [name, text] of Object.entries(files)) {
        transfer.items.add(new File([Uint8Array.from(atob(text), one => one.charCodeAt(0))], name));
    }
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
}"""


def test_dropped_files_answer(visitor):
    visitor.write("A sentence", "He looked at the [MASK] and said nothing.")
    files = {
        path.name: base64.b64encode(path.read_bytes()).decode() for path in MINI.iterdir() if path.suffix != ".png"
    }
    visitor.do(lambda: visitor.page.evaluate(DROP, files))
    assert visitor.text("#model").startswith("your model: 4 layers") and "“door” (19 %)" in visitor.answer
    visitor.page.evaluate(DROP, {"config.json": base64.b64encode(b'{"model_type": "gpt2"}').decode()})
    visitor.page.get_by_text("There is no model.safetensors beside config.json").wait_for()


def test_the_keyboard_reaches_everything(visitor):
    page = visitor.page
    page.locator("#tab-attention").focus()
    for name in (*VIEWS[1:], VIEWS[0]):
        visitor.do(lambda: page.keyboard.press("ArrowRight"))
        assert page.evaluate("document.activeElement.id") == f"tab-{name}"
    visitor.do(lambda: page.keyboard.press("End"))
    assert page.evaluate("document.activeElement.id") == "tab-steps"
    page.get_by_title("brazil: hide it").focus()
    visitor.do(lambda: page.keyboard.press("Enter"))
    assert page.evaluate("document.activeElement.title") == "brazil: hidden, show it"  # the focus stays
    order = []
    page.get_by_label("A sentence", exact=True).focus()
    for _ in range(8):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.textContent.slice(0, 12)"))
    assert order[:2] == ["The people o", "Paris is the"] and order[4].startswith("the")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_fits_its_window_and_everybody(width, scheme, browser, written, screenshots, barriers):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    visitor = Visitor(page, written)
    for view in VIEWS:
        visitor.view(view)
        page.screenshot(path=screenshots / f"playground-{view}-{width}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        assert not barriers(page), view
    page.close()


def test_unnamed_pictures_and_fields_are_none(visitor):
    for view in VIEWS:
        visitor.view(view)
        unnamed = visitor.page.evaluate(
            """() => [...document.querySelectorAll('canvas, svg, button, textarea, select, input')].filter(one =>
                !one.closest('[aria-hidden=true]') && !one.ariaLabel && !one.labels?.length && !one.textContent.trim()
            ).map(one => one.outerHTML.slice(0, 80))"""
        )
        assert not unnamed
