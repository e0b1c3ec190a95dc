"""Rows with named columns, from a table, JSON lines or the hub, as examples of a task."""

from collections.abc import Collection, Sequence
from typing import Any

from bertedu.config import PROBLEMS
from bertedu.corpora.readers.labelled import LabelledText, Summary, TaggedWords
from bertedu.corpora.readers.values import (
    class_value,
    counted,
    label_value,
    label_values,
    score_value,
    text_value,
)
from bertedu.errors import UserError, shown

Row = tuple[str, dict[str, Any]]  # where it stands (for messages), and its values by column

# The usual names of columns, taken where the caller names none; the first that is there counts, pairs before a text.
PAIR_NAMES = (
    *(("text", "pair"), ("text", "text_pair"), ("text1", "text2"), ("sentence1", "sentence2")),
    *(("premise", "hypothesis"), ("question1", "question2"), ("question", "sentence")),
)
TEXT_NAMES = ("text", "sentence", "sentence1", "premise", "question1", "text1")
LABEL_NAMES = ("label", "labels", "gold_label", "category", "score")
NO_AGREED_LABEL = "-"  # in the column gold_label of SNLI and MultiNLI
WORDS_NAMES = ("words", "tokens")
TAGS_NAMES = ("tags", "ner_tags", "upos", "pos_tags")
DOCUMENT_NAMES = ("text", "article", "document", "dialogue")
SUMMARY_NAMES = ("summary", "highlights")


def value_of(row: Row, column: str) -> Any:
    """The value in a column of a row. Raises UserError with the columns that there are."""
    place, values = row
    if column not in values:
        raise UserError(
            f"{place}: there is no column {column!r} among {', '.join(map(shown, values))}: add it to this row, or "
            "rename the one that holds it."
        )
    return values[column]


def column_of(rows: Sequence[Row], chosen: str | None, usual: Sequence[str], what: str, argument: str = "") -> str:
    """The chosen column, else the first of the usual names that the first row has.

    argument, where there is one, is what chooses the column in Python.
    """
    place, values = rows[0]
    for name in usual if chosen is None else (chosen,):
        if name in values:
            return name
    wanted = repr(chosen) if chosen else f"for the {what} ({', '.join(usual)})"
    in_python = f", or choose it in Python with {argument}=…" if argument else ""
    raise UserError(
        f"{place}: there is no column {wanted}: rename one of {', '.join(map(shown, values))} to "
        f"{chosen or usual[0]!r}{in_python}."
    )


def labelled_texts(
    rows: Sequence[Row],
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    problem_type: str = "single_label_classification",
    labels: Collection[str] | None = None,
    scale: tuple[float, float] | None = None,
) -> list[LabelledText]:
    """Each row as a text, or a pair of texts, with its label, labels or score.

    text, label and pair name columns. Where text is not given, the usual names are looked for, first those of pairs
    (sentence1 and sentence2, premise and hypothesis, question and sentence); so is the label's column.
    problem_type is one of `config.PROBLEMS`: one label (a text), many (a tuple of them), or a score (a number).
    labels and scale, where given, are all labels, and the lowest and the highest score, that there are.
    """
    if problem_type not in PROBLEMS:
        raise UserError(f"problem_type: {problem_type!r} is none: choose one of {', '.join(PROBLEMS)}.")
    if text is None:
        there = {name for _, values in rows for name in values}  # in one row is enough: then every row must have it
        usual = [names for names in PAIR_NAMES if there.issuperset(names) and pair in (None, names[1])]
        text, pair = usual[0] if usual else (column_of(rows, None, TEXT_NAMES, "text", "text"), pair)
    label = column_of(rows, label, LABEL_NAMES, "label", "label")
    examples: list[LabelledText] = []
    for row in rows:
        place = row[0]
        first = text_value(value_of(row, text), place, text)
        second = None if pair is None else text_value(value_of(row, pair), place, pair)
        value = value_of(row, label)
        if label == "gold_label" and isinstance(value, str) and value.strip() == NO_AGREED_LABEL:
            raise UserError(
                f"{place}: the gold_label is {value!r}, which says that the annotators did not agree: "
                "remove such rows, there is no agreed label."
            )
        named: str | float | tuple[str, ...]
        if problem_type == "regression":
            named = score_value(value, place, scale)
        elif problem_type == "multi_label_classification":
            named = label_values(value, place, labels)
        else:
            named = class_value(value, place, labels)
        examples.append(LabelledText(first, named, second))
    return examples


