"""What the website adds to Sphinx: formulas without a script, docstrings as written here, facts for machines."""

import re
from html import escape
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from bertedu.address import SITE
from bertedu.classroom.markup import formula

QUALIFIED = re.compile(r"~?\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")  # where a type is from
ITEM = re.compile(r"(?:-|\d+\.) ")


def inline_math(writer: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line, as MathML, which browsers draw without a script."""
    writer.body.append(formula(node.astext(), {"display_mode": False}))
    raise nodes.SkipNode


def block_math(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own, as MathML."""
    writer.body.append(f'<div class="formula" tabindex="0">{formula(node.astext(), {"display_mode": True})}</div>')
    raise nodes.SkipNode


def docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are prose: stars and bars in them mark nothing, and what is indented after a blank line is code."""
    done: list[str] = []
    code = in_list = False
    for line in lines:
        item = bool(ITEM.match(line))
        if (
            done
            and done[-1].strip()
            and ((item and not in_list) or (in_list and not item and not line.startswith("  ")))
        ):
            done.append("")  # Markdown's lists need no empty line around them
        in_list = item or (in_list and (line.startswith("  ") or not line.strip()))
        indented = line.startswith("    ")
        if indented and not code and (not done or not done[-1].strip()):
            done += ["::", ""]
            code = True
        code = code and (indented or not line.strip())
        done.append(line if code else re.sub(r"(?<!`)([*|])", r"\\\1", re.sub(r"(\w)_(?=\W|$)", r"\1\\_", line)))
    lines[:] = [*done, ""]


def signature(app: Sphinx, what: str, name: str, thing: Any, options: Any, given: str | None, returned: Any) -> Any:
    """Short names of types where a default such as <factory> keeps Sphinx from reading the signature."""
    return (QUALIFIED.sub("", given), returned) if given and "<" in given else None


def skipped(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a module only imports, also where that does not say where it comes from."""
    module = getattr(thing, "__module__", None) or ""
    return True if callable(thing) and not module.startswith("bertedu") else None


def facts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Facts of schema.org on the front page, and a link to a page's own address on all."""
    head = f'<link rel="canonical" href="{escape(SITE + page)}.html">'
    if page == app.config.root_doc:
        head = (
            f'<link rel="canonical" href="{SITE}"><script type="application/ld+json">{app.config.course_facts}</script>'
        )
    if page == "404":  # it is shown in place of a page at any depth
        root = urlsplit(SITE).path
        script = f'if (location.pathname.startsWith("{root}")) document.write(\'<base href="{root}">\')'
        head = f"<script>{script}</script>"
    context["metatags"] = context.get("metatags", "") + head


def without_search_index(app: Sphinx) -> None:
    """Pagefind searches; the index that Sphinx would write is never read."""
    setattr(app.builder, "search", False)  # noqa: B010 (only builders of HTML have it)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of all this."""
    app.add_config_value("course_facts", "{}", "html")
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-skip-member", skipped)
    app.connect("builder-inited", without_search_index)
    app.connect("html-page-context", facts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
