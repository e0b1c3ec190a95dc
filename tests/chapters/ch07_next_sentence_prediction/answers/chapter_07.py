"""Answers to the exercises of chapter 7: right ones, and mistakes with the words that they must hear."""

import random

from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, log_softmax

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


def changes_the_order(first, second, most, rng):
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


CALLS = {"alternating": 0, "two by two": 0}


def alternating(first, second, rng):
    CALLS["alternating"] += 1
    return (second, first, 1) if CALLS["alternating"] % 2 else (first, second, 0)


def two_by_two(first, second, rng):
    CALLS["two by two"] += 1
    return (second, first, 1) if CALLS["two by two"] // 2 % 2 else (first, second, 0)


def by_the_global_coin_swapped(first, second, rng):
    return (second, first, 1) if random.random() < 0.5 else (first, second, 0)


def by_choice(first, second, rng):
    return rng.choice([(first, second, False), (second, first, True)])


def label_reversed(first, second, rng):
    one, other, label = by_a_coin(first, second, rng)
    return one, other, 1 - label


def label_forgotten(first, second, rng):
    return by_a_coin(first, second, rng)[:2]


def tokens_reversed(first, second, rng):
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


def labels_reversed(word_scores, word_labels, follows, next_sentence_label):
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


def with_max(first, second, most, rng):
    while len(first) + len(second) > most:
        max(first, second, key=len).pop(rng.choice([0, -1]))
    return first, second


def by_the_global_coin(first, second, most, rng):
    return by_popping(first, second, most, random)


def by_value(first, second, most, rng):
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.remove(longer[0] if rng.random() < 0.5 else longer[-1])
    return first, second


def ignoring_the_rng(first, second, most, rng):
    return by_popping(first, second, most, random.Random(3))


def labels_shifted(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(follows, next_sentence_label + 1, ignore_index=0)


def of_the_choice(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(follows.argmax(-1), next_sentence_label)


def softmax_first(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(follows.softmax(-1), next_sentence_label)


def pairs_first(word_scores, word_labels, follows, next_sentence_label):
    return two_criteria(word_scores, word_labels, follows, next_sentence_label)[::-1]


def rng_as_a_number(first, second, rng):
    return (second, first, 1) if rng < 0.5 else (first, second, 0)


def label_as_text(first, second, rng):
    return (second, first, "1") if rng.random() < 0.5 else (first, second, "0")


def shorter_first(first, second, most, rng):
    while len(first) + len(second) > most:
        if rng.random() < 0.5 and first:
            first = first[1:]
        else:
            second = second[:-1]
    return first, second


def by_tokens(first, second, most, rng):
    while len(first) + len(second) > most:
        max(first, second).pop(0 if rng.random() < 0.5 else -1)
    return first, second


def rng_called(first, second, most, rng):
    while len(first) + len(second) > most:
        max(first, second, key=len).pop(0 if rng() < 0.5 else -1)
    return first, second


def labels_before_scores(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(next_sentence_label, follows)


def labels_as_floats(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words, cross_entropy(follows, next_sentence_label.float())


def by_one_score(word_scores, word_labels, follows, next_sentence_label):
    words, _ = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    difference = follows[:, 1] - follows[:, 0]
    return words, binary_cross_entropy_with_logits(difference, next_sentence_label.to(difference.dtype))


def words_detached(word_scores, word_labels, follows, next_sentence_label):
    words, pairs = two_criteria(word_scores, word_labels, follows, next_sentence_label)
    return words.item(), pairs


ANSWERS = {
    "7.1": {
        "accepted": [1, 1.0],
        "wrong": [
            (3, "in no pair yet"),
            (0, "it is used up"),
            (2, "would be lost"),
            (4, "in the pair?"),
            ("1", "is written like"),
        ],
    },
    "7.2": {
        "accepted": [by_popping, with_the_package, with_a_choice, with_max],
        "wrong": [
            (only_the_end, "always removed at the end"),
            (only_the_second, "6 and 1 tokens came back: tokens were removed from the second segment only."),
            (only_the_first, "tokens were removed from the first segment only."),
            (longer_at_the_start, "compare again each time"),
            (counts_special_tokens, "leave room for [CLS]"),
            (one_too_many, "Stop as soon as both together are short enough"),
            (one_coin, "once for a pair"),
            (from_anywhere, "not next to each other"),
            (changes_the_order, "return the segments in their order"),
            (prints_only, "2 things are asked for"),
            (ignoring_the_rng, "come from `rng`"),
            (by_the_global_coin, "come from `rng`"),
            (shorter_first, "and 3 and 4 are expected"),
            (by_value, "not next to each other"),
            (by_tokens, "alone compares the tokens"),
            (rng_called, "rng.random() draws one"),
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
            (0.61, "share in our text"),
            (66.7, "between 0 and 1"),
            (67, "between 0 and 1"),
            ("2/3", "written like this"),
        ],
    },
    "7.4": {
        "accepted": [by_a_coin, as_a_list, by_choice],
        "wrong": [
            (never, "never swapped"),
            (always, "always swapped"),
            (label_reversed, "1 means swapped"),
            (rng_as_a_number, "rng.random() draws one"),
            (label_as_text, "should be 0 or 1"),
            (label_forgotten, "3 are asked for"),
            (tokens_reversed, "leave each of them as it is"),
            (too_often, "about half should be"),
            (alternating, "in strict alternation"),
            (two_by_two, "with the same seed"),
            (by_the_global_coin_swapped, "with the same seed"),
            (shares_one_list, "both segments, unchanged"),
        ],
    },
    "7.5": {
        "accepted": [two_criteria, chosen_words, by_one_score],
        "wrong": [
            (labels_shifted, "two classes"),
            (of_the_choice, "argmax gives no scores"),
            (labels_before_scores, "scores first"),
            (labels_as_floats, "whole numbers"),
            (softmax_first, "applies softmax itself"),
            (pairs_first, "loss of the words first"),
            (colleagues, "still not counted"),
            (both_without, "For words, 0 still means"),
            (labels_reversed, "labels are reversed"),
            (the_other_class, "NotNext, are not counted"),
            (already_added, "2 things are asked for"),
            (sum_of_pairs, "the sum over the pairs"),
            (detached, "cut off"),
            (words_detached, "loss of the masked words is cut off"),
        ],
    },
}
