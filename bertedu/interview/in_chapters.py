"""The interview questions at the end of each chapter, written from the bank, so that no answer stands twice.

In a chapter's source each question is a block that begins with the id of the bank, in a comment that no reader sees:

    # <!-- attention-01 -->
    # **1. Why does scaled dot-product attention divide the scores by √d, and not by d?**

An author writes such a line (or takes one away), and `bertedu interview chapters` writes what stands below it.
"""

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from bertedu.course.building.places import Places
from bertedu.course.rooms import number_of
from bertedu.errors import UserError
from bertedu.files import write_text
from bertedu.interview.bank import Question, questions

FEWEST, MOST = 2, 3
TITLE = "Interview questions"
WIDTH = 118 - len("# ")
FOLDS = ("Answer in half a minute", "In two minutes")
WHOLE = "06"  # before this chapter the reader has no whole BERT, and interviews ask about the whole
FOR_LATER = (
    "Real interviews ask these. Some answers use words of later chapters: leave those questions for now, and come back "
    "after [08 · Pre-training](08_pre_training.ipynb)."
)

NOTE = re.compile(r"^# Real interviews ask these\..*\n(?:# (?!<!--).*\n)*", re.MULTILINE)  # as it was written last

# The section in a source: the lines of Markdown from its heading to the next one, or to the end of its cell.
SECTION = re.compile(rf"^# ## {TITLE}\n((?:#(?! ##? | %%).*(?:\n|\Z))*)(?=(# ##? )?)", re.MULTILINE)
MARK = re.compile(r"^# <!-- ([a-z]+-\d\d) -->$")

# What a reader should see as code, though the bank has plain texts: tokens, names with underscores or dots, calls.
CODE = re.compile(
    r"\[(?:CLS|SEP|MASK|PAD|UNK)\]|##\w+|</?s>|\b\w+=(?:True|False)\b"
    r"|\b(?:\w+=)?(?:(?:torch|nn|model|self)(?:\.\w+)+|[a-z]{2,}(?:_[a-z0-9]+)+)(?:\(\))?|\b[a-z]\w*\(\)"
)
SPECIAL = re.compile(r"[\\`*_<|~$]|&(?=#?\w+;)|\](?=\()")  # what Markdown or a formula would take for its own
# What makes a list, a heading or a quotation of a line.
FIRST = re.compile(r"^(?:[-+>#](?=[\s>#]|$)|[-=](?=[-=]*$)|\d{1,9}(?=[.)](?:\s|$)))")


def outdated(chapters: tuple[str, ...] = (), places: Places | None = None) -> dict[Path, str]:
    """The sources (of the chapters given, or all) whose section isn't what the bank makes, each as it should be.

    Raises UserError for a section that can't be made: an id that isn't in the bank or belongs to another chapter, a
    question without an id, or too few or too many of them.
    """
    places = places or Places()
    bank = questions(places.chapters, places.data / "interview")
    found = {}
    for path in places.all_sources(chapters):
        before = path.read_text(encoding="utf-8")
        after = rewritten(before, path, bank)
        if after != before:
            found[path] = after
    return found


def write(chapters: tuple[str, ...] = (), places: Places | None = None) -> list[Path]:
    """Write the sections that are out of date; returns the sources that were changed."""
    found = outdated(chapters, places)
    for path, text in found.items():
        write_text(path, text)
    return list(found)


def rewritten(source: str, path: Path, bank: Mapping[str, Question]) -> str:
    """A chapter's source with its questions as the bank has them now."""
    sections = list(SECTION.finditer(source))
    if len(sections) != 1:
        raise UserError(f"{path}: there are {len(sections)} sections called `## {TITLE}`: a chapter has one.")
    (section,) = sections
    line = source.count("\n", 0, section.start(1)) + 1
    note = wrapped(FOR_LATER) if number_of(path) < WHOLE else ""
    ids = ids_in(NOTE.sub(lambda found: "#\n" * found[0].count("\n"), section[1], count=1), path, line)
    for one in ids:
        if one not in bank:
            raise UserError(f"{path}: the bank has no question {one}: write it, or correct the id.")
        if bank[one].chapter != number_of(path) or bank[one].section == TITLE:
            raise UserError(
                f"{path}: the bank links {one} to chapter {bank[one].chapter}, “{bank[one].section}”: "
                f"ask here what another section of this chapter explains."
            )
    blocks = [
        *([note] if note else []),
        *(f"<!-- {one} -->\n{block(bank[one], number)}" for number, one in enumerate(ids, start=1)),
        *([""] if section[2] else []),  # the empty line before the next heading
    ]
    written = "\n\n".join(["", *blocks]).removeprefix("\n")
    written = written.removesuffix("\n") if section[2] else written
    return source[: section.start(1)] + commented(written) + source[section.end(1) :]


def commented(text: str) -> str:
    """Markdown as it stands in a source: each line behind a #."""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.split("\n"))


def ids_in(body: str, path: Path, line: int) -> list[str]:
    """The ids of a section. Whatever has no id is refused, because writing the section would take it away."""
    ids: list[str] = []
    folds = paragraphs = 0  # of the present question
    folded, gap = False, True
    for number, text in enumerate(body.splitlines(), start=line):
        content = text.removeprefix("#").strip()
        if mark := MARK.match(text):
            ids.append(mark[1])
            folds = paragraphs = 0
            folded, gap = False, True
        elif content.startswith("<details"):
            folds, folded = folds + 1, True
        elif content == "</details>":
            folded = False
        elif not content:
            gap = True
        elif not folded:
            paragraphs, gap = paragraphs + gap, False
            if not ids or folds or paragraphs > 1:
                raise UserError(
                    f"{path}, line {number}: this has no id: put the question into the bank, and write its id above "
                    f"it, as in <!-- attention-01 -->."
                )
    if len(set(ids)) < len(ids):
        raise UserError(f"{path}: a question stands twice in `## {TITLE}`: take one of them away.")
    if not FEWEST <= len(ids) <= MOST:
        raise UserError(f"{path}: `## {TITLE}` has {len(ids)} questions: give {FEWEST} or {MOST}.")
    return ids


def block(question: Question, number: int) -> str:
    """A question and its two answers, folded, as Markdown. The first answer can be read alone."""
    parts = [wrapped(f"**{number}. {safe(question.question)}**")]
    for summary, text in zip(FOLDS, (question.short, question.long), strict=True):
        paragraphs = [wrapped(safe(paragraph)) for paragraph in re.split(r"\n\s*\n", text.strip())]
        parts += [f"<details><summary>{summary}</summary>", *paragraphs, "</details>"]
    return "\n\n".join(parts)


def safe(text: str) -> str:
    """A plain text as Markdown that shows every character of it, with tokens and names as code."""
    text, parts, end = " ".join(text.split()), [], 0
    for code in CODE.finditer(text):
        parts += [SPECIAL.sub(r"\\\g<0>", text[end : code.start()]), f"`{code[0]}`"]
        end = code.end()
    return "".join([*parts, SPECIAL.sub(r"\\\g<0>", text[end:])])


def wrapped(text: str) -> str:
    """A paragraph in lines, none of which begins a list or a heading."""
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(FIRST.sub(lambda found: escaped(found[0]), line) for line in lines)


def escaped(first: str) -> str:
    """The beginning of a line without the sense that Markdown gives it: `1\\.` for a number, `\\-` for a sign."""
    return f"{first}\\" if first.isdigit() else f"\\{first}"
