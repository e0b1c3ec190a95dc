"""How much a slide holds: sizes of text on a page of 1280 by 720, and how high each part of a slide becomes.

The page is drawn at this size and scaled as a whole, so what fits here fits every screen. The estimates assume wide
letters; tests/browser measures every slide of every deck.
"""

import re
from dataclasses import dataclass
from html import escape
from math import ceil

from bertedu.classroom.markup import code_html, inline_html, parser
from bertedu.classroom.slides.sentences import shortened, visible_length
from bertedu.templates import template

WIDTH, HEIGHT = 1152, 518  # pixels for what stands under a title of one line
GAP = 18  # between parts
LEAST_FIGURE = 250
SIZE = 30  # pixels of a slide's text
LARGER = ("text", "points", "question", "takeaway", "quote", "dots")
CODE_SIZES = (30, 27, 25, 22, 20, 19)  # pixels; 96 characters of 0.602 em have room at 19
MOST_OF_CODE = 400  # pixels
CODE_LINE, CODE_EDGE = 1.34, 26
CHARACTERS_OF_A_TITLE = 46
TABLE_SIZE, TABLE_LINE = 22, 30
TABLE = template("""\
<div class="rows"><table>
<tr>{% for cell in head %}<th scope=col>{{ inline_html(cell)|safe }}</th>{% endfor %}</tr>
{% for row in rows %}
<tr>{% for cell in row %}<td>{{ inline_html(cell)|safe }}</td>{% endfor %}</tr>
{% endfor %}
</table></div>""")


@dataclass(frozen=True)
class Part:
    """A part of a slide and the pixels that it needs; a figure takes what is left."""

    kind: str
    html: str
    height: int


def lines_of(text: str, characters: int) -> int:
    """How many lines a text takes where so many characters stand in a line."""
    return max(1, ceil(visible_length(text) / characters))


def text_part(text: str) -> Part:
    """A sentence or two."""
    return Part("text", f"<p>{inline_html(text)}</p>", 42 * lines_of(text, 74))


def points_part(points: list[str], numbered: bool = False, small: bool = False) -> Part:
    """A list of sentences."""
    tag = "ol" if numbered else "ul"
    line, characters = (36, 81) if small else (41, 70)
    height = sum(line * lines_of(point, characters) + 14 for point in points)
    return Part(
        "points small" if small else "points",
        f"<{tag}>{''.join(f'<li>{inline_html(point)}</li>' for point in points)}</{tag}>",
        height,
    )


def question_part(text: str) -> Part:
    """A question to the room."""
    return Part("question", f"<p>{inline_html(text)}</p>", 46 * lines_of(text, 62) + 44)


def takeaway_part(text: str) -> Part:
    """What to notice."""
    return Part("takeaway", f"<p>{inline_html(text)}</p>", 40 * lines_of(text, 72) + 26)


def quote_part(text: str) -> Part:
    """An example set off from the text."""
    words = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    return Part(
        "quote",
        f"<blockquote>{parser().render(words)}</blockquote>",
        sum(46 * lines_of(line, 66) for line in words.splitlines()) + 10,
    )


def formula_part(text: str) -> Part:
    """A formula on lines of its own; a long one is smaller."""
    length = len(re.sub(r"\\[a-zA-Z]+|[{}\\$^_ ]", "", text))
    kind = "formula long" if length > 62 else "formula"
    return Part(kind, parser().render(text), 120)


def code_size(text: str, most: int) -> int | None:
    """The largest letters at which the longest line of code has room, and all lines; None where a line has none."""
    longest = max((len(line) for line in text.splitlines()), default=1)
    wide = [size for size in CODE_SIZES if size <= most and longest * 0.605 * size <= WIDTH - 40]
    low = [size for size in wide if size * CODE_LINE * len(text.splitlines()) <= MOST_OF_CODE]
    return next(iter([*low, *wide[-1:]]), None)


def code_part(code: str, kind: str = "code", most: int = 25) -> Part | None:
    """A block of code, or an output; None where a line is too long."""
    size = code_size(code, most)
    if size is None:
        return None
    block = code_html(code) if kind == "code" else f'<pre class="out">{escape(code)}</pre>'
    height = ceil(size * CODE_LINE * len(code.splitlines())) + CODE_EDGE
    return Part(kind, block.replace("<pre ", f'<pre style="font-size:{size}px" ', 1), height)


def table_part(head: list[str], rows: list[list[str]]) -> Part:
    """A table; wide first columns have room for their words."""
    columns = len(head)
    widest = [max(visible_length(row[i]) for row in [head, *rows]) for i in range(columns)]
    room = WIDTH / (TABLE_SIZE * 0.52) - 3 * columns
    total = sum(widest)
    share = [min(width, max(12.0, room * width / total)) for width in widest]
    height = 0
    for row in [head, *rows]:
        height += TABLE_LINE * max(lines_of(cell, int(share[i]) or 1) for i, cell in enumerate(row)) + 17
    return Part("table", TABLE.render(head=head, rows=rows, inline_html=inline_html), height)


def markdown_table_part(text: str, longest: int = 120) -> Part:
    """A table of Markdown, the text of each of its fields shortened."""
    rows = [[shortened(cell.strip(), longest) for cell in split_row(line)] for line in text.splitlines()]
    return table_part(rows[0], rows[2:])


def split_row(line: str) -> list[str]:
    """The fields of a line of a table of Markdown."""
    return line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0").split("|")


def figure_part(html: str) -> Part:
    """A figure, as large as the rest of the slide allows."""
    return Part("figure", html, LEAST_FIGURE)


def height_of(parts: list[Part], title: str) -> int:
    """The pixels that parts need below a title, one that breaks its line included."""
    return (
        sum(part.height for part in parts) + GAP * (len(parts) - 1) + 50 * (lines_of(title, CHARACTERS_OF_A_TITLE) - 1)
    )


def fits(parts: list[Part], title: str) -> bool:
    """Whether a slide has room for these parts."""
    return height_of(parts, title) <= HEIGHT


def letters(parts: list[Part], title: str) -> int:
    """The size of the text of a slide, in pixels: larger where nothing but text stands there, and little of it."""
    if any(part.kind not in LARGER for part in parts):
        return SIZE
    for size in (40, 37, 34):
        # Larger letters make more lines, and each of them higher.
        if height_of(parts, title) * (size / SIZE) ** 2 + 40 <= HEIGHT:
            return size
    return SIZE