def tagged_words(
    rows: Sequence[Row], tags: str | None = None, scheme: str | None = "BIO", labels: Collection[str] | None = None
) -> list[TaggedWords]:
    """Each row as a sentence: a list of words and a list of as many tags. scheme and labels as in `read_conll`."""
    words_column = column_of(rows, None, WORDS_NAMES, "words")
    tags_column = column_of(rows, tags, TAGS_NAMES, "tags", "tags")
    sentences: list[TaggedWords] = []
    for row in rows:
        place = row[0]
        words, found = value_of(row, words_column), value_of(row, tags_column)
        for name, value in ((words_column, words), (tags_column, found)):
            if not isinstance(value, list) or not value:
                raise UserError(f"{place}: {name} is {shown(value)}: write a list with one entry or more.")
        if len(words) != len(found):
            raise UserError(
                f"{place}: {counted(len(words), 'word')} for {counted(len(found), 'tag')}: give each word one tag."
            )
        tags_found = tag_values(found, [place] * len(found), scheme, labels)
        sentences.append(TaggedWords(tuple(text_value(word, place, "a word") for word in words), tags_found))
    return sentences


def tag_values(
    tags: Sequence[Any], places: Sequence[str], scheme: str | None, labels: Collection[str] | None
) -> tuple[str, ...]:
    """The tags of a sentence, each checked with its neighbours; `places` say where each stands."""
    found: list[str] = []
    for tag, place in zip(tags, places, strict=True):
        found.append(tag_value(tag, place, scheme, labels, found[-1] if found else "O"))
    if scheme == "BIOES":
        for tag, after, place in zip(found, [*found[1:], None], places, strict=True):
            refuse_open_entity(tag, after, place)
    return tuple(found)


def refuse_open_entity(tag: str, after: str | None, place: str) -> None:
    """Raise UserError for a tag of BIOES, B-type or I-type, that neither I-type nor E-type follows."""
    position, _, kind = tag.partition("-")
    if position not in ("B", "I") or after in (f"I-{kind}", f"E-{kind}"):
        return
    where = "at the end of the sentence" if after is None else f"before the tag {shown(after)}"
    alone = f"'S-{kind}' for one word alone, or end it with " if position == "B" else ""
    raise UserError(f"{place}: the tag {shown(tag)} leaves its entity open {where}: write {alone}'E-{kind}'.")


def tag_value(
    tag: Any, place: str, scheme: str | None = "BIO", labels: Collection[str] | None = None, before: str = "O"
) -> str:
    """A tag of a scheme: BIO (O, B-type, I-type), BIOES (E-type and S-type as well), or None for any name.

    before is the tag of the word before: I-type and E-type must go on with an entity of their type, since a CRF that
    knows this rule can never learn a sentence that breaks it.
    """
    name = label_value(tag, place, labels, "tag")
    if scheme is None or name == "O":
        return name
    if scheme not in ("BIO", "BIOES"):
        raise UserError(f"scheme: {scheme!r} is none: choose 'BIO', 'BIOES', or None for tags of any form.")
    position, dash, kind = name.partition("-")
    if position not in scheme.replace("O", "") or len(position) != 1 or not dash or not kind.strip():
        forms = ", ".join(f"{letter}-type" for letter in scheme.replace("O", ""))
        raise UserError(
            f"{place}: the tag {shown(name)} is not of the scheme {scheme}: write O or {forms}, "
            "or choose the task tagging (in Python scheme=None) for tags of any form."
        )
    if position in "IE" and before not in (f"B-{kind}", f"I-{kind}"):
        raise UserError(
            f"{place}: the tag {shown(name)} goes on with nothing, after the tag {shown(before)}: begin the entity "
            f"with 'B-{kind}'."
        )
    return name


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """Each row as a text with its summary (columns text or article or document, and summary or highlights)."""
    text = column_of(rows, None, DOCUMENT_NAMES, "text")
    summary = column_of(rows, None, SUMMARY_NAMES, "summary")
    return [
        Summary(text_value(value_of(row, text), row[0], text), text_value(value_of(row, summary), row[0], summary))
        for row in rows
    ]
