"""The task data that ship: the files are what the generator makes, splits share nothing, labels are right."""

import re
from collections import Counter
from functools import cache
from random import Random

import pytest
from support.task_rows import DATA, rows

from bertedu.corpora.tasks import make_files, write_tasks
from bertedu.corpora.tasks.files import BY_HAND, TASKS, folder_of
from bertedu.corpora.tasks.grammar import PARTS, SLOT, fill, lists_of, read_words
from bertedu.corpora.tasks.sentiment import JUDGED, NEUTRAL, turned_round
from bertedu.errors import UserError
from bertedu.finetuning.labels import labels_of
from bertedu.finetuning.spans import tag_spans
from bertedu.segmentation import split_sentences
from bertedu.tokenization import BertTokenizer

MOST_BYTES = 4_000_000
# Lists of frames, and lists of words that belong to a task's language rather than to its entities.
TEMPLATES = ("praise", "neutral", "templates", "frames", "facts", "events", "denied", "endings", "moves")


@cache
def made() -> dict[str, str]:
    return make_files()


# The files --------------------------------------------------------------------------------------------------------


def test_the_stored_files_are_what_the_generator_makes():
    paths = {path.relative_to(DATA / "tasks").as_posix(): path for path in (DATA / "tasks").glob("*/**/*.*")}
    stored = {name: path for name, path in paths.items() if name.split("/")[0] not in ("ratings", *BY_HAND)}
    assert set(stored) == set(made())
    for name, path in stored.items():
        assert path.read_bytes() == made()[name].encode(), f"{name}: run python -m bertedu.corpora.tasks data/tasks"


def test_the_seed_alone_decides_what_is_made(tmp_path):
    assert make_files() == made()
    assert make_files(seed=1) != made()
    assert len(write_tasks(tmp_path)) == 3 * len(TASKS) == len(made())


def test_the_task_data_fit_into_the_box():
    assert sum(len(text.encode()) for text in made().values()) <= MOST_BYTES


@pytest.mark.parametrize("task", TASKS)
def test_no_row_stands_twice_or_in_two_splits(task):
    texts = [
        str(row) if task != "questions" else f"{row.context} {row.question}"
        for p in PARTS
        for row in rows(folder_of(task), p)
    ]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("task", TASKS)
def test_no_text_has_an_open_slot_or_a_missing_capital(task):
    for part in PARTS:
        text = made()[f"{folder_of(task)}/{part}.{TASKS[task][0]}"]
        if task != "questions":
            assert not re.search(r"[{}<>]", text) or task in ("choices", "summaries"), task
        assert not re.search(r"\{[a-z ]+\d?\}|<|>|=>| :: |  ", text)
    if task in ("sentiment", "aspects", "topics"):
        for row in rows(folder_of(task), "train"):
            assert row.text[0].isupper() and row.text[-1] in ".?!", row.text
            assert not re.search(r"[.?!] [a-z]", row.text), row.text


def test_every_text_fits_the_model_in_the_box():
    tokenizer = BertTokenizer.from_pretrained(DATA / "checkpoints" / "mixed-mini")
    for part in PARTS:
        summaries = (split_sentences(row.text) for row in rows("summaries", part))
        assert max(sum(map(len, tokenizer.encode_lines(text))) + 2 * len(text) for text in summaries) <= 128
        pairs = tokenizer.encode_lines([f"{row.question} {row.context}" for row in rows("stress/questions", part)])
        assert max(map(len, pairs)) + 3 <= 128


# The splits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_no_template_or_entity_of_the_test_is_in_training(task):
    sections = read_words(task)
    for one, other in (("train", "test"), ("train", "validation"), ("validation", "test")):
        for name, entries in sections[one].items():
            if name != "number":
                same = set(map(str.lower, entries)) & set(map(str.lower, sections[other].get(name, ())))
                if task == "topics" and name == "frames":
                    same -= {"{about}"}  # the bare message, whose sentence is of its part
                assert not same, f"{task}: {name} of {other} are in {one}: {same}"


