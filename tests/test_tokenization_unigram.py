"""The Unigram model and its learning, against all segmentations, hand calculations and the `tokenizers` library."""

import gzip
import json
import math
import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertedu.errors import UserError
from bertedu.tokenization.unigram import UNKNOWN_PENALTY, Unigram
from bertedu.tokenization.unigram_lattices import Lattices
from bertedu.tokenization.unigram_training import learn_pieces, seed_pieces

PIECES = [("<unk>", 0.0), ("a", -2.0), ("b", -2.5), ("ab", -3.0), ("bab", -4.25), ("ba", -3.75), ("abab", -6.5)]
SPECIAL = ("<pad>", "<unk>")


@pytest.fixture(scope="module")
def text(datasets_folder) -> list[str]:
    lines = gzip.decompress((datasets_folder / "wikitext-2" / "test.txt.gz").read_bytes()).decode().split("\n")
    return lines[:400]


def segmentations(word: str, pieces: dict[str, float]):
    """All ways to write a word, each with its log probability."""
    for ends in product((False, True), repeat=len(word) - 1):
        cuts = [0, *(position for position, cut in enumerate(ends, 1) if cut), len(word)]
        parts = [word[first:last] for first, last in pairwise(cuts)]
        if all(part in pieces for part in parts):
            yield parts, sum(pieces[part] for part in parts)


@pytest.mark.parametrize("word", ["a", "abab", "babba", "aabbabab"])
def test_viterbi_finds_the_best_of_all_segmentations(word):
    model = Unigram(PIECES, unk_id=0)
    best = max(segmentations(word, dict(PIECES)), key=lambda found: found[1])
    path = model.best_path(word)
    assert [word[arc.start : arc.stop] for arc in path] == best[0]
    assert sum(arc.score for arc in path) == pytest.approx(best[1])


@pytest.mark.parametrize("word", ["a", "abab", "babba"])
def test_forward_and_backward_sum_over_all_segmentations(word):
    model = Unigram(PIECES, unk_id=0)
    total, expected = model.forward_backward(word)
    ways = list(segmentations(word, dict(PIECES)))
    assert total == pytest.approx(math.log(sum(math.exp(score) for _, score in ways)))
    wanted: Counter[str] = Counter()
    for parts, score in ways:
        for part in parts:
            wanted[part] += math.exp(score - total)
    assert {PIECES[index][0]: share for index, share in expected.items()} == pytest.approx(wanted)


def test_unknown_characters_side_by_side_are_one_token():
    model = Unigram(PIECES, unk_id=0)
    assert model.unknown_score == -6.5 - UNKNOWN_PENALTY
    assert model.segment("axyb") == [(0, 1, 1), (1, 3, 0), (3, 4, 2)]
    assert model.segment("") == []


def test_a_piece_that_covers_an_unknown_character_wins_over_the_unknown_token():
    model = Unigram([*PIECES, ("xy", -40.0)], unk_id=0)
    assert model.segment("xy") == [(0, 2, len(PIECES))]


def test_ids_are_those_of_the_library_for_random_scores():
    chooser = random.Random(0)
    for _ in range(30):
        parts = {"".join(chooser.choices("abc", k=chooser.randint(1, 4))) for _ in range(12)}
        pieces = [("<unk>", 0.0), *((part, -chooser.randint(1, 40) / 4) for part in sorted(parts))]
        model, theirs = Unigram(pieces, 0), Tokenizer(models.Unigram(pieces, unk_id=0))
        for _ in range(50):
            word = "".join(chooser.choices("abcd", k=chooser.randint(1, 12)))
            wanted = theirs.encode(word)
            assert [piece for _, _, piece in model.segment(word)] == wanted.ids
            assert [(start, stop) for start, stop, _ in model.segment(word)] == wanted.offsets


