"""Answers to the exercises of chapter 7: right ones, and mistakes with the words that they must hear."""

import random

from torch.nn.functional import cross_entropy, log_softmax

from bertedu.pretraining.sentence_pairs import truncate


def by_popping(first, second, most, rng):
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.pop(0 if rng.random() < 0.5 else -1)
    return first, second


def with_the_package(first, second, most, rng):
    (a, b), (c, d) = truncate((0, len(first)), (0, len(second)), most, rng)
    return [first[a:b], second[c:d]]


def with_a_choice(first, second, most, rng):
    while len(first) + len(second) > most:
        end = rng.choice(["front", "back"])
        if len(first) >= len(second):
            first = first[1:] if end == "front" else first[:-1]
        else:
            second = second[1:] if end == "front" else second[:-1]
    return first, second


def only_the_end(first, second, most, rng):
    while len(first) + len(second) > most:
        (first if len(first) > len(second) else second).pop()
    return first, second


def only_the_second(first, second, most, rng):
    return first, second[: max(0, most - len(first))]


def only_the_first(first, second, most, rng):
    return first[: max(0, most - len(second))], second


def longer_at_the_start(first, second, most, rng):
    longer = first if len(first) > len(second) else second
    while len(first) + len(second) > most and longer:
        longer.pop(0 if rng.random() < 0.5 else -1)
    return first, second


def counts_special_tokens(first, second, most, rng):
    return by_popping(first, second, most - 3, rng)


def one_too_many(first, second, most, rng):
    return by_popping(first, second, most + 1, rng)


def one_coin(first, second, most, rng):
    end = 0 if rng.random() < 0.5 else -1
    while len(first) + len(second) > most:
        (first if len(first) > len(second) else second).pop(end)
    return first, second


def from_anywhere(first, second, most, rng):
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.pop(rng.randrange(len(longer)))
    return first, second


def changes_places(first, second, most, rng):
    first, second = by_popping(first, second, most, rng)
    return (first, second) if len(first) >= len(second) else (second, first)


def prints_only(first, second, most, rng):
    by_popping(first, second, most, rng)


def by_a_coin(first, second, rng):
    label = rng.randint(0, 1)
    return (*((second, first) if label else (first, second)), label)


def as_a_list(first, second, rng):
    pair = [first, second]
    rng.shuffle(pair)
    return [*pair, pair[0] is not first]


def never(first, second, rng):
    return first, second, 0


def always(first, second, rng):
    return second, first, 1


def label_turned(first, second, rng):
    one, other, label = by_a_coin(first, second, rng)
    return one, other, 1 - label


def label_forgotten(first, second, rng):
    return by_a_coin(first, second, rng)[:2]


def tokens_turned(first, second, rng):
    return (first[::-1], second[::-1], 1) if rng.random() < 0.5 else (first, second, 0)


def too_often(first, second, rng):
    return (first, second, 0) if rng.random() < 0.15 else (second, first, 1)


def shares_one_list(first, second, rng):
    return (second, second, 1) if rng.random() < 0.5 else (first, second, 0)


def two_criteria(word_scores, word_labels, follows, next_sentence_label):
    return cross_entropy(word_scores, word_labels, ignore_index=0), cross_entropy(follows, next_sentence_label)


def chosen_words(word_scores, word_labels, follows, next_sentence_label):
    chosen = word_labels.nonzero()[:, 0]
    pairs = log_softmax(follows, dim=-1).gather(1, next_sentence_label[:, None])
    return [cross_entropy(word_scores[chosen], word_labels[chosen]), -pairs.mean()]


def colleagues(word_scores, word_labels, follows, next_sentence_label):
    return (
        cross_entropy(word_scores, word_labels, ignore_index=0),
        cross_entropy(follows, next_sentence_label, ignore_index=0),
    )


def both_without(word_scores, word_labels, follows, next_sentence_label):
    return cross_entropy(word_scores, word_labels), cross_entropy(follows, next_sentence_label)


def labels_turned(word_scores, word_labels, follows, next_sentence_label):
    return cross_entropy(word_scores, word_labels, ignore_index=0), cross_entropy(follows, 1 - next_sentence_label)


def the_other_class(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(follows, next_sentence_label, ignore_index=1)


def already_added(word_scores, word_labels, follows, next_sentence_label):
    return sum(two_criteria(word_scores, word_labels, follows, next_sentence_label))


def sum_of_pairs(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(follows, next_sentence_label, reduction="sum")


def detached(word_scores, word_labels, follows, next_sentence_label):
    return tuple(loss.item() for loss in two_criteria(word_scores, word_labels, follows, next_sentence_label))


def ignoring_the_rng(first, second, most, rng):
    return by_popping(first, second, most, random.Random(3))


ANSWERS = {
    "7.1": {
        "accepted": [1, 1.0],
        "wrong": [
            (3, "in no pair"),
            (0, "not used twice"),
            (2, "would be lost"),
            (4, "in the pair now"),
            ("1", "is written like"),
        ],
    },
    "7.2": {
        "accepted": [by_popping, with_the_package, with_a_choice],
        "wrong": [
            (only_the_end, "always went at the end"),
            (only_the_second, "all was cut from the second"),
            (only_the_first, "all was cut from the first"),
            (longer_at_the_start, "Decide anew for each token"),
            (counts_special_tokens, "Are [CLS] and [SEP] counted"),
            (one_too_many, "Stop as soon as both together fit"),
            (one_coin, "once for a pair"),
            (from_anywhere, "not one stretch"),
            (changes_places, "each segment stays in its place"),
            (prints_only, "2 things are asked for"),
            (ignoring_the_rng, "use rng"),
        ],
    },
    "7.3": {
        "accepted": [2 / 3, 0.67, 0.66],
        "wrong": [
            (0.5, "the coin alone"),
            (0.75, "exists only after tails"),
            (1 / 3, "share of IsNext"),
            (1, "used up"),
            (0.6, "Take 1000 documents"),
            ("2/3", "written like this"),
        ],
    },
    "7.4": {
        "accepted": [by_a_coin, as_a_list],
        "wrong": [
            (never, "never exchanged"),
            (always, "always exchanged"),
            (label_turned, "1 means exchanged"),
            (label_forgotten, "3 are asked for"),
            (tokens_turned, "leave each as it is"),
            (too_often, "about half should be"),
            (shares_one_list, "both segments, unchanged"),
        ],
    },
    "7.5": {
        "accepted": [two_criteria, chosen_words],
        "wrong": [
            (colleagues, "still do not count"),
            (both_without, "For words 0 still means"),
            (labels_turned, "turned round"),
            (the_other_class, "NotNext, do not count"),
            (already_added, "2 things are asked for"),
            (sum_of_pairs, "the sum over the pairs"),
            (detached, "cut off"),
        ],
    },
}
