"""The names and answers written by hand, data/tasks/entities and questions: parts share nothing, no template shows."""

import re
from collections import Counter
from functools import cache

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from support.task_rows import DATA, rows

from bertedu.corpora.tasks.grammar import PARTS
from bertedu.finetuning.spans import tag_spans
from bertedu.tokenization import BertTokenizer

PAIRS = [("train", "test"), ("train", "validation"), ("validation", "test")]


@cache
def names(part: str) -> list[tuple[str, str]]:
    """Every name of a part in small letters, with its type."""
    return [
        (" ".join(row.words[start:end]).lower(), kind)
        for row in rows("entities", part)
        for kind, start, end in tag_spans(row.tags)
    ]


def without_names(folder: str, part: str) -> list[str]:
    """Sentences with the type in place of each name: what is left of one is its template."""
    found = []
    for row in rows(folder, part):
        words = zip(row.words, row.tags, strict=True)
        found.append(" ".join(tag[2:].upper() or word.lower() for word, tag in words if tag[0] != "I"))
    return found


def likest(one: list[str], other: list[str]) -> tuple[float, str, str]:
    """The two texts of two lists that share most: words in both, divided by words in either."""
    bags = [(set(re.findall(r"[\w']+", text.lower())), text) for text in other]
    best = (0.0, "", "")
    for text in one:
        bag = set(re.findall(r"[\w']+", text.lower()))
        if len(bag) > 4:
            best = max(best, *((len(bag & more) / len(bag | more), text, like) for more, like in bags))
    return best


# Names ------------------------------------------------------------------------------------------------------------


def test_there_are_as_many_sentences_as_promised():
    assert [len(rows("entities", part)) for part in PARTS] == [1462, 300, 300]


def test_an_inside_tag_follows_a_tag_of_its_type():
    for part in PARTS:
        for row in rows("entities", part):
            for before, tag in zip(("O", *row.tags), row.tags, strict=False):
                assert tag[0] != "I" or before[2:] == tag[2:], row
        assert {kind for _, kind in names(part)} == {"person", "place", "organisation", "product"}


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_most_names_are_new_and_only_frequent_ones_come_back(one, other):
    """A name that stands in one or two sentences stands in one part; one that comes more often may be in several."""
    known, asked = Counter(name for name, _ in names(one)), [name for name, _ in names(other)]
    assert sum(name not in known for name in asked) / len(asked) > 0.8
    for name in known.keys() & set(asked):
        assert sum(name == found for part in PARTS for found, _ in names(part)) > 2, name


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_sentence_of_one_part_is_nearly_one_of_another(one, other):
    texts = [[" ".join(row.words) for row in rows("entities", part)] for part in (one, other)]
    share, first, second = likest(*texts)
    assert share <= 0.6, f"{first} | {second}"


def test_no_two_sentences_have_the_same_template():
    found = Counter(text for part in PARTS for text in without_names("entities", part))
    assert found.most_common(1)[0][1] == 1, found.most_common(3)
    openings = Counter(" ".join(text.split()[:4]) for text in found)
    assert openings.most_common(1)[0][1] <= 6, openings.most_common(3)
    made = Counter(text for part in PARTS for text in without_names("stress/entities", part))
    assert made.most_common(1)[0][1] > 4  # so that the test can fail: these are made of templates


def test_names_are_also_words_or_of_several_types():
    """A list of names is not enough: the same word is a person, a place, a firm, or no name at all."""
    for part, least in zip(PARTS, (150, 20, 20), strict=True):
        tags: dict[str, set[str]] = {}
        for row in rows("entities", part):
            for word, tag in zip(row.words, row.tags, strict=True):
                tags.setdefault(word.lower(), set()).add(tag)
        assert sum(len({tag for tag in found if tag[0] == "B"}) > 1 for found in tags.values()) >= least
        assert sum("O" in found and len(found) > 1 for found in tags.values()) >= least


def test_an_article_begins_no_name():
    for part in PARTS:
        assert not [name for name, _ in names(part) if name.startswith("the ")]


# Questions --------------------------------------------------------------------------------------------------------


def contexts(part: str) -> list[str]:
    return list(dict.fromkeys(row.context for row in rows("questions", part)))


def test_there_are_as_many_questions_as_promised():
    assert [len(contexts(part)) for part in PARTS] == [301, 34, 34]
    for part in PARTS:
        asked = rows("questions", part)
        assert 5 <= len(asked) / len(contexts(part)) <= 8
        assert 0.25 < sum(row.is_impossible for row in asked) / len(asked) < 0.4


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_paragraph_of_one_part_is_nearly_one_of_another(one, other):
    share, first, second = likest(contexts(one), contexts(other))
    assert share <= 0.3, f"{first} | {second}"


def test_no_question_comes_twice_of_a_paragraph_and_few_begin_alike():
    asked = [(row.context, row.question) for part in PARTS for row in rows("questions", part)]
    assert len(set(asked)) == len(asked)
    openings = Counter(" ".join(question.split()[:3]) for _, question in asked)
    assert openings.most_common(1)[0][1] / len(asked) < 0.05, openings.most_common(3)


def test_an_answer_is_a_span_that_begins_and_ends_with_a_word():
    for part in PARTS:
        for row in rows("questions", part):
            for answer in row.answers:
                end = answer.start + len(answer.text)
                assert row.context[answer.start : end] == answer.text
                assert not re.match(r"\w\w", row.context[max(0, answer.start - 1) : answer.start + 1]), row
                assert not re.match(r"\w\w", row.context[end - 1 : end + 1]), row


def test_paragraph_and_question_fit_the_model_in_the_box():
    tokenizer = BertTokenizer.from_pretrained(DATA / "checkpoints" / "mixed-mini")
    for part in PARTS:
        pairs = tokenizer.encode_lines([f"{row.question} {row.context}" for row in rows("questions", part)])
        assert max(map(len, pairs)) + 3 <= 128


def test_the_sentence_with_the_answer_shares_now_many_and_now_few_words_with_the_question():
    shares = []
    for row in rows("questions", "train"):
        for answer in row.answers[:1]:
            start = max(row.context.rfind(mark, 0, answer.start) for mark in ".?!") + 1
            sentence = re.split(r"(?<=[.?!]) ", row.context[start:].strip())[0]
            asked, told = (set(re.findall(r"\w{4,}", text.lower())) for text in (row.question, sentence))
            shares.append(len(asked & told) / max(1, len(asked)))
    assert sum(share == 0 for share in shares) / len(shares) > 0.15
    assert sum(share > 0.5 for share in shares) / len(shares) > 0.15


def test_the_question_alone_tells_only_in_part_whether_there_is_an_answer():
    """0.5 is chance. Whoever invents questions without an answer asks too often for a price, an age or a name."""
    train, validation = rows("questions", "train"), rows("questions", "validation")
    bags = CountVectorizer(ngram_range=(1, 2), token_pattern=r"[\w']+").fit([row.question for row in train])
    inputs, labels = bags.transform([row.question for row in train]), [row.is_impossible for row in train]
    blind = LogisticRegression(max_iter=1000).fit(inputs, labels)
    guessed = blind.predict_proba(bags.transform([row.question for row in validation]))[:, 1]
    assert roc_auc_score([row.is_impossible for row in validation], guessed) < 0.83