def test_no_name_of_the_test_is_in_training():
    """Wherever it stands: as a word of a name, a town, a thing."""
    for task in ("questions", "inference", "similarity", "choices", "summaries"):
        train, test = (
            " ".join(re.findall(r"\w+", made()[f"{folder_of(task)}/{part}.{TASKS[task][0]}"])) for part in PARTS[::2]
        )
        lists = read_words(task)["test"]
        for name in [*lists.get("name", ()), *lists.get("thing", ()), *lists.get("town", ())]:
            assert f" {name} " in test and f" {name} " not in train, (task, name)


def test_no_entity_of_the_test_is_in_training():
    """No name, and no part of one that is its own: what persons, towns, companies and products are called."""

    def own(part: str) -> set[str]:
        lists = read_words("entities")[part]
        return {
            word
            for name, entries in lists.items()
            if name != "templates"
            for entry in entries
            for word in entry.split()
        }

    def names(part: str) -> set[tuple[str, ...]]:
        return {row.words[start:end] for row in rows("stress/entities", part) for _, start, end in tag_spans(row.tags)}

    for one, other in (("train", "test"), ("train", "validation"), ("validation", "test")):
        assert not own(one) & own(other)
        assert not names(one) & names(other)


# The labels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "classes"), [("sentiment", 3), ("topics", 6), ("inference", 3), ("choices", 4), ("similarity", 6)]
)
def test_all_classes_are_there_and_about_equally_frequent(task, classes):
    for part in PARTS:
        counts = Counter(row.label for row in rows(folder_of(task), part))
        assert len(counts) == classes
        assert max(counts.values()) - min(counts.values()) <= 1, counts


def test_every_aspect_is_praised_and_blamed_and_never_at_once():
    for part in PARTS:
        counts = Counter(label for row in rows("aspects", part) for label in row.label)
        assert set(counts) == set(labels_of(rows("aspects", "train"))) and len(counts) == 8
        assert max(counts.values()) < 2 * min(counts.values())
        for row in rows("aspects", part):
            assert len({label.split()[0] for label in row.label}) == len(row.label), row
        assert any(not row.label for row in rows("aspects", part))


def test_a_template_alone_tells_neither_praise_nor_blame():
    """Every review template praises and blames: without its adjectives it says neither."""
    for part in PARTS:
        for construction in JUDGED:
            for template in lists_of("sentiment", part)[construction]:
                assert turned_round(template) != template == turned_round(turned_round(template))


def test_every_construction_of_the_test_is_seen_in_training():
    constructions = {*JUDGED, *NEUTRAL}
    for part in PARTS:
        lines = made()[f"stress/sentiment/{part}.tsv"].splitlines()[1:]
        assert {line.split("\t")[2] for line in lines} == constructions


def test_an_inside_tag_follows_a_tag_of_its_type():
    types = set()
    for part in PARTS:
        for row in rows("stress/entities", part):
            before = "O"
            for tag in row.tags:
                assert tag[0] != "I" or before[2:] == tag[2:], row
                types.add(tag[2:])
                before = tag
    assert types == {"", "person", "place", "organisation", "product"}


def test_some_names_have_several_types():
    """Some names are of several types in each part, so that a list of names is not enough."""
    for part in PARTS:
        found: dict[str, set[str]] = {}
        for row in rows("stress/entities", part):
            for word, tag in zip(row.words, row.tags, strict=True):
                found.setdefault(word, set()).add(tag)
        assert sum(len({tag for tag in tags if tag[0] == "B"}) > 1 for tags in found.values()) >= 4


def test_many_words_have_several_parts_of_speech():
    """In each part many words stand with two tags or more, and one with three."""
    for part in PARTS:
        found: dict[str, set[str]] = {}
        for row in rows("parts_of_speech", part):
            for word, tag in zip(row.words, row.tags, strict=True):
                found.setdefault(word.lower(), set()).add(tag)
        assert sum(len(tags) > 1 for tags in found.values()) >= 25
        assert found["light"] == {"NOUN", "VERB", "ADJ"}
        assert found["that"] == {"DET", "PRON", "SCONJ"}


