"""The index of terms: each with the sentence that defines it, where the course says it first in bold."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bertedu.errors import UserError
from bertedu.website.chapters import Stored
from bertedu.website.tree import slug

BOLD = re.compile(r"\*\*([^*]+)\*\*")
HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)
SENTENCE_END = re.compile(
    r"(?:(?<=[.?!])(?<!al\.)|(?<=[.?!][)\"”*]))\s+(?=[A-Z*\[(\"“`0-9])|\n\n|\n(?=[-|] )|\n(?=\d+\. )"
)

POINTS_BACK = re.compile(
    r"(?:This|That|It|Its|Such|They|These|Both|Together|Then|Training of this|Each of these|From then on|A stand-in)\b"
)


@dataclass(frozen=True)
class Term:
    """A term as it is listed, the sentence that defines it, and where that stands."""

    name: str
    sentence: str
    chapter: Stored
    section: str


def bold_terms(chapters: Iterable[Stored]) -> Iterator[Term]:
    """Everything in bold in the chapters, in order, with its sentence."""
    for one in chapters:
        section = one.chapter.title
        for cell in one.learner.cells:
            if cell.cell_type != "markdown":
                continue
            for paragraph in re.split(r"(?m)^(?=#{1,4} )", without_code_blocks(cell.source)):
                if heading := HEADING.match(paragraph):
                    section = heading[1]
                before = ""
                for sentence in SENTENCE_END.split(paragraph):
                    whole = f"{before} {sentence}" if POINTS_BACK.match(sentence) and before[:1] != "(" else sentence
                    for bold in BOLD.findall(sentence):
                        yield Term(" ".join(bold.split()), plain(whole), one, section)
                    before = sentence


def without_code_blocks(text: str) -> str:
    """Markdown without its blocks of code and its folded answers, which define nothing for a reader who passes by."""
    return re.sub(r"```.*?```|<details>.*?</details>|<!--.*?-->", "", text, flags=re.DOTALL)


def plain(sentence: str) -> str:
    """A sentence as one line without bold, links and headings."""
    text = re.sub(r"^#{1,4} .+$|^[->|] *|^\d+\. ", "", sentence, flags=re.MULTILINE)
    return " ".join(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", BOLD.sub(r"\1", text)).split())


def terms(
    names: Sequence[str],
    chapters: Sequence[Stored],
    places: Mapping[str, str] | None = None,
    sentences: Mapping[str, str] | None = None,
) -> list[Term]:
    """The terms of the list in alphabetical order. Raises UserError for one that no chapter has in bold, and for what
    is said of one that is not listed.

    places says for a term that is nowhere in bold with which one it is explained; sentences are definitions that can be
    read alone, where that of the chapter can't.
    """
    places, sentences = places or {}, sentences or {}
    if strange := sorted({*places, *sentences} - {*names}):
        raise UserError(f"the index of terms says something of {', '.join(strange)}, which it does not list: add it.")
    first: dict[str, Term] = {}
    for term in bold_terms(chapters):
        first.setdefault(key(term.name), term)
    found = {name: first.get(key(places.get(name, name))) for name in names}
    missing = [name for name, term in found.items() if not term]
    if missing:
        raise UserError(
            f"the index of terms lists {', '.join(missing)}, which no chapter has in bold: write the term in bold "
            "where it is defined, or take it from the list."
        )
    listed = [
        Term(name, sentences.get(name, term.sentence), term.chapter, term.section)
        for name, term in found.items()
        if term
    ]
    return sorted(listed, key=lambda term: key(term.name))


def key(name: str) -> str:
    """A term without capitals and hyphens, to find and to order it."""
    return name.casefold().replace("-", " ")


def anchor(term: Term) -> str:
    """The place of a term on its page."""
    return f"term-{slug(term.name)}"


def glossary_page(listed: Sequence[Term]) -> str:
    """The page of terms, in Markdown."""
    parts = ["# Terms\n\nEach in one sentence, with the section that explains it.\n"]
    letter = ""
    for term in listed:
        if term.name[0].upper() != letter:
            letter = term.name[0].upper()
            parts.append(f"## {letter}\n")
        section = plain(term.section)
        parts.append(
            f"({anchor(term)})=\n**{term.name}**\n: {term.sentence} "
            f"[{term.chapter.chapter.number} · {section}](/{term.chapter.page}.ipynb#{slug(section)})\n"
        )
    return "\n".join(parts)
