"""Answers to exercise 17.2: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import one_hot


def plainly(scores, u):
    return (scores - (-u.log()).log()).argmax(dim=-1)


def in_steps(logits, uniform):
    noise = -torch.log(-torch.log(uniform))
    return torch.max(logits + noise, dim=1).indices


def by_waiting_times(scores, u):
    return (-torch.log(u) / torch.softmax(scores, dim=-1)).argmin(dim=-1)


def as_google_does(scores, u):
    noise = -torch.log(-torch.log(u + 1e-9) + 1e-9)
    return torch.argmax(torch.softmax(scores + noise, -1), -1)


def one_by_one(scores, u):
    return torch.tensor([int((row - (-r.log()).log()).argmax()) for row, r in zip(scores, u)])  # noqa: B905


def without_noise(scores, u):
    return scores.argmax(-1)


def wrong_sign(scores, u):
    return (scores + (-u.log()).log()).argmax(-1)


def one_logarithm(scores, u):
    return (scores - u.log()).argmax(-1)


def plus_log(scores, u):
    return (scores + u.log()).argmax(-1)


def logarithm_of_a_negative(scores, u):
    return (scores - u.log().log()).argmax(-1)


def plus_u(scores, u):
    return (scores + u).argmax(-1)


def on_probabilities(scores, u):
    return (scores.softmax(-1) - (-u.log()).log()).argmax(-1)


def over_the_tokens(scores, u):
    return (scores - (-u.log()).log()).argmax(0)


def with_one_hot(scores, u):
    return one_hot(plainly(scores, u), scores.size(-1))


def with_max(scores, u):
    return (scores - (-u.log()).log()).max(-1)


def the_sum_itself(scores, u):
    return (scores - (-u.log()).log()).max(-1).values


def with_multinomial(scores, u):
    return scores.softmax(-1).multinomial(1).squeeze(-1)


def kept_axis(scores, u):
    return plainly(scores, u)[:, None]


def by_first_number(scores, u):
    return torch.searchsorted(scores.softmax(-1).cumsum(-1), u[:, :1]).squeeze(-1).clamp_max(scores.size(-1) - 1)


ANSWERS = {
    "17.2": {
        "accepted": [plainly, in_steps, by_waiting_times, as_google_does, one_by_one],
        "wrong": [
            (without_noise, "the noise has no effect"),
            (wrong_sign, "sign of the noise is wrong"),
            (one_logarithm, "one logarithm too few"),
            (plus_log, "You added ln u"),
            (plus_u, "You added u itself"),
            (logarithm_of_a_negative, "with a minus inside too"),
            (on_probabilities, "noise to the probabilities"),
            (over_the_tokens, "argmax runs over the tokens"),
            (with_one_hot, "a number for each word"),
            (with_max, "values and positions"),
            (the_sum_itself, "not the sum"),
            (with_multinomial, "random numbers of your own"),
            (kept_axis, "remove the last axis"),
            (by_first_number, "Each number of u belongs to one word"),
        ],
    }
}
