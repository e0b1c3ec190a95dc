"""HTML from templates, in which everything that is put in is escaped, and a name that was forgotten is an error."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

ENVIRONMENT = Environment(
    loader=PackageLoader("bertedu", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def template(text: str) -> Template:
    """A template that is short enough to stand in the code."""
    return ENVIRONMENT.from_string(text)


def page(name: str) -> Template:
    """A template in a file of the package: a path such as "classroom/grading/class.html.j2"."""
    return ENVIRONMENT.get_template(name)


def in_code(text: str) -> Markup:
    """A text with what stands between backticks as code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))


ENVIRONMENT.filters["in_code"] = in_code
