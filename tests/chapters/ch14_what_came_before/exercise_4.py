"""Answers to exercise 14.4: right ones, and mistakes with the words that they must hear."""

from bertedu.chapters.ch14_what_came_before.exercises.exercise_4 import from_both_sides


def by_bayes(left, right, frequency):
    log_joint = (left - frequency) + (right - frequency) + frequency
    return log_joint - log_joint.logsumexp(-1, keepdim=True)


def in_probabilities(left, right, frequency):
    joint = left.exp() * right.exp() / frequency.exp()
    return (joint / joint.sum(-1, keepdim=True)).log()


def unnormalized(left, right, frequency):
    return left + right - frequency


def twice_frequent(left, right, frequency):
    return (left + right).log_softmax(-1)


def averaged(left, right, frequency):
    return ((left + right) / 2).log_softmax(-1)


def mixture(left, right, frequency):
    return ((left.exp() + right.exp()) / 2).log()


def exponentiated(left, right, frequency):
    return from_both_sides(left, right, frequency).exp()


def over_the_batch(left, right, frequency):
    return (left + right - frequency).log_softmax(0)


def logarithm_twice(left, right, frequency):
    return (left + right - frequency.log()).log_softmax(-1)


def over_all_gaps(left, right, frequency):
    joint = left + right - frequency
    return joint - joint.exp().sum().log()


def multiplied(left, right, frequency):
    return (left * right / frequency).log_softmax(-1)


ANSWERS = {
    "14.4": {
        "accepted": [by_bayes, in_probabilities],
        "wrong": [
            (unnormalized, "do not sum to 1 yet"),
            (twice_frequent, "counted twice here"),
            (averaged, "together they should be surer"),
            (mixture, "two observations: multiply"),
            (exponentiated, "their logarithms are asked for"),
            (over_the_batch, "sums to 1 over the batch"),
            (logarithm_twice, "a logarithm already"),
            (over_all_gaps, "All gaps together"),
            (multiplied, "they are added"),
        ],
    }
}
