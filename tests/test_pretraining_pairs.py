"""Pairs of segments, against the published algorithm: by counting, and beside a list-based version of it."""

import math
import random
from collections import Counter
from functools import partial

import numpy as np
import pytest
from support.tiny_run import make_text, random_documents

from bertedu.pretraining.sentence_pairs import IS_NEXT, NOT_NEXT, PairMaker, TokenizedText, truncate

PAIRS = 100_000
MAX_LENGTH = 32
SHORT = 0.1


def within_three_errors(values: list[float], expected: float) -> bool:
    """Whether the mean of independent values is as near to what is expected as chance allows."""
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return abs(np.mean(values) - expected) <= 3 * error


def share_is_ordinary(count: int, total: int, expected: float) -> bool:
    return abs(count / total - expected) <= 3 * math.sqrt(expected * (1 - expected) / total)


def documents_of(text: TokenizedText) -> list[int]:
    """The document of each token."""
    lengths = np.diff([text.sentences[sentence] for sentence in text.documents])
    return np.repeat(np.arange(len(lengths)), lengths).tolist()


@pytest.fixture(scope="module")
def text() -> TokenizedText:
    return make_text(random_documents(150))


@pytest.fixture(scope="module")
def passes(text):
    """Passes over the text until there are 100,000 pairs."""
    maker, rng, made = PairMaker(text, MAX_LENGTH), random.Random(0), []
    while sum(map(len, made)) < PAIRS:
        made.append(maker.next_sentence_pairs(rng))
    return made


@pytest.fixture
def untruncated(monkeypatch):
    """Pairs as they are before they are cut to length, so that their edges are the sentences'."""
    whole = partial(PairMaker, truncate=lambda first, second, most, rng: (first, second))
    monkeypatch.setitem(globals(), "PairMaker", whole)


def expected_pairs(text: TokenizedText) -> tuple[float, float]:
    """How many pairs a pass makes and how many are random, exactly, from the lengths of the sentences.

    Worked out from the end of each document, for each target length: a chunk of one sentence makes a random
    pair; a longer one is cut at a random sentence and is random by the toss of a coin, and what follows begins
    behind the chunk, or behind its first part if the rest was not used.
    """
    most = MAX_LENGTH - 3
    targets = dict.fromkeys(range(2, most + 1), SHORT / (most - 1))
    targets[most] += 1 - SHORT
    pairs = randoms = 0.0
    lengths = np.diff(text.sentences).tolist()
    for start, end in zip(text.documents, text.documents[1:], strict=False):
        sentences = lengths[start:end]
        for target, weight in targets.items():
            ahead = [(0.0, 0.0)] * (len(sentences) + 1)
            for i in reversed(range(len(sentences))):
                stop, tokens = i + 1, sentences[i]
                while stop < len(sentences) and tokens < target:
                    tokens, stop = tokens + sentences[stop], stop + 1
                if stop == i + 1:
                    ahead[i] = 1 + ahead[stop][0], 1 + ahead[stop][1]
                    continue
                unused = [ahead[middle] for middle in range(i + 1, stop)]
                ahead[i] = tuple(
                    one + 0.5 * ahead[stop][j] + 0.5 * sum(state[j] for state in unused) / len(unused)
                    for j, one in enumerate((1, 0.5))
                )
            pairs, randoms = pairs + weight * ahead[0][0], randoms + weight * ahead[0][1]
    return pairs, randoms


def test_random_next_share_over_100000_pairs(text, passes):
    """Half, and all chunks of one sentence: compared with the exact expectation."""
    pairs, randoms = expected_pairs(text)
    assert 0.5 < randoms / pairs < 0.75
    assert within_three_errors([len(made) for made in passes], pairs)
    counts = [sum(pair.label == NOT_NEXT for pair in made) for made in passes]
    assert within_three_errors(counts, randoms)
    assert within_three_errors([c - randoms / pairs * len(made) for c, made in zip(counts, passes, strict=True)], 0)


