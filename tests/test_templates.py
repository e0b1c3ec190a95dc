"""HTML from templates: what is put in is escaped, what was forgotten is an error, every template can be read."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

import bertedu
from bertedu.templates import ENVIRONMENT, in_code, page, template

PACKAGE = Path(bertedu.__file__).parent
HOSTILE = "<b>&\"'`x`"


def test_what_is_put_in_is_escaped_in_texts_and_attributes():
    made = template('<p title="{{ text }}">{{ text }}</p>').render(text=HOSTILE)
    assert made.count("&lt;b&gt;&amp;&#34;&#39;`x`") == 2 and "<b>" not in made


def test_a_name_that_was_forgotten_is_an_error():
    with pytest.raises(UndefinedError, match="text"):
        template("{{ text }}").render()


def test_only_what_stands_between_backticks_becomes_code():
    assert in_code("a `b<c` d ` e") == "a <code>b&lt;c</code> d ` e"
    assert in_code(HOSTILE) == "&lt;b&gt;&amp;&#34;&#39;<code>x</code>"


def test_every_template_of_a_page_can_be_read():
    names = [path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "classroom" / "grading").glob("*.j2")]
    assert names and all(page(name) for name in names)
    assert ENVIRONMENT.autoescape is True