def test_all_words_at_once_give_what_each_gives_alone():
    words, counts = ["abab", "b", "bxab", "aabbabab"], np.array([3.0, 1.0, 2.0, 5.0])
    model = Unigram(PIECES, unk_id=0)
    scores = np.array([model.unknown_score, *(score for _, score in PIECES[1:])])
    lattices = Lattices(words, {piece: index for index, (piece, _) in enumerate(PIECES) if index})
    wanted = np.zeros(len(PIECES))
    for word, count in zip(words, counts, strict=True):
        for index, share in model.forward_backward(word)[1].items():
            wanted[index] += count * share
    assert lattices.expected_counts(scores, counts) == pytest.approx(wanted)
    owners, ids, best = lattices.best_paths(scores)
    for index, word in enumerate(words):
        path = model.best_path(word)
        assert sorted(ids[owners == index].tolist()) == sorted(arc.id for arc in path)
        assert best[index] == pytest.approx(sum(arc.score for arc in path))


def test_lattices_without_some_pieces_are_those_that_never_had_them():
    words = ["abab", "bxab", "aabbabab"]
    kept = [0, 1, 3, 5]  # without "b", which becomes unknown
    ids = {piece: index for index, (piece, _) in enumerate(PIECES) if index}
    lattices = Lattices(words, ids)
    new_ids = np.full(len(PIECES), -1, dtype=np.int32)
    new_ids[kept] = np.arange(len(kept))
    lattices.renumber(new_ids, kept_words=np.array([True, False, True]))
    fresh = Lattices([words[0], words[2]], {PIECES[old][0]: new for new, old in enumerate(kept) if old})
    scores, counts = np.array([-9.0, -2.0, -3.0, -3.75]), np.array([2.0, 1.0])
    assert lattices.expected_counts(scores, counts) == pytest.approx(fresh.expected_counts(scores, counts))
    assert lattices.best_paths(scores)[2] == pytest.approx(fresh.best_paths(scores)[2])


def test_seeds_are_substrings_that_branch():
    seeds = dict(seed_pieces(["xaby", "abz", "abab"], np.array([1.0, 1.0, 10.0])))
    assert set(seeds) == {"a", "b", "x", "y", "z", "ab"}  # "xa" occurs once
    assert math.exp(seeds["ab"] - seeds["z"]) == pytest.approx(4 * 2)  # 4 times in the list of words, 2 characters
    assert math.exp(seeds["a"] - seeds["z"]) == pytest.approx(22)  # as often as in the text
    assert "bc" not in dict(seed_pieces(["abcd", "ebcd"], np.array([1.0, 1.0])))  # always goes on with d


@pytest.mark.parametrize("vocab_size", [500, 1500])
def test_learned_pieces_are_those_of_the_library(text, vocab_size):
    theirs = Tokenizer(models.Unigram([("<unk>", 0.0)], unk_id=0))
    theirs.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size, special_tokens=list(SPECIAL), unk_token="<unk>", show_progress=False
    )
    theirs.train_from_iterator(text, trainer)
    wanted = dict(json.loads(theirs.to_str())["model"]["vocab"][len(SPECIAL) :])
    words = Counter("▁" + word for line in text for word in line.split())
    found = dict(learn_pieces(words, vocab_size, SPECIAL))
    assert set(found) == set(wanted) and len(found) == vocab_size - len(SPECIAL)
    # Characters that had no probability left are numbered in the library's order, which changes from run to run.
    differences = [abs(found[piece] - wanted[piece]) for piece in wanted if len(piece) > 1]
    assert max(differences) < 1e-8
    lost = min(score for piece, score in wanted.items() if len(piece) > 1)
    regular = [piece for piece in wanted if len(piece) == 1 and wanted[piece] > lost + 0.1]
    assert max(abs(found[piece] - wanted[piece]) for piece in regular) < 1e-8


def test_the_order_of_the_words_changes_nothing(text):
    words = Counter(word for line in text for word in line.split())
    shuffled = list(words.items())
    random.Random(0).shuffle(shuffled)
    assert learn_pieces(words, 900, SPECIAL) == learn_pieces(dict(shuffled), 900, SPECIAL)


def test_special_tokens_of_the_text_are_not_learned():
    words = {"<pad>": 50, "▁<pad>": 50, "▁pad": 10}
    assert "<pad>" not in dict(learn_pieces(words, 40, SPECIAL))


def test_no_words_and_too_small_a_vocabulary_are_refused():
    with pytest.raises(UserError, match="no words"):
        learn_pieces({}, 100, SPECIAL)
    with pytest.raises(UserError, match="already take 5: ask for at least 5"):
        learn_pieces({"abc": 1}, 4, SPECIAL)
