"""One word a line, empty lines between sentences: CoNLL columns (a word and its tag) and CoNLL-U (ten columns)."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from bertedu.corpora.readers.labelled import TaggedWords
from bertedu.corpora.readers.layouts import CONLLU_COLUMNS, MULTIWORD_OR_EMPTY, Lines, with_words_first
from bertedu.corpora.readers.opening import read_lines
from bertedu.corpora.readers.schemes import tag_value, tags_of_file
from bertedu.corpora.readers.values import counted, text_value
from bertedu.errors import UserError, shown

DOCUMENT_START = re.compile(r"-DOCSTART-(?![^ \t])")  # of CoNLL-2003, alone between empty lines
COMMENT_OF_MULTICONER = re.compile(r"# id \S+[ \t]+domain=")  # may have as many columns as a word's line
NAMES_OF_WORDS = ("word", "words", "token", "tokens", "text", "form")  # in a line that names the columns
NAMES_OF_TAGS = ("tag", "tags", "label", "labels", "pos", "upos", "ner", "ner_tag", "ner_tags")
# https://universaldependencies.org/u/pos
UNIVERSAL_TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)


def read_conll(
    path: str | Path, scheme: str | None = "BIO", labels: Collection[str] | None = None, tag_column: int = -1
) -> list[TaggedWords]:
    """The sentences of a file in CoNLL columns: the word first, its tag last (or in tag_column, counted from 0). A
    number before each word, which counts them, is passed over.

    Columns stand apart by TABs, or by spaces where the first word's line has no TAB; a line of white space ends a
    sentence. Before its first word there may be comments (see `is_comment`), which are passed over.
    scheme is BIO, BIOES, or None for tags of any form, such as parts of speech; labels, where given, are all the
    tags that there are. CoNLL-2003's lines -DOCSTART- are no words, nor is a first line that names the columns. Asked
    for BIO, tags come as BIO also where they are written as IOB1 (as CoNLL-2003 was first given out: B- only where an
    entity follows another of its type), BIOES, BILOU or BMES.
    Raises UserError with file and line for another number of columns, an empty word or a tag out of the scheme.
    """
    lines = [line.rstrip(" \t") for line in read_lines(path)]
    refuse_table(path, lines)
    if lines and names_of_columns(lines[0]):
        lines[0] = ""
    separator, columns = shape_of(lines)
    found: list[Lines] = []
    for block in sentence_blocks(lines):
        rows: list[tuple[str, list[str]]] = []
        for number, line in block:
            place = f"{path}, line {number}"
            values = line.split(separator)
            if DOCUMENT_START.match(line) or (not rows and is_comment(line, len(values) == columns)):
                continue
            if len(values) != columns or columns < 2:
                raise UserError(
                    f"{place}: {counted(len(values), 'column')} ({shown(line)}) where there should be "
                    f"{max(2, columns)}: write the word, its tag, and one TAB or space between columns."
                )
            if not -columns <= tag_column < columns:
                raise UserError(
                    f"{place}: there is no column {tag_column} among {columns}: write tags there, or choose a "
                    f"tag_column from 0 to {columns - 1}."
                )
            rows.append((place, values))
        if rows:
            found.append(rows)
    if not found:
        raise UserError(f"{path} holds no word: fetch it again, or name a file with sentences.")
    sentences: list[tuple[list[str], list[str], list[str]]] = []  # where, words, tags
    for one in with_words_first(path, found, chosen=tag_column != -1):
        tag = tag_column if tag_column < 0 else tag_column - columns + len(one[0][1])  # counted in the whole line
        places = [place for place, _ in one]
        words = [text_value(values[0], place, "the word") for place, values in one]
        sentences.append((places, words, [values[tag].strip() for _, values in one]))
    checked = tags_of_file([(places, tags) for places, _, tags in sentences], scheme, labels)
    return [TaggedWords(tuple(words), tags) for (_, words, _), tags in zip(sentences, checked, strict=True)]


def names_of_columns(line: str) -> bool:
    """Whether a line names the columns, as tables do: the word first, the tag last."""
    names = line.lower().split()
    return len(names) > 1 and names[0] in NAMES_OF_WORDS and names[-1] in NAMES_OF_TAGS


def refuse_table(path: str | Path, lines: Sequence[str]) -> None:
    """Raise UserError for a table with commas, in which a word and its tag would be one word."""
    filled = [line for line in lines if line]
    if filled and all("," in line and not set(" \t") & set(line.strip()) for line in filled[1:] or filled):
        raise UserError(
            f"{path}, line 1: {shown(filled[0])} has commas between columns: write a word, a TAB and its tag a line, "
            "and an empty line after each sentence, or JSON lines with lists of words and tags."
        )


def shape_of(lines: Sequence[str]) -> tuple[str, int]:
    """What stands between columns and how many there are: as in the first line that cannot be a comment."""
    filled = [line for line in lines if line and not DOCUMENT_START.match(line)]
    line = next((line for line in filled if not line.startswith(("# ", "#\t"))), filled[0] if filled else "")
    separator = "\t" if "\t" in line else " "
    return separator, len(line.split(separator))


def is_comment(line: str, has_all_columns: bool) -> bool:
    """Whether a line before the first word of a sentence is a comment: # and a space, and not the columns of a word.

    A hashtag (#tag) is a word, and so is # itself where all columns are there.
    """
    return line.startswith(("# ", "#\t")) and (not has_all_columns or bool(COMMENT_OF_MULTICONER.match(line)))


def read_conllu(path: str | Path, tags: str = "upos", labels: Collection[str] | None = None) -> list[TaggedWords]:
    """The sentences of a CoNLL-U file with their universal (upos) or language-specific (xpos) parts of speech.

    Multi-word tokens (ids such as 3-4) and empty nodes (8.1) are passed over, as the format says of counting
    words (https://universaldependencies.org/format.html). Raises UserError with file and line for another number
    of columns than ten, ids that do not count 1, 2, 3, a word without a tag, or a tag that is none.
    """
    if tags not in ("upos", "xpos"):
        raise UserError(f"tags: {tags!r} is no column of parts of speech: choose 'upos' or 'xpos'.")
    column = CONLLU_COLUMNS.index(tags.upper())
    if labels is None and tags == "upos":
        labels = UNIVERSAL_TAGS
    sentences: list[TaggedWords] = []
    for block in sentence_blocks(read_lines(path)):
        words: list[str] = []
        found: list[str] = []
        for number, line in block:
            if line.startswith("#"):
                continue
            place = f"{path}, line {number}"
            values = line.split("\t")
            if len(values) != len(CONLLU_COLUMNS):
                raise UserError(
                    f"{place}: {counted(len(values), 'column')} ({shown(line)}) where CoNLL-U has 10: "
                    "write one TAB between columns and _ for an empty one."
                )
            if MULTIWORD_OR_EMPTY.fullmatch(values[0]):
                continue
            if values[0] != str(len(words) + 1):
                raise UserError(
                    f"{place}: the id is {values[0]!r} where {len(words) + 1} should be next: "
                    "number the words from 1, with an empty line between sentences."
                )
            if values[column] == "_":
                other = "xpos" if tags == "upos" else "upos"
                raise UserError(
                    f"{place}: the word {shown(values[1])} has no tag in {tags}: write it in place of _ in column "
                    f"{column + 1}, or read the other column (in Python tags={other!r})."
                )
            words.append(text_value(values[1], place, "the word"))
            found.append(tag_value(values[column], place, None, labels))
        if not words:
            raise UserError(f"{path}, line {block[0][0]}: a sentence of comments without a word: write or remove it.")
        sentences.append(TaggedWords(tuple(words), tuple(found)))
    return sentences


def sentence_blocks(lines: list[str]) -> Iterator[list[tuple[int, str]]]:
    """The lines between empty ones (of nothing but spaces and TABs), each with its number."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        if line.strip(" \t"):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block