def test_ten_percent_of_documents_are_short():
    """Documents of 13 one-token sentences: an IsNext pair that opens one shows the target length."""
    most, documents = 13, 2500
    text = make_text([[[5]] * most] * documents)
    maker, rng, lengths = PairMaker(text, most + 3), random.Random(1), Counter()
    opening = {most * i for i in range(documents)}
    for _ in range(20):
        for pair in maker.next_sentence_pairs(rng):
            if pair.first[0] in opening and pair.label == IS_NEXT:
                lengths[len(pair)] += 1
    total = lengths.total()
    assert total > 20_000
    for length in range(2, most):
        assert share_is_ordinary(lengths[length], total, SHORT / (most - 1)), length
    assert share_is_ordinary(lengths[most], total, 1 - SHORT + SHORT / (most - 1))


def test_is_next_pairs_tile_their_document_and_unused_sentences_come_again(text, untruncated):
    """Read in order, first segments and true second ones give back each document, nothing lost, nothing twice."""
    edges = {text.sentences[sentence] for sentence in text.documents}
    place = 0
    for pair in PairMaker(text, MAX_LENGTH).next_sentence_pairs(random.Random(2)):
        assert pair.first[0] == place and pair.first[1] > place
        place = pair.first[1]
        if pair.label == IS_NEXT:
            assert pair.second[0] == place and pair.second[1] > place
            assert not any(pair.first[0] < edge < pair.second[1] for edge in edges), "a pair crosses documents"
            place = pair.second[1]
    assert place == len(text.tokens)


def test_random_segments_come_from_anywhere_in_another_document(text, untruncated):
    maker, rng, starts, document = PairMaker(text, MAX_LENGTH), random.Random(3), Counter(), documents_of(text)
    for _ in range(60):
        for pair in maker.next_sentence_pairs(rng):
            if pair.label == NOT_NEXT:
                own, other = document[pair.first[0]], document[pair.second[0]]
                assert own != other
                assert document[pair.second[1] - 1] == other
                starts[pair.second[0]] += 1
    assert set(starts) <= set(text.sentences)
    total = starts.total()
    # A document is drawn first, then one of its sentences: those of short documents are seen more often.
    expected = np.array([1 / 150 / n for n in np.diff(text.documents) for _ in range(n)]) * total
    counts = np.array([starts[mark] for mark in text.sentences[:-1]])
    freedom = len(counts) - 1
    assert abs(((counts - expected) ** 2 / expected).sum() - freedom) <= 3 * math.sqrt(2 * freedom)


def test_no_pair_is_too_long_or_empty(passes):
    for made in passes:
        for pair in made:
            assert len(pair) + 3 <= MAX_LENGTH
            assert pair.first[1] > pair.first[0] and pair.second[1] > pair.second[0]
    assert max(len(pair) + 3 for pair in passes[0]) == MAX_LENGTH


def test_truncation_takes_from_both_ends_and_from_the_longer_segment():
    rng, front, back = random.Random(4), 0, 0
    for _ in range(10_000):
        lengths = rng.randint(1, 40), rng.randint(1, 40)
        first, second = truncate((100, 100 + lengths[0]), (500, 500 + lengths[1]), 21, rng)
        kept = first[1] - first[0], second[1] - second[0]
        assert sum(kept) == min(21, sum(lengths))
        shorter = min(lengths)
        if sum(lengths) > 21:
            assert sorted(kept) == [min(shorter, 10), 21 - min(shorter, 10)], "the shorter one was cut first"
        front += first[0] - 100 + second[0] - 500
        back += 100 + lengths[0] - first[1] + 500 + lengths[1] - second[1]
    assert front + back > PAIRS
    assert share_is_ordinary(front, front + back, 0.5)


def published(documents: list[list[list[int]]], rng: random.Random) -> list[tuple[list[int], list[int], bool]]:
    """The published algorithm on plain lists, as its description goes: chunks, a split, a coin, truncation."""
    made = []
    for number, document in enumerate(documents):
        most = MAX_LENGTH - 3
        target = rng.randint(2, most) if rng.random() < SHORT else most
        chunk, i = [], 0
        while i < len(document):
            chunk.append(document[i])
            if i == len(document) - 1 or sum(map(len, chunk)) >= target:
                split = rng.randint(1, len(chunk) - 1) if len(chunk) > 1 else 1
                first = [token for sentence in chunk[:split] for token in sentence]
                is_random = len(chunk) == 1 or rng.random() < 0.5
                if is_random:
                    other = documents[rng.choice([j for j in range(len(documents)) if j != number])]
                    second: list[int] = []
                    for sentence in other[rng.randrange(len(other)) :]:
                        second = second + sentence
                        if len(second) >= target - len(first):
                            break
                    i -= len(chunk) - split
                else:
                    second = [token for sentence in chunk[split:] for token in sentence]
                while len(first) + len(second) > most:
                    longer = first if len(first) > len(second) else second
                    longer.pop(0 if rng.random() < 0.5 else -1)
                made.append((first, second, is_random))
                chunk = []
            i += 1
    return made


