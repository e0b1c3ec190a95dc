"""The small world in two languages: that nothing but the words and their order differs."""

import hashlib
from collections import Counter
from random import Random

import pytest

from bertedu.corpora.second_language import (
    ENGLISH,
    NAMES_AND_NUMBERS,
    NUMBERS,
    TOPICS,
    Language,
    Phrase,
    Sentence,
    Word,
    lexicon,
    tell,
    telling,
)
from bertedu.tokenization.normalization import strip_accents

OWN = Language(own_words=True)
SENTENCE = Sentence(
    "animals",
    (Word("at"), Word("7")),
    Phrase(Word("wolf", "noun"), (Word("wild", "adjective"),), Word("the")),
    Word("sleeps", "verb"),
    (Phrase(Word("den", "noun"), (Word("old", "adjective"),), Word("the"), Word("in")),),
)


def test_words_translate_one_to_one_and_no_word_is_in_both_languages():
    words = OWN.words
    assert len(set(words.values())) == len(words) == len(lexicon())
    assert not set(words) & set(words.values())


def test_every_rare_word_has_a_translation():
    texts, _ = telling(OWN, 20_000, "all words")
    assert {word for text in texts for word in text.split()} == set(OWN.words.values())


def test_shared_words_are_kept_and_all_others_translated():
    shared = Language(own_words=True, shared=NAMES_AND_NUMBERS)
    kept = {word for word, other in shared.words.items() if word == other}
    assert kept == set(NAMES_AND_NUMBERS) and "7" in NUMBERS
    assert all(OWN.words[word] == other for word, other in shared.words.items() if word not in kept)


def test_words_of_a_class_have_its_ending():
    endings = {"noun": "ol", "adjective": "em", "verb": "ask"}
    for word in lexicon():
        assert OWN.words[word.text].endswith(endings.get(word.kind, "")), word


def test_some_words_differ_by_an_accent_only():
    plain = Counter(map(strip_accents, OWN.words.values()))
    assert set(plain.values()) <= {1, 2}
    assert sum(count == 2 for count in plain.values()) > 60  # without accents about half of the words are lost


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ({}, "at 7 the wild wolf sleeps in the old den"),
        ({"verb_last": True}, "at 7 the wild wolf in the old den sleeps"),
        ({"adjective_after": True}, "at 7 the wolf wild sleeps in the den old"),
        ({"postpositions": True}, "at 7 the wild wolf sleeps the old den in"),
        (
            {"verb_last": True, "adjective_after": True, "postpositions": True},
            "at 7 the wolf wild the den old in sleeps",
        ),
    ],
)
def test_a_switch_moves_the_right_words(order, told):
    assert Language(**order).say(SENTENCE) == told
    own = Language(own_words=True, **order).say(SENTENCE).split()
    assert own == [OWN.words[word] for word in told.split()]


def test_the_languages_tell_of_the_same_things_with_the_same_seed():
    """With the same seed, they tell the same sentences: so the seed alone decides what is told."""
    one, other = telling(ENGLISH, 200, 5), telling(OWN, 200, 5)
    assert one[1] == other[1]
    assert [" ".join(OWN.words[word] for word in text.split()) for text in one[0]] == other[0]
    assert telling(ENGLISH, 200, 6) != one


def test_topics_are_as_frequent_as_they_should_be():
    counts = Counter(tell(random).topic for random in [Random(0)] for _ in range(5000))
    assert set(counts) == set(TOPICS)
    for topic, share in TOPICS.items():
        assert abs(counts[topic] / 5000 - share) < 0.03, topic


def test_the_sentences_are_those_of_the_recorded_runs():
    """The recorded runs in data/comparisons/languages.json were trained on these."""
    texts = "\n".join(telling(ENGLISH, 300, 0)[0] + telling(OWN, 300, 0)[0])
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == "173dde369c6f86e4"
