"""Labelled data for each task by one call, wherever it is: a file, a folder, or a set of the hub (hub:NAME)."""

import os
from collections.abc import Collection, Mapping, Sequence
from errno import ENOENT
from pathlib import Path

from bertedu.corpora.hub_rows import hub_rows
from bertedu.corpora.readers.choices import choices
from bertedu.corpora.readers.columns import read_conll, read_conllu
from bertedu.corpora.readers.folders import read_files_by_label, read_folders_by_label
from bertedu.corpora.readers.json_lines import read_json_lines
from bertedu.corpora.readers.labelled import Choices, LabelledText, Question, Summary, TaggedWords
from bertedu.corpora.readers.opening import known_name, refuse_folder
from bertedu.corpora.readers.rows import Row, labelled_texts, summaries, tagged_words
from bertedu.corpora.readers.squad import questions, read_squad
from bertedu.corpora.readers.tables import read_table
from bertedu.errors import UserError

Source = str | Path
JSON_LINES = (".jsonl", ".json", ".ndjson")
BY_FILE = "by file"  # a scheme of tags: none in CoNLL-U, else BIO


def read_labelled(
    source: Source | Mapping[str, Source] | Sequence[Source],
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    problem_type: str = "single_label_classification",
    labels: Collection[str] | None = None,
    split: str = "train",
    header: Sequence[str] | None = None,
    delimiter: str | None = None,
    quoting: bool = True,
    scale: tuple[float, float] | None = None,
) -> list[LabelledText]:
    """Texts, or pairs of texts, with a label, labels or a score each.

    source is a table (.csv, .tsv), JSON (.jsonl, .json), `hub:NAME[/CONFIGURATION]`, a folder with one folder for
    each label, or several files, one for each label (a dict of label and file, or a list of files named after
    their label). text, label and pair name columns, the usual names by default (see `labelled_texts`);
    labels, where given, are all that there are, and scale the lowest and the highest score; split is for the hub;
    header, delimiter and quoting are for tables (see `read_table`). Raises UserError, and then nothing was read.
    """
    if not isinstance(source, str | Path):
        only_single_labels(problem_type, "the names of files")
        return read_files_by_label(source, labels)
    if not is_hub(source) and os.path.isdir(source):
        only_single_labels(problem_type, str(source))
        return read_folders_by_label(source, labels)
    rows = read_rows(source, split, header, delimiter, quoting)
    return labelled_texts(rows, text, label, pair, problem_type, labels, scale)


def only_single_labels(problem_type: str, place: str) -> None:
    """Refuse scores and lists of labels where a label is a name of a file or folder."""
    if problem_type != "single_label_classification":
        raise UserError(f"{place}: a name is one label: give a table or JSON lines for {problem_type}.")


def read_tagged(
    source: Source,
    tags: str | None = None,
    scheme: str | None = BY_FILE,
    labels: Collection[str] | None = None,
    split: str = "train",
) -> list[TaggedWords]:
    """Sentences with a tag for each word, from CoNLL-U (.conllu), JSON lines, the hub, or else CoNLL columns.

    tags is the column: upos or xpos in CoNLL-U, one of those there are in JSON lines and on the hub; CoNLL columns
    have their tag in the last. scheme is BIO or BIOES for entities and None for tags of any form; where it is
    left out, CoNLL-U has none and all else BIO. Raises UserError for CoNLL-U with a scheme: it has parts of speech.
    """
    if not is_hub(source) and known_name(source).endswith(".conllu"):
        if scheme not in (None, BY_FILE):
            raise UserError(
                f"{source} is CoNLL-U, which has parts of speech and no tags of the scheme {scheme}: choose the task "
                "tagging (in Python scheme=None), or name a file with tags of that scheme."
            )
        return read_conllu(source, tags or "upos", labels)
    scheme = "BIO" if scheme == BY_FILE else scheme
    if is_hub(source) or known_name(source).endswith(JSON_LINES):
        return tagged_words(read_rows(source, split), tags, scheme, labels)
    return read_conll(source, scheme, labels)


def read_questions(source: Source, split: str = "train") -> list[Question]:
    """Questions on a context, from SQuAD's JSON, JSON lines, or the hub."""
    if is_hub(source) or known_name(source).endswith((".jsonl", ".ndjson")):
        return questions(read_rows(source, split))
    if known_name(source).endswith((".csv", ".tsv", ".txt")):
        raise UserError(
            f"{source}: where an answer stands in its text cannot be said in a table: give SQuAD's JSON, JSON lines "
            'with answers as {"text": […], "answer_start": […]}, or hub:NAME.'
        )
    return read_squad(source)


def read_choices(source: Source, split: str = "train") -> list[Choices]:
    """Questions with several choices, from a table, JSON lines, or the hub."""
    return choices(read_rows(source, split))


def read_summaries(source: Source, split: str = "train") -> list[Summary]:
    """Texts with their summaries, from a table, JSON lines, or the hub."""
    return summaries(read_rows(source, split))


def read_rows(
    source: Source,
    split: str = "train",
    header: Sequence[str] | None = None,
    delimiter: str | None = None,
    quoting: bool = True,
) -> list[Row]:
    """The rows of a table, of JSON lines or of the hub: where each stands, and its values by column."""
    if is_hub(source):
        return hub_rows(str(source), split)
    refuse_folder(Path(source))
    if known_name(source).endswith(JSON_LINES):
        return read_json_lines(source)
    if delimiter is None and not known_name(source).endswith((".csv", ".tsv")):
        if not os.path.exists(source):
            raise UserError(f"{source} cannot be read ({os.strerror(ENOENT)}): check the name and the permissions.")
        raise UserError(
            f"{source}: the name does not say how to read it: save it as .csv (commas), .tsv (TABs) or .jsonl, name "
            "hub:NAME, or in Python give the delimiter of a table."
        )
    return read_table(source, header, delimiter, quoting)


def is_hub(source: Source) -> bool:
    """Whether a source is a set of the hub rather than a path."""
    return isinstance(source, str) and source.startswith("hub:")
