"""Handouts: what a learner must not read in them, what paper needs, and what a browser must not fetch."""

import re
from functools import cache
from html import escape

import pytest

from bertedu.classroom.handout import handout_html, write_handouts
from bertedu.classroom.stored import stored_chapters
from bertedu.errors import UserError
from bertedu.visualization.printing import CHOSEN


@cache
def page(solutions: bool, number: str = "03") -> str:
    return handout_html(stored_chapters((number,), solutions)[0], solutions, {})


def test_a_learners_handout_shows_no_solution():
    learner, solved = page(False), page(True)
    assert "Solution, explained" not in learner and "NotImplementedError" in learner
    assert "Solution, explained" in solved and "NotImplementedError" not in solved
    assert "SOLUTION" not in solved  # nbgrader's marks
    assert learner.count('<div class="room">') == 5 and '<div class="room">' not in solved


def test_answers_are_open_on_paper():
    assert '<details open=""><summary>Answer' in page(True)
    assert "<details><summary>Answer" in page(False)


def test_a_figure_keeps_the_words_that_say_what_it_shows():
    for solutions in (False, True):
        notebook = stored_chapters(("03",), solutions)[0].notebook
        pictures = [
            output.metadata["image/png"]["alt"]
            for cell in notebook.cells
            for output in cell.get("outputs", [])
            if "image/png" in output.get("data", {})
        ]
        assert len(pictures) == 3
        for alt in pictures:
            assert f'alt="{escape(" ".join(alt.split()))}"' in page(solutions)
    assert not re.search(r"<img (?![^>]*alt=\"[^\"])", page(True))


def test_a_handout_asks_no_other_machine_for_anything():
    for text in (page(False), page(True)):
        assert not re.search(r"""<[^>]* src=(?!["']?data:)|@import|url\(|<script|<link|<iframe""", text)
        assert "default-src 'none'" in text and "<math" in text


def test_a_widget_leaves_a_sentence_and_no_object_or_bar_of_progress():
    quiz = page(False).partition(">Quiz</h2>")[2]
    assert "Here the notebook has a part to work with" in quiz.partition("</section>")[2][:2000]
    for number in ("01", "08"):
        text = page(False, number)
        assert "VBox(" not in re.sub(r"<details class=\"drawing\">.*?</details>", "", text, flags=re.DOTALL)
        assert "%|" not in text and "IPython.core.display" not in text


def test_a_page_has_its_title_and_number():
    assert "<title>03 · Self-attention</title>" in page(False)
    assert "counter(page)" in page(False) and 'content: "Build BERT yourself · 03 · Self-attention"' in page(False)
    assert "with solutions" in page(True).partition("</title>")[0]


def test_links_lead_to_handouts_that_are_there(tmp_path):
    assert ".ipynb" not in re.sub(r"<pre.*?</pre>", "", page(False), flags=re.DOTALL)
    written = write_handouts(("3", "4"), tmp_path)
    assert [path.name for path in written] == ["03_self_attention_handout.html", "04_transformer_encoder_handout.html"]
    text = written[0].read_text(encoding="utf-8")
    assert '<a href="04_transformer_encoder_handout.html">' in text and "02_input_embeddings_handout" not in text


def test_a_machine_without_a_browser_gets_html(tmp_path, monkeypatch):
    monkeypatch.setenv(CHOSEN, "no-such-browser")
    with pytest.raises(UserError, match=r"are in .* as HTML, but not as PDF: .*no-such-browser"):
        write_handouts(("00",), tmp_path, pdf=True)
    assert [path.name for path in tmp_path.iterdir()] == ["00_start_here_handout.html"]
