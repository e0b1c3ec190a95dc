"""Pictures that one can touch, as plain pages in Chromium with the network cut: each is worked, at two widths."""

import pytest
from support.explorable_examples import EXAMPLES

from bertedu.course.explorable import explorable


@pytest.fixture
def opened(page, asked_elsewhere, tmp_path):
    """Opens a picture as a file; whatever it complains of fails the test."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.context.set_offline(True)

    def open_it(name: str):
        file = tmp_path / f"{name}.html"
        file.write_text(explorable(name, **EXAMPLES[name]).page(), encoding="utf-8")
        page.goto(file.as_uri())
        return page

    yield open_it
    assert not complaints and not asked_elsewhere


def says(page) -> str:
    return page.get_by_role("status").inner_text()


def test_a_weighted_sum_follows_its_numbers(opened):
    page = opened("weighted_sum")
    assert says(page) == "[MASK] receives 0.80 · 1.0 + 0.20 · 0.0 = 0.80: plural."
    page.get_by_label("value of keys").fill("-1")
    assert says(page).endswith("= −0.80: singular.")
    page.get_by_label("query, number 1").fill("")  # no number: as it was
    assert says(page).endswith("= −0.80: singular.")
    page.get_by_role("button", name="hide").first.press("Enter")
    assert says(page).endswith("= 0.00: undecided.")
    page.get_by_role("button", name="hide").last.click()  # somebody must be attended to
    assert says(page).endswith("= 0.00: undecided.")
    page.get_by_role("button", name="as at the start").click()
    page.get_by_label("divide the scores, query · key, by √d").uncheck()
    assert "0.88 · 1.0" in says(page)


def test_pieces_follow_what_is_typed(opened):
    page = opened("pieces")
    page.get_by_label("A text").fill("bananas <b>")
    assert says(page).startswith("4 words")
    page.get_by_title("look at bananas").click()
    assert page.get_by_role("list").first.get_by_role("listitem").first.inner_text() == "bananas"
    page.get_by_label("A text").fill("[MASK]")
    assert "a special token: it is never cut" in page.inner_text("main")
    page.get_by_label("A text").fill("")
    assert says(page) == "0 words, 0 tokens."


def test_a_head_learns_while_one_watches_and_again_from_other_numbers(opened):
    page = opened("live_head")
    before = says(page)
    assert before.startswith("Before training")
    page.get_by_role("button", name="train 150 steps").click()
    page.get_by_text("After 150 steps the loss is 0.00: 100 %").wait_for()
    assert "the keys near the old lamp are wet" in " ".join(page.inner_text("main").split())
    page.get_by_role("button", name="other numbers at the start").press("Enter")
    assert says(page).startswith("Before training") and says(page) != before


def test_masks_follow_their_rates(opened):
    page = opened("mask_fates")
    page.get_by_label("chosen, % of all tokens").fill("100")
    page.get_by_label("of these [MASK], %").fill("0")
    page.get_by_label("of these random, %").fill("100")
    assert says(page).count("(a random token)") == 9
    page.get_by_label("of these [MASK], %").fill("60")  # no more than all
    assert page.get_by_label("of these random, %").input_value() == "40"
    page.get_by_role("button", name="draw 1,000 times").click()
    assert "in 1,000 draws: [MASK]" in page.inner_text("main")


def test_words_are_moved_by_keyboard_and_order_is_seen_with_positions_only(opened):
    page = opened("word_order")
    page.get_by_role("button", name="move dog down").press("Enter")
    page.keyboard.press("Enter")  # the button went along with its word
    assert says(page) == "“bites man dog”: every token has the same vector as at the start. Order cannot be seen."
    page.get_by_label("add position vectors").check()
    assert says(page).endswith("3 of 3 tokens have another vector than at the start. Order can be seen.")


def test_the_answer_follows_the_scores(opened):
    page = opened("span_scores")
    assert says(page) == "The best span starts at lamp, ends at lamp, with 7.0: “lamp”."
    page.get_by_label("an answer may end before it starts").check()
    assert says(page).endswith("with 7.5: empty, since it ends before it starts.")
    page.get_by_label("an answer may end before it starts").uncheck()
    page.get_by_label("start score of a", exact=True).fill("3.5")
    assert says(page).endswith("with 7.5: “a lamp”.")
    page.get_by_label("longest answer, tokens").fill("1")
    assert says(page).endswith("with 7.0: “lamp”.")


def test_the_best_path_follows_its_factors(opened):
    page = opened("best_path")
    assert says(page) == "Best path: N N O (480 of 1108, 43 %). Each word alone would take N O O."
    page.get_by_label("from N to N").fill("2.9")
    assert says(page).startswith("Best path: N O O (360")
    page.get_by_label("from N to N").fill("-1")  # no factor: as it was
    assert says(page).startswith("Best path: N O O (360")


def test_a_sentence_is_followed_and_its_words_are_changed_and_hidden(opened):
    page = opened("way")
    page.get_by_text("BERT expects “cat” (94 %)").wait_for()
    field = page.get_by_label("A sentence ([MASK] is a gap)")
    field.fill("A young [MASK] is called a puppy.")
    assert says(page).endswith("of 10: after the embeddings 1, after layer 1 10, after layer 2 10.")
    assert "BERT expects “dog”" in page.inner_text("main")
    page.get_by_title("puppy: hide it").press("Enter")
    assert page.get_by_text("What stands at position 7?").is_visible()
    field.fill("A <b>cat</b> is here.")
    assert says(page).endswith("at the start.") and "No word is hidden" in page.inner_text("main")
    field.fill("a " * 100)
    assert "The text has 102 tokens, the model 64 positions" in says(page)
    page.get_by_role("button", name="as at the start").click()
    assert says(page).startswith("This is the sentence at the start.")


def test_a_stack_loses_its_parts(opened):
    page = opened("stack")
    assert says(page).startswith("After 12 layers: mean cosine 0.19, size of the entries 1.00. The tokens are still")
    page.get_by_label("residual connections").uncheck()
    assert "mean cosine 1.00, size of the entries 1.00. The tokens are nearly the same" in says(page)
    page.get_by_label("LayerNorm").select_option("none")
    assert "2 · 10⁻¹³" in says(page)
    page.get_by_label("residual connections").check()
    page.get_by_label("weights: standard deviation, %").fill("20")
    assert "1 · 10¹²" in says(page)
    page.get_by_label("look after layer").fill("0")
    assert says(page).endswith("about as large as at the start.")
    before = page.locator("polyline").first.get_attribute("points")
    page.get_by_role("button", name="other random numbers").press("Enter")
    assert page.locator("polyline").first.get_attribute("points") != before


def test_a_berts_sizes_are_halved_and_doubled(opened):
    page = opened("parameters")
    assert says(page) == "109,482,240 parameters, as in base."
    page.get_by_role("button", name="halve heads").press("Enter")
    assert says(page) == "109,482,240 parameters, as in base."
    page.get_by_role("button", name="halve hidden size").click()
    assert says(page).endswith("70 % fewer than base has.")
    page.get_by_role("button", name="as at the start").click()
    page.get_by_label("begin with").select_option("tiny")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.get_by_role("button", name="halve layers").press("Enter")
    assert page.get_by_role("button", name="halve layers").is_disabled()


def test_a_schedule_changes_the_beginning_and_the_end_of_the_loss(opened):
    page = opened("learning_rate")
    assert says(page).startswith("The loss rises from 4.5 to ")
    constant = float(says(page).split(": ")[1].rstrip("."))
    page.get_by_label("the rate falls to 0 at the end").check()
    assert says(page).startswith("The loss rises from 4.5 to ")
    assert float(says(page).split(": ")[1].rstrip(".")) < constant / 3
    page.get_by_label("warm-up, % of the steps").fill("6")
    before = says(page)
    assert before.startswith("The loss never rises above its start.")
    page.get_by_role("button", name="other noise").press("Enter")
    assert says(page) != before


def test_a_threshold_is_moved_by_keyboard(opened):
    page = opened("threshold")
    assert says(page) == "From 0.50 on: precision 67 %, recall 67 %, F1 0.67."
    page.get_by_label("threshold, %").fill("40")
    assert says(page) == "From 0.40 on: precision 60 %, recall 100 %, F1 0.75."
    assert "3 found, 0 missed, 2 false alarms." in page.inner_text("main")
    page.get_by_label("threshold, %").press("End")
    assert says(page) == "From 0.99 on: precision none, nothing is chosen, recall 0.0 %, F1 0.00."


def test_scores_follow_the_tokens_that_take_part(opened):
    page = opened("token_matches")
    start = "score 5: [CLS] 1.00, mean 0.95, late interaction 0.90. Best partners: [CLS] → [CLS], trains → train"
    assert says(page).startswith(start)
    page.get_by_title("leave out stop").press("Enter")
    assert "late interaction 1.00" in says(page) and "stop" not in says(page)
    page.keyboard.press("Enter")  # the button kept the focus
    assert says(page).startswith(start)
    page.get_by_title("leave out [PAD]").click()  # padding takes part
    assert "[PAD] → " in says(page) and "mean 0.95" not in says(page)
    page.get_by_label("second sentence").select_option("score 0: bread")
    assert says(page).startswith("score 0: [CLS] 1.00")
    for token in ("[CLS]", "bread"):
        page.get_by_title(f"leave out {token}").first.click()  # the second stays: somebody must take part
    assert says(page).count("→ bread") == 4


def test_the_playground_opens_where_a_chapter_looks(opened):
    page = opened("playground")
    page.wait_for_selector("body[data-ready]", state="attached")
    assert page.get_by_label("A sentence").input_value() == "The capital of Brazil"
    assert page.locator("#tab-next").get_attribute("aria-selected") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_picture_fits_its_window_and_everybody(name, width, scheme, browser, tmp_path, screenshots, barriers):
    page = browser.new_page(viewport={"width": width, "height": 700}, color_scheme=scheme, reduced_motion="reduce")
    file = tmp_path / "page.html"
    file.write_text(explorable(name, **EXAMPLES[name]).page(), encoding="utf-8")
    page.goto(file.as_uri())
    page.screenshot(path=screenshots / f"explorable-{name}-{width}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not barriers(page)
    page.close()
