"""The questions in the chapters: what the bank says, every character of it, and nothing that stands twice."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbconvert.filters import markdown2html

from bertedu.classroom.markup import markdown_html
from bertedu.cli import main
from bertedu.course import data
from bertedu.course.building.places import Places
from bertedu.errors import UserError
from bertedu.interview import in_chapters
from bertedu.interview.bank import questions
from bertedu.interview.in_chapters import block, outdated, rewritten, safe, wrapped

PLACES = Places(Path(data.PACKAGE).parent)
BANK = questions(PLACES.chapters, PLACES.data / "interview")
SOURCES = [pytest.param(path, id=path.stem) for path in PLACES.all_sources()]
CHAPTER = Path("03_self_attention.py")
SOURCE = """# %% [markdown]
# ## Quiz
#
# ## Interview questions
#
# <!-- attention-01 -->
#
# <!-- attention-02 -->
#
# ## Next
#
# More.

# %%
1 + 1
"""


class Shown(HTMLParser):
    """The text that a page shows. Comments are not shown."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def shown(html: str) -> str:
    parser = Shown()
    parser.feed(html)
    return " ".join("".join(parser.text).replace("¶", "").split())


# What is shipped ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SOURCES)
def test_a_chapter_answers_as_the_bank(path):
    source = path.read_text(encoding="utf-8")
    assert rewritten(source, path, BANK) == source, f"run `bertedu interview chapters {path.name[:2]}`"


def test_no_question_stands_in_two_chapters():
    ids = [one for path in PLACES.all_sources() for one in re.findall(r"<!-- (\S+-\d\d) -->", path.read_text("utf-8"))]
    assert len(set(ids)) == len(ids) >= 2 * len(SOURCES)


@pytest.mark.parametrize("render", [markdown2html, markdown_html], ids=["nbconvert", "handout"])
def test_a_page_keeps_every_character_of_the_bank(render):
    first, second = in_chapters.FOLDS
    said = {one: f"1. {asked.question} {first} {asked.short} {second} {asked.long}" for one, asked in BANK.items()}
    page = render("\n\n@@@\n\n".join(f"<!-- {one} -->\n{block(question, 1)}" for one, question in BANK.items()))
    for (one, text), found in zip(said.items(), shown(page).split(" @@@ "), strict=True):
        assert found == " ".join(text.split()), one
    assert page.count("<details>") == page.count("</details>") == 2 * len(BANK)
    assert not re.search(r"<(em|del|h\d|li|table|a|math)\b", page)


# Texts that Markdown would take for something else ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4 and a_b_ and **x**",
        "p < q <b> and </details> and <!-- x -->",
        "costs $2, not $3",
        "p(a | b) and [text](address) and ![x](y)",
        "a ~~b~~ c ~d~ e &amp; f \\ g `h`",
        "the [MASK] token, ##ing, model.eval(), max_length=True, α_i v_i, no_grad()",
    ],
)
@pytest.mark.parametrize("render", [markdown2html, markdown_html], ids=["nbconvert", "handout"])
def test_markdown_in_a_text_of_the_bank_is_shown(text, render):
    assert shown(render(safe(text))) == text


@pytest.mark.parametrize("first", ["-", "+", "1.", "2)", "#", "##", ">", "=", "---", "==="])
def test_no_line_begins_a_list_or_a_heading(first):
    text = f"{'w' * 116} {first} and so on {'w' * 100}"
    page = markdown_html(wrapped(safe(text)))
    assert shown(page) == text and page.count("<p>") == 1 and not re.search(r"<(li|h\d|hr|blockquote)", page)


def test_a_name_of_code_looks_like_code():
    assert safe("Is model.eval() called before [MASK]?") == "Is `model.eval()` called before `[MASK]`?"
    assert safe("The sum of α_i v_i, i.e. x_i.") == r"The sum of α\_i v\_i, i.e. x\_i."


def test_two_paragraphs_stay_two():
    question = BANK["interview-01"]
    assert "\n\n" in question.long and block(question, 1).count("\n\n") == 6 + question.long.count("\n\n")


# Writing ------------------------------------------------------------------------------------------------------------


