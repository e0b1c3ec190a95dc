"""The course speaks in the field's words: no private word in its prose where the field has a name for the thing."""

import re
from pathlib import Path

import pytest
from support.voice import ORDINARY, in_python, in_quiz, in_text, private_words, prose

from bertedu.course.rooms import CHAPTERS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = [path for path in sorted((ROOT / "bertedu").rglob("*.py")) if not path.is_relative_to(CHAPTERS)]


def lines(found: list) -> str:
    return "\n" + "\n".join(map(str, found))


def test_a_docstring_or_a_message_has_a_word_of_our_own():
    found = [one for path in PACKAGE for one in in_python(path, ROOT)]
    assert not found, lines(found)


@pytest.mark.parametrize("room", sorted(CHAPTERS.glob("ch*")), ids=lambda room: room.name)
def test_a_chapter_has_a_word_of_our_own(room):
    modules = [*room.glob("[0-9]*.py"), *(room / "exercises").glob("*.py")]
    assert len(modules) >= 2
    found = [one for path in sorted(modules) for one in in_python(path, ROOT)]
    found += in_quiz(room / "quiz.json", ROOT)
    assert not found, lines(found)


def test_the_question_bank_has_a_word_of_our_own():
    found = [one for path in sorted((ROOT / "data" / "interview").rglob("*.toml")) for one in in_text(path, ROOT)]
    assert not found, lines(found)


def test_an_exception_is_listed_that_nobody_needs():
    for name, word in ORDINARY:
        assert word in (ROOT / name).read_text(encoding="utf-8").lower(), f"{name} no longer says {word!r}"


# How words are found ------------------------------------------------------------------------------------------------

PRIVATE = """
Every token looks at itself. | The head may look at [SEP]. | [MASK] takes its share. | the place of a token
twice as loud
a row of tokens | a published start | at a higher rate | turned round | the spread of scores | two deviations
how much it doubts | the silence of a window | forbidden steps | steps between tags | drawn by lot | erasing a word
the head is silenced | the most decided | better than counting | shared words | mean surprise | it hesitates
the likelihood criterion | four times as dear | a space behind it | Whoever reads | it hangs on the seed
this comes far
"""
FIELD = """
Look at the last line. | in place | it takes place | two decimal places | a row of the matrix | rows of a table
start the run | the learning rate | the dropout rate | turned into | it turned out | spread over two lines
the standard deviation | optimizer steps | three steps | the idea behind it | behind the scenes | counting words
a surprising result | `looks at` | `place` | replaced | come from far away
"""


def phrases(text: str) -> list[str]:
    return [phrase.strip() for phrase in re.split(r"[|\n]", text) if phrase.strip()]


@pytest.mark.parametrize("text", phrases(PRIVATE))
def test_a_private_word_goes_unseen(text):
    assert list(private_words(text))


@pytest.mark.parametrize("text", phrases(FIELD))
def test_a_word_in_its_ordinary_sense_is_refused(text):
    assert not list(private_words(text))


def test_a_term_of_the_field_is_refused_because_its_line_ends():
    assert not list(private_words("# the learning\n# rate and the standard\n# deviation"))
    assert [line for line, *_ in private_words("# one\n# the\n# rate")] == [2]


CODE = '''"""Tells, at the end, what it\nhangs on."""
# A token
# looks at others.
place = f"{place} is behind {place} here"
'''


def test_a_line_is_named_that_is_another(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(CODE, encoding="utf-8")
    assert [(one.line, one.word) for one in in_python(path, tmp_path)] == [
        (2, "hangs on"),
        (3, "token looks at"),
        (5, "behind"),
    ]
    assert "module.py, line 2: 'hangs on'; write: depends on" in str(in_python(path, tmp_path)[0])
    assert not list(prose("x = 'place'"))


def test_a_quiz_goes_unread(tmp_path):
    path = tmp_path / "03.json"
    path.write_text('[{"question": "a"}, {"question": "b", "answers": [{"answer": "the place"}]}]', encoding="utf-8")
    assert [(one.line, one.word) for one in in_quiz(path, tmp_path)] == [(2, "place")]
