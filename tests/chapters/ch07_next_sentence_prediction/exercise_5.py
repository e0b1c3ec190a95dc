"""Answers to exercise 7.5: right ones, and mistakes with the words that they must hear."""

from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, log_softmax


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
    }
}