def test_a_word_without_a_part_of_speech_is_refused():
    from bertedu.corpora.tasks.parts_of_speech import tagged

    with pytest.raises(UserError, match=r"'stone' .* has no tag"):
        tagged("The stone fell .", {"DET": ("the",), "VERB": ("fell",), "PUNCT": (".",)}, Random(0))


# Questions --------------------------------------------------------------------------------------------------------


def test_an_answer_ends_where_a_word_ends():
    for part in PARTS:
        for row in rows("stress/questions", part):
            for answer in row.answers:
                end = answer.start + len(answer.text)
                assert row.context[answer.start : end] == answer.text
                assert not re.match(r"\w\w", row.context[max(0, answer.start - 1) : answer.start + 1]), row
                assert not re.match(r"\w\w", row.context[end - 1 : end + 1]), row


# What can answer a question, by its first words; the first that fits counts.
ASKED_FOR = {
    "When": ("day",),
    "Until when": ("day",),
    "Where": ("place", "spot"),
    "From where": ("place", "spot"),
    "Why": ("reason",),
    "How much": ("price",),
    "For how much": ("price",),
    "With whom": ("name",),
    "To whom": ("name",),
    "Who": ("name",),
    "Whose": ("name",),
}


def test_a_question_without_answer_has_none_in_the_text():
    """A sentence that names all that the question names (people, things, numbers) has nothing of the kind asked for."""
    for part in PARTS:
        lists = lists_of("questions", part)
        words = [word for name in lists if name not in ("facts", "filler") for word in lists[name]]
        impossible = [row for row in rows("stress/questions", part) if row.is_impossible]
        assert 0.25 < len(impossible) / len(rows("stress/questions", part)) < 0.45
        for row in impossible:
            asked = [word for word in words if re.search(rf"\b{word}\b", row.question, re.IGNORECASE)]
            assert asked, row
            kinds = next((kinds for start, kinds in ASKED_FOR.items() if row.question.startswith(f"{start} ")), None)
            for sentence in row.context.split(". "):
                if all(re.search(rf"\b{word}\b", sentence, re.IGNORECASE) for word in asked):
                    assert kinds, row
                    fitting = [word for kind in kinds for word in lists.get(kind, ()) if word not in asked]
                    assert not any(re.search(rf"\b{word}\b", sentence, re.IGNORECASE) for word in fitting), row


def test_a_question_has_one_answer():
    """The sentence with the answer is the only one that names all that the question names."""
    for part in PARTS:
        lists = lists_of("questions", part)
        words = [word for name in lists if name not in ("facts", "filler") for word in lists[name]]
        for row in rows("stress/questions", part):
            asked = [word for word in words if re.search(rf"\b{word}\b", row.question, re.IGNORECASE)]
            fitting = [
                s for s in row.context.split(". ") if all(re.search(rf"\b{w}\b", s, re.IGNORECASE) for w in asked)
            ]
            assert row.is_impossible or len(fitting) == 1, row


# The grammar ------------------------------------------------------------------------------------------------------


def test_a_slot_that_comes_back_gets_the_same_word():
    lists = {"dish": ("soup", "apple"), "dish_plain": ("x",)}
    values: dict[str, str] = {}
    text = fill("{a dish} <is/was> no {dish2}. {dish}!", lists, Random(0), values)
    first = values["dish"]
    assert re.fullmatch(rf"An? {first} (is|was) no {values['dish2']}\. {first.capitalize()}!", text)
    assert values["dish2"] != first and text.startswith("An apple" if first == "apple" else "A soup")
    assert SLOT.sub("", text) == text


def test_a_template_that_asks_for_a_missing_list_is_refused():
    with pytest.raises(UserError, match="no such list"):
        fill("{nothing}", {}, Random(0))
