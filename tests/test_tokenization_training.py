"""Learning a vocabulary, against counting everything anew at each step and against the `tokenizers` library."""

from collections import Counter
from itertools import pairwise

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from bertedu.errors import UserError
from bertedu.tokenization import training
from bertedu.tokenization.fast import count_words
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS, learn_vocabulary

COUNTS = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "aaaaa": 4, "banana": 7, "bandana": 2, "anna": 3, "nest": 1}


def corpus_lines() -> list[str]:
    """Some real prose that is always there: the documentation of Python's own modules and of this test's imports."""
    import argparse
    import decimal
    import doctest
    import logging
    import subprocess
    import typing

    modules = (argparse, decimal, doctest, logging, subprocess, typing, pytest)
    objects = [value for module in modules for value in (module, *vars(module).values())]
    texts = {text for value in objects if isinstance(text := getattr(value, "__doc__", None), str)}
    return sorted(line for text in texts for line in text.splitlines())


def slow_vocabulary(word_counts: dict[str, int], vocab_size: int, method: str) -> list[str]:
    """The definition: score all pairs, merge the best, start again."""
    tokens = [*SPECIAL_TOKENS, *sorted(set("".join(word_counts)))]
    tokens += sorted({"##" + character for word in word_counts for character in word[1:]})
    words = {word: [word[0], *("##" + character for character in word[1:])] for word in word_counts}
    while len(tokens) < vocab_size:
        single, pairs = Counter(), Counter()
        for word, pieces in words.items():
            for piece in pieces:
                single[piece] += word_counts[word]
            for pair in pairwise(pieces):
                pairs[pair] += word_counts[word]
        if not pairs:
            break
        relative = method == "wordpiece_score"
        score = {pair: n / (single[pair[0]] * single[pair[1]]) if relative else n for pair, n in pairs.items()}
        best = min(pairs, key=lambda pair: (-score[pair], tokens.index(pair[0]), tokens.index(pair[1])))
        merged = best[0] + best[1].removeprefix("##")
        if merged not in tokens:
            tokens.append(merged)
        for pieces in words.values():
            for position in range(len(pieces) - 1):
                if tuple(pieces[position : position + 2]) == best:
                    pieces[position : position + 2] = [merged]
    return tokens


@pytest.mark.parametrize("method", ["frequency", "wordpiece_score"])
@pytest.mark.parametrize("vocab_size", [30, 45, 100])
def test_kept_counts_equal_counting_anew(method, vocab_size):
    assert learn_vocabulary(COUNTS, vocab_size, method) == slow_vocabulary(COUNTS, vocab_size, method)


@pytest.mark.parametrize("method", ["frequency", "wordpiece_score"])
def test_kept_counts_equal_counting_anew_on_prose(method):
    counts = dict(sorted(count_words(corpus_lines(), Normalization()).items())[::25])
    size = len(slow_vocabulary(counts, 0, method)) + 60
    assert learn_vocabulary(counts, size, method) == slow_vocabulary(counts, size, method)


def test_frequency_learns_the_vocabulary_of_the_library():
    lines = corpus_lines()
    reference = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    reference.normalizer = normalizers.BertNormalizer()
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = list(SPECIAL_TOKENS)
    trainer = trainers.WordPieceTrainer(vocab_size=1000, special_tokens=special, show_progress=False)
    reference.train_from_iterator(lines, trainer)
    ours = learn_vocabulary(count_words(lines, Normalization()), 1000)
    assert len(ours) == reference.get_vocab_size() == 1000
    assert len(set(ours) & set(reference.get_vocab())) >= 990


def test_the_order_of_the_lines_does_not_change_the_vocabulary():
    backwards = dict(reversed(COUNTS.items()))
    assert learn_vocabulary(COUNTS, 60) == learn_vocabulary(backwards, 60)


def test_special_tokens_come_first():
    assert learn_vocabulary(COUNTS, 60)[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_no_token_is_learned_twice_when_other_parts_make_it_again():
    vocabulary = learn_vocabulary(COUNTS, 1000)
    assert len(vocabulary) == len(set(vocabulary)) < 1000
    assert set(COUNTS) <= set(vocabulary)  # everything is merged in the end


def test_rare_characters_do_not_fill_the_vocabulary(monkeypatch):
    monkeypatch.setattr(training, "ALPHABET_SIZE", 3)
    assert learn_vocabulary({"ab": 9, "c": 5, "ax": 1}, 20) == [*SPECIAL_TOKENS, "a", "b", "c", "##b", "ab"]


def test_a_vocabulary_smaller_than_the_alphabet_is_refused():
    with pytest.raises(UserError, match=r"vocab_size is 12, .* ask for at least 27"):
        learn_vocabulary(COUNTS, 12)
    assert len(learn_vocabulary(COUNTS, 27)) == 27


@pytest.mark.parametrize(("counts", "method", "message"), [({}, "frequency", "no words"), (COUNTS, "bpe", "'bpe'")])
def test_no_words_and_unknown_methods_are_refused(counts, method, message):
    with pytest.raises(UserError, match=message):
        learn_vocabulary(counts, 100, method)
