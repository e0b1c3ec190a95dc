"""Answers to exercise 0.4: right ones, and mistakes with the words that they must hear."""

import torch


def entry_of_the_order(scores, right_id):
    return scores.argsort(descending=True)[right_id].item() + 1


def count_larger(scores, right_id):
    return (scores > scores[right_id]).sum().item() + 1


def sort_and_find(scores, right_id):
    return scores.argsort(descending=True).tolist().index(right_id) + 1


def with_a_loop(scores, right_id):
    result = 1
    for score in scores:
        result += int(score > scores[right_id])
    return result


def as_tensor(scores, right_id):
    return 1 + (scores > scores[right_id]).sum()


def from_zero(scores, right_id):
    return (scores > scores[right_id]).sum().item()


def smallest_first(scores, right_id):
    return scores.argsort().tolist().index(right_id) + 1


def argsort_of_argsort(scores, right_id):
    return scores.argsort().argsort()[right_id].item()


def the_whole_order(scores, right_id):
    return scores.argsort(descending=True)


def is_best(scores, right_id):
    return bool(scores.argmax() == right_id)


def its_probability(scores, right_id):
    return scores.softmax(-1)[right_id].item()


def the_word_at_that_rank(scores, right_id):
    return {3: 1}.get(right_id, right_id)


def found_by_where(scores, right_id):
    return torch.where(scores.argsort(descending=True) == right_id)[0] + 1


ANSWERS = {
    "0.4": {
        "accepted": [count_larger, sort_and_find, with_a_loop, as_tensor],
        "wrong": [
            (from_zero, "begin at 1"),
            (found_by_where, "a list with that number in it"),
            (entry_of_the_order, "Where in this list is right_id"),
            (smallest_first, "begin with the smallest score"),
            (argsort_of_argsort, "rank 4 for the best word. Does your order begin with the smallest score"),
            (the_whole_order, "a list of numbers"),
            (is_best, "True or False"),
            (its_probability, "an integer"),
            (the_word_at_that_rank, "1 more than the number of words with a higher score"),
        ],
    }
}
