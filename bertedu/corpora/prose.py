"""Plain English out of documentation: paragraphs without code, tables, roles and links.

Docstrings and README files are written in reStructuredText, Markdown, or a mixture of both, so one set of
plain rules reads them all: what is not surely prose is left out.
"""

import re

from bertedu.segmentation import split_sentences

BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)]|[a-z]\)|\(\d{1,2}\))\s+(?=\S)")
UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}")
FENCE = re.compile(r"(?:```|~~~)")
ADMONITION = re.compile(r"\.\. (?:note|warning|tip|important|caution|hint|attention|admonition)::\s*", re.IGNORECASE)
FIELD = re.compile(
    r"[:@][a-zA-Z][\w\s.,*~\\\[\]|]*:\s*|\*{0,2}`{0,2}[a-z_][\w.]*`{0,2}(?:\s*\([^()]*\))?\s*(?::|--)\s+"
)

# Markup and the plain words that replace it, in this order.
PLAIN = [
    (re.compile(r"!\[[^\]]*\]\([^)]*\)|<!--.*?-->"), " "),  # images and comments
    (re.compile(r"\[([^\[\]]+)\](?:\([^()\s]*\)|\[[^\[\]]*\])"), r"\1"),  # [words](target)
    (re.compile(r":(?:math|eq):`[^`]*`|\$[^$\s][^$]*\$"), "\\\\"),  # formulas: the sentence is left out
    (re.compile(r"(?::[\w+.:-]+:)?`([^`<>]+?)\s*<[^`<>]+>`_{0,2}"), r"\1"),  # `words <target>`_
    (re.compile(r"(?::[\w+.-]+)+:`[~!.]*(?:_\w+\.)?([^`<>]+?)`"), r"\1"),  # :role:`words`
    (re.compile(r"\s*\[(?:\d+|#\w*|[A-Z][\w+]*\d{2,4}\w?)\]_?"), ""),  # [1]_ citations
    (re.compile(r"``([^`]+)``"), r"\1"),
    (re.compile(r"`[~.!]*([^`]+)`_{0,2}"), r"\1"),
    (re.compile(r"\[`?([\w.~!]+)`?\]"), r"\1"),  # the references of transformers
    (re.compile(r"(?<![\w*])\*{1,3}([^\s*](?:[^*]*[^\s*])?)\*{1,3}(?![\w*])"), r"\1"),  # *stress* and **strong**
    (re.compile(r"(?<!\w)(\w+)_(?=[\s.,;:)])"), r"\1"),  # target_
    (re.compile(r"</?[a-zA-Z][^<>]*>"), " "),  # tags of HTML
    (re.compile(r"\\([*_`|])"), r"\1"),
    (re.compile(r"(?<=\w) --- ?(?=\w)|(?<=\w) -- (?=\w)"), " - "),
    (re.compile(r"\s+([.,;:])(?=\s|$)"), r"\1"),
    (re.compile(r"\s+"), " "),
]
HAS_MARKUP = re.compile(r"[`*_\[\]<$:\\]|--| [.,;]|  ")
NOT_PROSE = re.compile(
    r"[=<>{}\\|^$#@~`§]|[^\x20-\x7e–—‘’“”…é×]|https?:|www\.|ftp:|\w\(\)?\w*\(|--|\.\.(?!\.)|::|[A-Za-z]:\\|\w/\w+/"
)
SYMBOL = re.compile(r"[^\w\s.,;:'’\"“”()?!-]|_")
LEGAL = re.compile(
    r"\b(?:copyright|licen[cs]e[ds]?|licensing|licensor|warrant(?:y|ies)|redistribut\w+|liabilit\w+|spdx|all rights)\b",
    re.IGNORECASE,
)
FUNCTION_WORDS = frozenset(
    """
    a an the of to in on for with by from at as is are was were be been has have had do does did can could may might
    must should will would and or but not no if when that which this these those it its you your we they their there
    """.split()  # noqa: SIM905
)


def raw_paragraphs(text: str) -> list[str]:
    """The blocks of a documentation text, one line each, code and directives left out.

    A block ends at an empty line, at a change of indentation, at a bullet and at a field (`:param x:`).
    """
    blocks: list[list[str]] = [[]]
    indent = 0  # of the block that is being read
    skip_above: int | None = None  # while set, lines indented deeper than this are code
    fenced = doctest = False
    for line in text.expandtabs().splitlines():
        words = line.strip()
        depth = len(line) - len(line.lstrip())
        if FENCE.match(words):
            fenced = not fenced
        if not words or fenced or FENCE.match(words):
            doctest = False
            if blocks[-1]:
                if blocks[-1][-1].endswith("::"):
                    skip_above = indent
                blocks.append([])
            continue
        if skip_above is not None and depth > skip_above:
            continue
        skip_above = None
        if doctest or words.startswith((">>>", "In [", "$ ", "|", "+-")):
            doctest = True
            continue
        if UNDERLINE.fullmatch(words):
            blocks[-1] = []  # what stood above it was a title
            continue
        if words.startswith(".. ") or words == "..":
            if not (admonition := ADMONITION.match(words)):
                skip_above = depth
                continue
            words, depth = words[admonition.end() :], depth + 3
            blocks.append([])
        if marker := BULLET.match(words):
            words, depth = words[marker.end() :], depth + marker.end()
            blocks.append([])
        elif marker := FIELD.match(words):
            words, depth = words[marker.end() :], depth + 4
            if words[:1].islower() or " :" in marker[0]:  # `x : float`, and what x is stands on the next line
                depth = -1
            blocks.append([])
        if blocks[-1] and depth != indent:
            blocks.append([])
        indent = depth
        blocks[-1].append(words)
    return [" ".join(block) for block in blocks if block]


def plain_words(paragraph: str) -> str:
    """The paragraph with roles, links, stress marks and literals turned into the words that a reader sees."""
    if HAS_MARKUP.search(paragraph):
        for markup, words in PLAIN:
            paragraph = markup.sub(words, paragraph)
    return paragraph.strip()


def is_prose(sentence: str) -> bool:
    """Whether a sentence is English prose: whole, of 4 to 60 words, with grammar in it and with few symbols."""
    words = sentence.split()
    if not 4 <= len(words) <= 60 or not sentence[0].isupper() or sentence[-1] not in '.?!)"”':
        return False
    if NOT_PROSE.search(sentence) or LEGAL.search(sentence):
        return False
    if sentence.count("(") != sentence.count(")") or sentence.count('"') % 2:
        return False
    if len(SYMBOL.findall(sentence)) > 2 or sum(map(str.isdigit, sentence)) > 8:
        return False
    if 2 * sum(map(str.isupper, sentence)) > len(sentence):  # the small print, shouted
        return False
    grammar = sum(word.lower().strip(",.;:()\"'") in FUNCTION_WORDS for word in words)
    return grammar >= max(1, len(words) // 8)


def prose_paragraphs(text: str) -> list[list[str]]:
    """The paragraphs of prose in a documentation text, each a list of sentences.

    A paragraph starts with a capital and ends with a full stop; in it, sentences that are not prose are left out.
    """
    paragraphs = []
    for raw in raw_paragraphs(text):
        if not raw.endswith((".", '."', ".)")) or raw[0].islower():
            continue
        paragraph = plain_words(raw)
        if not paragraph[:1].isupper():
            continue
        sentences = [sentence for sentence in split_sentences(paragraph) if is_prose(sentence)]
        if sentences:
            paragraphs.append(sentences)
    return paragraphs
