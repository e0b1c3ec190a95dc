"""How words of our own are found in prose. They are advice (`make lint` prints it): no test fails for a word."""

import re

from support.faults import assert_none
from support.voice import advice, in_python, in_quiz, private_words, prose

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


def test_private_words_are_found():
    assert_none(text for text in phrases(PRIVATE) if not list(private_words(text)))


def test_words_in_their_ordinary_sense_are_left_alone():
    assert_none(text for text in phrases(FIELD) if list(private_words(text)))


def test_a_term_of_the_field_may_go_on_in_the_next_line():
    assert not list(private_words("# the learning\n# rate and the standard\n# deviation"))
    assert [line for line, *_ in private_words("# one\n# the\n# rate")] == [2]


CODE = '''"""Tells, at the end, what it\nhangs on."""
# A token
# looks at others.
place = f"{place} is behind {place} here"
'''


def test_the_line_of_a_word_is_named(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(CODE, encoding="utf-8")
    assert [(one.line, one.word) for one in in_python(path, tmp_path)] == [
        (2, "hangs on"),
        (3, "token looks at"),
        (5, "behind"),
    ]
    assert "module.py, line 2: 'hangs on'; write: depends on" in str(in_python(path, tmp_path)[0])
    assert not list(prose("x = 'place'"))


def test_a_quiz_is_read(tmp_path):
    path = tmp_path / "03.json"
    path.write_text('[{"question": "a"}, {"question": "b", "answers": [{"answer": "the place"}]}]', encoding="utf-8")
    assert [(one.line, one.word) for one in in_quiz(path, tmp_path)] == [(2, "place")]


def test_every_kind_of_prose_is_read_and_ordinary_words_are_left_out(tmp_path):
    quiz = '[{"question": "the place"}]'
    written = {
        "bertedu/a.py": "# the place",
        "bertedu/chapters/ch03_self_attention/quiz.json": quiz,
        "bertedu/chapters/ch11_tagging/quiz.json": quiz,
        "data/interview/a.toml": "text = 'the place'",
        "data/tasks/a.json": quiz,
        "docs/teaching/page.md": "the place",
        "docs/images/a.png": "the place",
        "CONTRIBUTING.md": "the place",
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    silent = ("/ch11_tagging/quiz.json", "tasks/a.json", ".png")
    assert [one.file for one in advice(tmp_path)] == [name for name in written if not name.endswith(silent)]
