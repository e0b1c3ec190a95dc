"""Markdown and code as HTML that needs nothing else: formulas as MathML, figures in the page with their words."""

import base64
import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, TextLexer

# Text colours on the light grey of a block of code, each with a contrast of at least 4.5 to 1.
CODE_COLOURS = {"k": "#8a1a6b", "s": "#0b6134", "c": "#5b5b5b", "m": "#8f3a00", "nf": "#004c97", "nc": "#004c97"}
CODE_PAPER = "#f4f4f1"
GROUPS = {
    "k": ".k, .kc, .kd, .kn, .kr, .ow",
    "s": ".s, .s1, .s2, .sd, .sa, .si, .se",
    "c": ".c, .c1, .cm",
    "m": ".m, .mi, .mf",
    "nf": ".nf, .nd",
    "nc": ".nc",
}


def code_css() -> str:
    """The colours of code as rules of CSS."""
    return "\n".join(f":is({GROUPS[name]}) {{ color: {colour} }}" for name, colour in CODE_COLOURS.items())


def code_html(code: str, language: str = "python") -> str:
    """A block of code, coloured."""
    lexer = PythonLexer(stripnl=False) if language in ("python", "py") else TextLexer(stripnl=False)
    inner = highlight(code.rstrip("\n"), lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    return f'<pre class="code" tabindex="0"><code>{inner}</code></pre>'


def formula(content: str, options: dict[str, Any]) -> str:
    """A formula of Markdown as MathML, which browsers draw without a script. Its TeX stays as the alternative text."""
    display = "block" if options["display_mode"] else "inline"
    return with_words(convert(content.replace("½", r"\tfrac12 "), display=display), content)


def with_words(mathml: str, tex: str) -> str:
    """The formula with its TeX beside it, for a reader of the screen that does not know MathML."""
    return mathml.replace("<math ", f'<math alttext="{escape(" ".join(tex.split()))}" ', 1)


@cache
def parser() -> MarkdownIt:
    """Markdown as the notebooks write it: tables, formulas, and folded answers in HTML."""
    found = MarkdownIt("commonmark", {"html": True, "highlight": lambda code, language, _: code_html(code, language)})
    return found.enable("table").use(dollarmath_plugin, renderer=formula, double_inline=True)


def markdown_html(text: str, link: Callable[[str], str | None] = lambda address: address) -> str:
    """Markdown as HTML; `link` gives each address a new one, or None where the words stay and the link goes."""
    return mend_links(parser().render(text), link)


def inline_html(text: str, link: Callable[[str], str | None] = lambda address: None) -> str:
    """A sentence of Markdown as HTML, without a paragraph around it."""
    return mend_links(parser().renderInline(text), link)


def mend_links(html: str, link: Callable[[str], str | None]) -> str:
    """Each link with its new address, or only its words."""

    def mend(found: re.Match[str]) -> str:
        address = link(found[1])
        return found[2] if address is None else f'<a href="{escape(address)}">{found[2]}</a>'

    return re.sub(r'<a href="([^"]*)"[^>]*>(.*?)</a>', mend, html, flags=re.DOTALL)


def figure_html(output: Any, scale: float = 1.0) -> str:
    """A stored picture with the words that say what it shows, in the page itself, scaled."""
    data = "".join(output["data"]["image/png"])
    alt = output["metadata"].get("image/png", {}).get("alt", "")
    width, height = (round(scale * size) for size in png_size(data))
    return (
        f'<img alt="{escape(" ".join(alt.split()))}" width="{width}" height="{height}" '
        f'src="data:image/png;base64,{"".join(data.split())}">'
    )


def picture_html(svg: bytes, words: str) -> str:
    """A drawing with the words that say what it shows, in the page itself."""
    return f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'


def png_size(data: str) -> tuple[int, int]:
    """Width and height in pixels of a picture in base64."""
    header = base64.b64decode("".join(data.split())[:64])
    return int.from_bytes(header[16:20]), int.from_bytes(header[20:24])
