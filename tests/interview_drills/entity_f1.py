"""Answers to the drill of entity F1: right ones, and mistakes with the words that they must hear."""

import re
import warnings

from seqeval.metrics import f1_score
from seqeval.scheme import IOB2


def by_seqeval(gold, predicted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(f1_score(gold, predicted, mode="strict", scheme=IOB2))


def spans(tags, strict=True):
    found, i = [], 0
    while i < len(tags):
        if tags[i][0] == "B" or (not strict and tags[i][0] == "I"):
            j = i + 1
            while j < len(tags) and tags[j] == "I-" + tags[i][2:]:
                j += 1
            found.append((tags[i][2:], i, j - 1))
            i = j
        else:
            i += 1
    return found


def with_spans(gold, predicted):
    right = ours = theirs = 0
    for g, p in zip(gold, predicted, strict=True):
        a, b = spans(g), spans(p)
        right, ours, theirs = right + sum(one in a for one in b), ours + len(a), theirs + len(b)
    precision, recall = right / max(theirs, 1), right / max(ours, 1)
    return 2 * precision * recall / (precision + recall) if right else 0


def with_a_regular_expression(gold, predicted):
    def found(sentences):
        text = "\n".join(" ".join(tags) + " " for tags in sentences)
        places = {}
        for number, line in enumerate(text.split("\n")):
            for match in re.finditer(r"B-(\S+) (?:I-\1 )*", line):
                places[number, match.start()] = match[0]
        return places

    # the same offset in two texts is the same word only if the words before are as long: count words instead
    def by_words(sentences):
        return {
            (number, " ".join(sentences[number])[:at].count(" "), text)
            for (number, at), text in found(sentences).items()
        }

    a, b = by_words(gold), by_words(predicted)
    return len(a & b) * 2 / ((len(a) + len(b)) or 1)


def one_long_sequence(gold, predicted):
    def flat(sentences):
        return [tag for tags in sentences for tag in [*tags, "O"]]

    a, b = spans(flat(gold)), spans(flat(predicted))
    tp = len(set(a) & set(b))
    fp, fn = len(b) - tp, len(a) - tp
    return tp / (tp + 0.5 * (fp + fn)) if tp + fp + fn else 0.0


def general(gold, predicted, reader=spans, key=lambda number, span: (number, *span)):
    a = {key(number, span) for number, tags in enumerate(gold) for span in reader(tags)}
    b = {key(number, span) for number, tags in enumerate(predicted) for span in reader(tags)}
    return 2 * len(a & b) / (len(a) + len(b)) if a & b else 0.0


def accuracy(gold, predicted):
    pairs = [pair for g, p in zip(gold, predicted, strict=True) for pair in zip(g, p, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


def of_words(gold, predicted):
    pairs = [pair for g, p in zip(gold, predicted, strict=True) for pair in zip(g, p, strict=True)]
    right = sum(a == b != "O" for a, b in pairs)
    return 2 * right / (sum(a != "O" for a, _ in pairs) + sum(b != "O" for _, b in pairs))


def lenient_reading(tags):
    found, start = [], None
    for i, tag in enumerate([*tags, "O"]):
        if start is not None and not (tag[0] == "I" and tag[2:] == tags[start][2:]):
            found.append((tags[start][2:], start, i))
            start = None
        if tag != "O" and start is None:
            start = i
    return found


def lenient(gold, predicted):
    return general(gold, predicted, lenient_reading)


def without_the_sentence(gold, predicted):
    return general(gold, predicted, key=lambda number, span: span)


def without_the_type(gold, predicted):
    return general(gold, predicted, key=lambda number, span: (number, *span[1:]))


def only_the_start(gold, predicted):
    return general(gold, predicted, key=lambda number, span: (number, *span[:2]))


def reading_that_loses_the_last(tags):
    return [span for span in spans(tags) if span[2] < len(tags) - 1]


def loses_the_last(gold, predicted):
    return general(gold, predicted, reading_that_loses_the_last)


def merging(tags):
    found, i = [], 0
    while i < len(tags):
        if tags[i][0] == "B":
            j = i + 1
            while j < len(tags) and tags[j][2:] == tags[i][2:] and tags[j] != "O":
                j += 1
            found.append((tags[i][2:], i, j - 1))
            i = j
        else:
            i += 1
    return found


def merges_neighbours(gold, predicted):
    return general(gold, predicted, merging)


def typeless(tags):
    found, i = [], 0
    while i < len(tags):
        j = i + 1
        if tags[i][0] == "B":
            while j < len(tags) and tags[j][0] == "I":
                j += 1
            found.append((tags[i][2:], i, j - 1))
        i = j
    return found


def other_types_continue(gold, predicted):
    return general(gold, predicted, typeless)


def precision(gold, predicted):
    a, b = ({(n, *s) for n, tags in enumerate(x) for s in spans(tags)} for x in (gold, predicted))
    return len(a & b) / len(b) if b else 0.0


def recall(gold, predicted):
    return precision(predicted, gold)


def plain_mean(gold, predicted):
    return (precision(gold, predicted) + recall(gold, predicted)) / 2


def over_sentences(gold, predicted):
    each = [general([g], [p]) for g, p in zip(gold, predicted, strict=True)]
    return sum(each) / len(each)


def divides_by_zero(gold, predicted):
    p, r = precision(gold, predicted), recall(gold, predicted)
    return 2 * p * r / (p + r)


def one_for_nothing(gold, predicted):
    if not any(spans(tags) for tags in [*gold, *predicted]):
        return 1.0
    return general(gold, predicted)


def all_three(gold, predicted):
    return precision(gold, predicted), recall(gold, predicted), general(gold, predicted)


def splits_the_tag(gold, predicted):
    kinds = [[tag.split("-")[1] for tag in tags] for tags in gold]
    return float(len(kinds))


ANSWERS = {
    "entity-f1": {
        "accepted": [by_seqeval, with_spans, with_a_regular_expression, one_long_sequence],
        "wrong": [
            (accuracy, "the accuracy over words"),
            (of_words, "F1 over the words"),
            (lenient, "An I- that continues nothing begins an entity"),
            (without_the_sentence, "number of the sentence into it"),
            (without_the_type, "a wrong type is not right"),
            (only_the_start, "Its last word has to be right"),
            (loses_the_last, "at the end of a sentence is lost"),
            (merges_neighbours, "You go on with the old one"),
            (other_types_continue, "I- of another type continues"),
            (precision, "That is the precision"),
            (recall, "That is the recall"),
            (plain_mean, "the harmonic mean"),
            (over_sentences, "You average over the sentences"),
            (divides_by_zero, "The task says what to return there"),
            (one_for_nothing, "The task says what to return there"),
            (all_three, "only F1 is asked for"),
            (splits_the_tag, "has no hyphen"),
        ],
    },
}
