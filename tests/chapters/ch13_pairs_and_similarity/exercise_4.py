"""Answers to exercise 13.4: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch

from bertedu.finetuning.rouge import words_of
from bertedu.finetuning.tasks.summarization import select

# 13.4 ------------------------------------------------------------------------------------------------------------


def package(sentences, scores, most):
    return select(sentences, scores, most)


def by_hand(sentences, scores, most):
    taken, seen = [], []
    for number in torch.tensor(scores).argsort(descending=True).tolist():
        words = words_of(sentences[number])
        runs = [words[i : i + 3] for i in range(len(words) - 2)]
        if len(taken) < most and not any(run in seen for run in runs):
            taken.append(number)
            seen += runs
    return tuple(sorted(taken))


def runs_of(sentence, n=3):
    words = words_of(sentence)
    return set(zip(*(words[i:] for i in range(n)), strict=False))


def walk(sentences, scores, most, n=3, keep_refused=False, ordered=True, by_score=True):
    taken, seen = [], set()
    numbers = sorted(range(len(scores)), key=lambda number: -scores[number] if by_score else number)
    for number in numbers:
        runs = runs_of(sentences[number], n)
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
        elif keep_refused:
            seen |= runs
    return sorted(taken) if ordered else taken


def as_it_stands(sentences, scores, most):
    return walk(sentences, scores, most)


def without_control(sentences, scores, most):
    return sorted(sorted(range(len(scores)), key=lambda number: -scores[number])[:most])


def cut_first(sentences, scores, most):
    best = sorted(range(len(scores)), key=lambda number: -scores[number])[:most]
    taken = walk([sentences[n] for n in best], [scores[n] for n in best], most)
    return sorted(best[n] for n in taken)


def remembers_refused(sentences, scores, most):
    return walk(sentences, scores, most, keep_refused=True)


def two_words(sentences, scores, most):
    return walk(sentences, scores, most, n=2)


def order_of_scores(sentences, scores, most):
    return walk(sentences, scores, most, ordered=False)


def order_of_text(sentences, scores, most):
    return walk(sentences, scores, most, by_score=False)


def capitals_count(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = sentences[number].replace(".", "").replace(",", "").replace(":", "").replace("Says", "says").split()
        runs = {tuple(words[i : i + 3]) for i in range(len(words) - 2)}
        runs |= {tuple(word.replace("A", "a") for word in run) for run in runs}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def only_beside_the_last(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        if len(taken) < most and not (taken and runs_of(sentences[number]) & runs_of(sentences[taken[-1]])):
            taken.append(number)
    return sorted(taken)


def only_beside_the_best(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        if len(taken) < most and not (taken and runs_of(sentences[number]) & runs_of(sentences[taken[0]])):
            taken.append(number)
    return sorted(taken)


def short_sentences_are_runs(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def endings_are_runs(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = {tuple(words[i : i + 3]) for i in range(len(words))}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def three_words_in_any_order(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = set(words_of(sentences[number]))
        if len(taken) < most and not any(len(words & set(words_of(sentences[n]))) > 2 for n in taken):
            taken.append(number)
    return sorted(taken)


def joined_text(sentences, scores, most):
    taken, text = [], []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        runs = runs_of(sentences[number])
        if len(taken) < most and not runs & set(zip(text, text[1:], text[2:], strict=False)):
            taken.append(number)
            text += words_of(sentences[number])
    return sorted(taken)


def letters_of_sentences(sentences, scores, most):
    taken = []
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        texts = [" ".join(words_of(sentences[n])) for n in taken]
        runs = [" ".join(run) for run in runs_of(sentences[number])]
        if len(taken) < most and not any(run in text for run in runs for text in texts):
            taken.append(number)
    return sorted(taken)


def stops_at_a_repetition(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        runs = runs_of(sentences[number])
        if runs & seen or len(taken) == most:
            break
        taken.append(number)
        seen |= runs
    return sorted(taken)


def lowest_first(sentences, scores, most):
    return walk(sentences, [-score for score in scores], most)


def runs_off_the_end(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = words_of(sentences[number])
        runs = {(words[i], words[i + 1], words[i + 2]) for i in range(len(words))}
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def the_sentences(sentences, scores, most):
    return [sentences[number] for number in walk(sentences, scores, most)]


def yes_or_no(sentences, scores, most):
    taken = walk(sentences, scores, most)
    return [number in taken for number in range(len(sentences))]


def with_strings(sentences, scores, most):
    taken, text = [], []
    for _, number in sorted(((score, -number) for number, score in enumerate(scores)), reverse=True):
        words = words_of(sentences[-number])
        runs = [" ".join(words[i : i + 3]) for i in range(len(words) - 2)]
        if len(taken) == most:
            break
        if not set(runs) & set(text):
            taken.append(-number)
            text.extend(runs)
    return torch.tensor(sorted(taken))


def as_an_array(sentences, scores, most):
    return np.array(walk(sentences, scores, most))


def four_words(sentences, scores, most):
    return walk(sentences, scores, most, n=4)


def split_at_spaces(sentences, scores, most):
    taken, seen = [], set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        words = sentences[number].lower().split()
        runs = set(zip(words, words[1:], words[2:], strict=False))
        if len(taken) < most and not runs & seen:
            taken.append(number)
            seen |= runs
    return sorted(taken)


def without_a_limit(sentences, scores, most):
    return walk(sentences, scores, len(scores))


def control_in_the_order_of_text(sentences, scores, most):
    kept = walk(sentences, scores, len(scores), by_score=False)
    return sorted(sorted(kept, key=lambda number: -scores[number])[:most])


def until_there_are_enough(sentences, scores, most):
    taken, order = [], sorted(range(len(scores)), key=lambda number: -scores[number])
    while len(taken) < most:
        number = order.pop(0)
        if not any(runs_of(sentences[number]) & runs_of(sentences[other]) for other in taken):
            taken.append(number)
    return sorted(taken)


def says_nothing(sentences, scores, most):
    walk(sentences, scores, most)


ANSWERS = {
    "13.4": {
        "accepted": [as_it_stands, by_hand, walk, with_strings, as_an_array],
        "wrong": [
            (package, "uses the package's `select`"),
            (without_control, "best three by score"),
            (cut_first, "chose none instead"),
            (remembers_refused, "sentence 2 is not in the summary"),
            (two_words, "Only three are a repetition"),
            (order_of_scores, "which order should a reader"),
            (order_of_text, "not by score"),
            (capitals_count, "lower-case words"),
            (only_beside_the_last, "not only with the sentence chosen last"),
            (only_beside_the_best, "not only with the best sentence"),
            (short_sentences_are_runs, "has no run of three words"),
            (endings_are_runs, "only the last two words"),
            (three_words_in_any_order, "next to each other"),
            (joined_text, "if you join two sentences"),
            (letters_of_sentences, "compare whole words"),
            (stops_at_a_repetition, "stopped at the first repetition"),
            (lowest_first, "with the lowest score"),
            (runs_off_the_end, "two words before the end"),
            (the_sentences, "the sentences themselves"),
            (yes_or_no, "True or False for each"),
            (says_nothing, "returned None"),
            (four_words, "three words are enough"),
            (split_at_spaces, "without punctuation"),
            (without_a_limit, "stop when there are `most`"),
            (control_in_the_order_of_text, "in the order of the text"),
            (until_there_are_enough, "fewer than `most`"),
        ],
    }
}