def test_same_distributions_as_a_list_based_version():
    """Pairs in a pass, labels, lengths of both segments, first tokens: means over 400 passes within three errors."""
    documents = random_documents(12, seed=7)
    text, rounds = make_text(documents), 400
    maker, ours_rng, their_rng = PairMaker(text, MAX_LENGTH), random.Random(5), random.Random(6)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(Counter())
        for pair in maker.next_sentence_pairs(ours_rng):
            first, second = text.tokens[slice(*pair.first)], text.tokens[slice(*pair.second)]
            ours[-1].update(features(first, second, pair.label == NOT_NEXT))
        theirs.append(Counter())
        for first, second, is_random in published(documents, their_rng):
            theirs[-1].update(features(first, second, is_random))
    names = {name for counts in (*ours, *theirs) for name in counts}
    assert len(names) > 60
    far = {}
    for name in names:
        mine, reference = ([counts[name] for counts in side] for side in (ours, theirs))
        error = math.sqrt((np.var(mine) + np.var(reference)) / rounds)
        far[name] = abs(np.mean(mine) - np.mean(reference)) / max(error, 1e-9)
    assert max(far["pairs"], far["random"]) <= 3
    assert sum(distance > 3 for distance in far.values()) <= math.ceil(0.01 * len(far)), far
    assert max(far.values()) < 4.5


def features(first, second, is_random: bool) -> list:
    """What is counted of a pair."""
    lengths = ("first", is_random, len(first)), ("second", is_random, len(second)), ("both", len(first) + len(second))
    names = ["pairs", *lengths, ("opens", int(first[0])), ("ends", int(second[-1]))]
    return [*names, "random"] if is_random else names


def test_strangers_from_the_same_source_where_there_is_another():
    sources = [f"package {i // 3}" for i in range(30)] + ["alone"]
    text = make_text(random_documents(31, seed=3), sources)
    own_source, document = Counter(), documents_of(text)
    for pair in PairMaker(text, MAX_LENGTH, same_source=True).next_sentence_pairs(random.Random(8)):
        if pair.label == NOT_NEXT:
            own, other = document[pair.first[0]], document[pair.second[0]]
            assert own != other, "a document is no stranger to itself"
            own_source[sources[own] == sources[other], sources[own] == "alone"] += 1
    assert own_source[True, False] > 0 and own_source[False, True] > 0
    assert own_source[False, False] == 0


def test_a_text_of_one_document_still_makes_pairs():
    text = make_text([[[5, 6], [7, 8], [9]]])
    assert PairMaker(text, 16).next_sentence_pairs(random.Random(0))
    assert PairMaker(make_text([]), 16).next_sentence_pairs(random.Random(0)) == []


def test_half_of_the_sentence_order_pairs_are_swapped(text):
    maker, rng, document, swapped, total = PairMaker(text, MAX_LENGTH), random.Random(9), documents_of(text), 0, 0
    while total < PAIRS:
        for pair in maker.sentence_order_pairs(rng):
            assert (pair.first[0] > pair.second[0]) == bool(pair.label), "the label says which one came first"
            assert document[pair.first[0]] == document[pair.second[1] - 1]
            assert len(pair) + 3 <= MAX_LENGTH
            swapped, total = swapped + pair.label, total + 1
    assert share_is_ordinary(swapped, total, 0.5)


def test_sentence_order_segments_are_neighbours(text, untruncated):
    for pair in PairMaker(text, MAX_LENGTH).sentence_order_pairs(random.Random(10)):
        earlier, later = sorted([pair.first, pair.second])
        assert earlier[1] == later[0] and earlier[1] in text.sentences


def test_a_pass_is_a_function_of_its_seed(text):
    maker = PairMaker(text, MAX_LENGTH)
    first, second, other = (maker.next_sentence_pairs(random.Random(seed)) for seed in (1, 1, 2))
    assert first == second != other