def test_a_section_is_written_from_its_ids():
    written = rewritten(SOURCE, CHAPTER, BANK)
    assert "# <!-- attention-01 -->\n# **1. Why does scaled" in written and "# **2. BERT's key projection" in written
    assert written.endswith("# </details>\n#\n# ## Next\n#\n# More.\n\n# %%\n1 + 1\n")
    assert all(len(line) <= 118 and line == line.rstrip() for line in written.splitlines())
    assert rewritten(written, CHAPTER, BANK) == written  # a second time changes nothing


def test_a_section_at_the_end_of_its_cell_leaves_the_next_cell_alone():
    alone = SOURCE.replace("#\n# ## Next\n#\n# More.\n", "")
    written = rewritten(alone, CHAPTER, BANK)
    assert written.endswith("# </details>\n\n# %%\n1 + 1\n") and rewritten(written, CHAPTER, BANK) == written
    end = alone.partition("\n# %%\n")[0]
    assert rewritten(end, CHAPTER, BANK).endswith("# </details>\n")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("attention-01", "attention-99", "no question attention-99"),
        ("attention-01", "encoder-02", "links encoder-02 to chapter 04"),
        ("attention-01", "attention-02", "stands twice"),
        ("# <!-- attention-01 -->\n#\n", "", "has 1 questions: give 2 or 3"),
        ("## Interview questions", "## Questions", "0 sections"),
        ("## Quiz", "## Interview questions", "2 sections"),
        ("# <!-- attention-01 -->", "# **1. My own?**", "line 6: this has no id"),
        ("-01 -->\n", "-01 -->\n# **1. Why?**\n#\n# **2. My own?**\n", "line 9: this has no id"),
        (
            "-01 -->\n",
            "-01 -->\n# **1. Why?**\n# <details>\n# So.\n# </details>\n# ### More\n",
            "line 11: this has no id",
        ),
    ],
)
def test_a_section_with_a_fault_is_refused(old, new, words):
    with pytest.raises(UserError) as error:
        rewritten(SOURCE.replace(old, new, 1), CHAPTER, BANK)
    assert words in str(error.value) and CHAPTER.name in str(error.value)


def test_a_question_does_not_link_to_the_section_that_asks_it():
    from dataclasses import replace

    bank = {**BANK, "attention-01": replace(BANK["attention-01"], section="Interview questions")}
    with pytest.raises(UserError, match="another section of this chapter"):
        rewritten(SOURCE, CHAPTER, bank)


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A course of one chapter, with the shipped questions of its room, all of one topic."""
    places = Places(tmp_path)
    room = places.chapters / f"ch{CHAPTER.stem}"
    room.mkdir(parents=True)
    shutil.copy(PLACES.chapters / room.name / "interview.toml", room)
    (places.data / "interview").mkdir(parents=True)
    (places.data / "interview" / "topics.toml").write_text('titles.attention = "Self-attention"', encoding="utf-8")
    path = room / CHAPTER.name
    path.write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(in_chapters, "Places", lambda: places)
    return path


def test_the_command_writes_and_checks_as_asked(course):
    run = CliRunner().invoke
    checked = run(main, ["interview", "chapters", "--check"])
    assert checked.exit_code == 1 and f"{CHAPTER.name}: its interview" in checked.output
    assert course.read_text("utf-8") == SOURCE and list(outdated(("3",), Places(course.parents[3]))) == [course]
    written = run(main, ["interview", "chapters", "3"])
    assert written.exit_code == 0 and f"wrote {CHAPTER.name}" in written.output
    assert course.read_text("utf-8") == rewritten(SOURCE, course, BANK)
    assert run(main, ["interview", "chapters", "--check"]).exit_code == 0
    assert "Nothing to do" in run(main, ["interview", "chapters"]).output


def test_an_unknown_chapter_is_refused(course):
    result = CliRunner().invoke(main, ["interview", "chapters", "77"])
    assert result.exit_code != 0 and "no source for 77" in result.output


def test_before_the_whole_bert_a_chapter_says_that_answers_use_words_of_later_ones():
    early = rewritten(SOURCE, CHAPTER, BANK)
    assert "# Real interviews ask these." in early and rewritten(early, CHAPTER, BANK) == early
    told = {path.stem[:2] for path in PLACES.all_sources() if "# Real interviews ask these." in path.read_text("utf-8")}
    assert told == {"00", "01", "02", "03", "04", "05"}
