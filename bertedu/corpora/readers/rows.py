"""Rows with named columns, from a table, JSON lines or the hub, as examples of a task."""

from collections.abc import Collection, Sequence
from typing import Any

from bertedu.config import PROBLEMS
from bertedu.corpora.readers.doubts import warn_of_choice, warn_of_doubts
from bertedu.corpora.readers.labelled import LabelledText, Summary, TaggedWords
from bertedu.corpora.readers.schemes import tags_of_file
from bertedu.corpora.readers.values import (
    class_value,
    counted,
    label_values,
    listed,
    refuse_missing,
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
YES_OR_NO = {"0", "1", "0.0", "1.0", "False", "True"}  # whether a class applies, in a list of all classes
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


def column_of(
    rows: Sequence[Row], chosen: str | None, usual: Sequence[str], what: str, argument: str = "", alone: bool = False
) -> str:
    """The chosen column, else the first of the usual names that the first row has.

    argument, where there is one, is what chooses the column in Python; alone says that another of the usual names may
    well be the one that is meant, of which there is a warning.
    """
    place, values = rows[0]
    there = [name for name in (usual if chosen is None else (chosen,)) if name in values]
    if there:
        warn_of_choice(place, there[0], there[1:] if alone else ())
        return there[0]
    wanted = repr(chosen) if chosen else f"for the {what} ({', '.join(usual)})"
    in_python = f", or choose it in Python with {argument}=…" if argument else ""
    raise UserError(
        f"{place}: there is no column {wanted}: rename one of {', '.join(map(shown, values))} to "
        f"{chosen or usual[0]!r}{in_python}; if these are no names, write a line of names before them."
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
    label = column_of(rows, label, LABEL_NAMES, "label", "label", alone=True)
    refuse_hidden_lists(rows, label)
    examples: list[LabelledText] = []
    for row in rows:
        place = row[0]
        first = given_text(value_of(row, text), place, text)
        second = None if pair is None else given_text(value_of(row, pair), place, pair)
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
    refuse_unlabelled(rows, examples)
    warn_of_doubts([place for place, _ in rows], examples)
    return examples


def given_text(value: Any, place: str, name: str) -> str:
    """A text of a row, which must be there and not say that it is not."""
    refuse_missing(value, place, name)
    return text_value(value, place, name)


def refuse_hidden_lists(rows: Sequence[Row], column: str) -> None:
    """Raise UserError for lists of 0 and 1, one for each class there is: read as names, they would be two classes."""
    given = [values.get(column) for _, values in rows]
    read = [listed(one) if isinstance(one, str) and one.startswith("[") else one for one in given]
    lists = [one for one in read if isinstance(one, list | tuple)]
    if len(lists) == len(rows) and all(
        len(one) == len(lists[0]) > 1 and set(map(str, one)) <= YES_OR_NO for one in lists
    ):
        raise UserError(
            f"{rows[0][0]}: the labels are {shown(lists[0])}, a 0 or 1 for each class: write the names of the classes "
            "that apply."
        )


def refuse_unlabelled(rows: Sequence[Row], examples: Sequence[LabelledText]) -> None:
    """Raise UserError for -1 beside the classes 0, 1, 2 and so on: so sets of the hub mark a row without a label."""
    names = {one.label for one in examples}
    if "-1" in names and len(names) > 3 and names == {str(number) for number in range(-1, len(names) - 1)}:
        place = next(place for (place, _), one in zip(rows, examples, strict=True) if one.label == "-1")
        raise UserError(
            f"{place}: the label is '-1', and others count from 0, which marks a row without a label: remove such "
            "rows, or write another name."
        )


def tagged_words(
    rows: Sequence[Row], tags: str | None = None, scheme: str | None = "BIO", labels: Collection[str] | None = None
) -> list[TaggedWords]:
    """Each row as a sentence: a list of words and a list of as many tags. scheme and labels as in `read_conll`."""
    words_column = column_of(rows, None, WORDS_NAMES, "words")
    tags_column = column_of(rows, tags, TAGS_NAMES, "tags", "tags", alone=True)
    sentences: list[tuple[tuple[str, ...], list[str], list[Any]]] = []  # words, where, tags
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
        sentences.append((tuple(text_value(word, place, "a word") for word in words), [place] * len(found), found))
    tags_found = tags_of_file([(places, found) for _, places, found in sentences], scheme, labels)
    return [TaggedWords(words, found) for (words, _, _), found in zip(sentences, tags_found, strict=True)]


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """Each row as a text with its summary (columns text or article or document, and summary or highlights)."""
    text = column_of(rows, None, DOCUMENT_NAMES, "text")
    summary = column_of(rows, None, SUMMARY_NAMES, "summary")
    return [
        Summary(given_text(value_of(row, text), row[0], text), given_text(value_of(row, summary), row[0], summary))
        for row in rows
    ]
