"""Markdown in pieces: the texts that a translator reads, and around them what stays as it is.

A text is a paragraph, the text of a list item or heading, a row of a table, or a text inside HTML (a summary, a label
of a figure, the words that say what a figure shows). Blocks of code, formulas and all other HTML are kept.
"""

import re
from collections.abc import Callable

Change = Callable[[str, str, int], str]  # (text, what it is, its line from 0) -> the text to put there

FENCE = re.compile(r"\s*(```+|~~~+)")
HEADING = re.compile(r"(\s{0,3}#{1,6}\s+)(.*)")
ITEM = re.compile(r"(\s*(?:[-*+]|\d{1,9}[.)])\s+)(\S.*)")
QUOTE = re.compile(r"\s{0,3}> ?")
HTML = re.compile(r"\s{0,3}</?[a-zA-Z][^>]*>?|\s{0,3}<!--")
RULER = re.compile(r"[|\s:=-]+")  # the line below a table's head, and a line across the page
SPOKEN = re.compile(
    r"(?:<(?P<tag>summary|figcaption|title|desc|text|caption|th|td|p)\b[^>]*>(?P<inner>.*?)</(?P=tag)>)"
    r'|(?:\b(?P<name>alt|aria-label|title)="(?P<value>[^"]*)")',
    re.DOTALL,
)
NAMES = {"summary": "summary", "text": "label in a figure", "alt": "what a figure shows", "aria-label": "figure"}
KEPT = re.compile(r"`+[^`]*`+|\$\$.*?\$\$|\$[^$\s][^$]*\$|<[^>]*>|(?<=\])\([^)]*\)", re.DOTALL)


def has_words(text: str) -> bool:
    """Whether there is something to translate beside code, formulas, tags and addresses."""
    return bool(re.search(r"[^\W\d_]{2,}", KEPT.sub(" ", text)))


def is_block(line: str) -> bool:
    """Whether a line begins something that is no continuation of a paragraph."""
    return not line.strip() or any(
        pattern.match(line) for pattern in (FENCE, HEADING, ITEM, QUOTE, HTML, re.compile(r"\s*(\||\$\$)"))
    )


def rewritten(source: str, change: Change, first: int = 0) -> str:
    """The Markdown with change(text, what it is, line) in place of every text."""
    lines, out, at = source.split("\n"), [], 0
    while at < len(lines):
        end = end_of_block(lines, at)
        out.append(block("\n".join(lines[at:end]), change, first + at))
        at = end
    return "\n".join(out)


def end_of_block(lines: list[str], at: int) -> int:
    """The line after the block that begins at a line."""
    line = lines[at]
    if fence := FENCE.match(line):
        return next_line(lines, at, lambda other: other.strip().startswith(fence[1])) + 1
    if line.strip().startswith("$$"):
        if line.strip().endswith("$$") and len(line.strip()) > 3:
            return at + 1
        return next_line(lines, at, lambda other: other.strip().endswith("$$")) + 1
    if HTML.match(line):
        return next_line(lines, at, lambda other: not other.strip())
    if QUOTE.match(line):
        return next_line(lines, at, lambda other: not QUOTE.match(other))
    if not line.strip() or HEADING.match(line) or line.lstrip().startswith("|") or RULER.fullmatch(line):
        return at + 1
    end = at
    while not hard_break(lines[end]) and end + 1 < len(lines) and not is_block(lines[end + 1]):
        end += 1
    return end + 1


def next_line(lines: list[str], at: int, ends: Callable[[str], bool]) -> int:
    """The first line after `at` for which it ends, or the last line and one where none does."""
    return next((place for place in range(at + 1, len(lines)) if ends(lines[place])), len(lines))


def hard_break(line: str) -> bool:
    """Whether Markdown breaks the line here on the page too."""
    return line.endswith(("  ", "\\"))


def block(text: str, change: Change, line: int) -> str:
    """One block with its texts replaced."""
    first = text.partition("\n")[0]
    if not text.strip() or FENCE.match(first) or first.strip().startswith("$$") or RULER.fullmatch(text):
        return text
    if HTML.match(first):
        return inside_html(text, change, line)
    if QUOTE.match(first):
        inner = "\n".join(QUOTE.sub("", part, count=1) for part in text.split("\n"))
        return "\n".join(f"> {part}".rstrip() for part in rewritten(inner, change, line).split("\n"))
    what, before = "paragraph", re.match(r"\s*", text)[0]  # type: ignore[index]
    if first.lstrip().startswith("|"):
        what = "row of a table: keep the number of |"
    elif found := HEADING.match(first):
        what, before = "heading", found[1]
    elif found := ITEM.match(first):
        what, before = "list item", found[1]
    after = "  " if text.endswith("  ") else "\\" if text.endswith("\\") else ""
    words = " ".join(text[len(before) : len(text) - len(after)].split())
    return f"{before}{change(words, what, line)}{after}" if has_words(words) else text


def inside_html(html: str, change: Change, line: int) -> str:
    """HTML with the texts replaced that a reader sees or hears."""

    def change_one(found: re.Match[str]) -> str:
        part = "value" if found["name"] else "inner"
        text, start = found[part], found.start(part)
        words = " ".join(text.split())
        if not has_words(words):
            return found[0]
        if found["tag"] and re.search(r"<(?!/?(?:code|em|strong|b|i|tspan)\b)", text):  # others inside: one by one
            opening = found.string[found.start() : start]
            return f"{opening}{SPOKEN.sub(change_one, text)}</{found['tag']}>"
        what = NAMES.get(found["name"] or found["tag"], "text in HTML")
        new = change(words, what, line + found.string.count("\n", 0, start))
        new = text[: len(text) - len(text.lstrip())] + new + text[len(text.rstrip()) :]
        return f"{found.string[found.start() : start]}{new}{found.string[found.end(part) : found.end()]}"

    return SPOKEN.sub(change_one, html)
