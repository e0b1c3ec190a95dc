"""Answers to exercise 6.3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy, nll_loss

# 6.3 -------------------------------------------------------------------------------------------------------------


def picked(logits, labels):
    asked = labels != -100
    return -logits[asked].log_softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].mean()


def gathered(logits, labels):
    asked = (labels != -100).to(logits.dtype)
    log_p = torch.log_softmax(logits, dim=2).gather(2, labels.clamp_min(0).unsqueeze(2)).squeeze(2)
    return -(log_p * asked).sum() / asked.sum()


def with_other_names(scores, targets):
    losses = [-row.log_softmax(0)[right] for row, right in zip(scores.flatten(0, 1), targets.flatten()) if right >= 0]  # noqa: B905
    return sum(losses) / len(losses)


def with_nll(logits, labels):
    return nll_loss(logits.log_softmax(-1).flatten(0, 1), labels.flatten(), ignore_index=-100)


def without_label_zero(logits, labels):
    asked = labels > 0
    return -logits[asked].log_softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].mean()


def the_module(logits, labels):
    return torch.nn.CrossEntropyLoss()(logits.transpose(1, 2), labels)


def indexes_by_minus_100(logits, labels):
    log_p = logits.log_softmax(-1).flatten(0, 1)
    return -log_p[torch.arange(len(log_p)), labels.flatten()].mean()


def picking_rows(logits, labels):
    asked = labels != -100
    return -logits[asked].log_softmax(-1)[labels[asked]].mean()


def picking_columns(logits, labels):
    asked = labels != -100
    return -logits[asked].log_softmax(-1)[:, labels[asked]].mean()


def ready_made(logits, labels):
    return cross_entropy(logits.flatten(0, 1), labels.flatten())


def over_all_tokens(logits, labels):
    asked = labels != -100
    return -logits[asked].log_softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].sum() / labels.numel()


def summed(logits, labels):
    return picked(logits, labels) * (labels != -100).sum()


def over_texts(logits, labels):
    return summed(logits, labels) / len(logits)


def text_by_text(logits, labels):
    return torch.stack([picked(row, right) for row, right in zip(logits, labels, strict=True)]).mean()


def negative(logits, labels):
    return -picked(logits, labels)


def probability(logits, labels):
    asked = labels != -100
    return logits[asked].softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].mean()


def wrong_axis(logits, labels):
    asked = labels != -100
    return -logits.log_softmax(1)[asked][torch.arange(int(asked.sum())), labels[asked]].mean()


def rounded_to_zero(logits, labels):
    asked = labels != -100
    return -logits[asked].softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].log().mean()


def asks_minus_100(logits, labels):
    return -logits.log_softmax(-1).gather(2, labels[..., None]).mean()


def over_all_words(logits, labels):
    return -logits[labels != -100].log_softmax(-1).mean()


def over_all_words_above_zero(logits, labels):
    return -logits[labels > 0].log_softmax(-1).mean()


def cut_off(logits, labels):
    return picked(logits.detach(), labels)


ANSWERS = {
    "6.3": {
        "accepted": [picked, gathered, with_other_names, with_nll],
        "wrong": [
            (over_all_tokens, "You divided by all tokens"),
            (summed, "That is the sum"),
            (over_texts, "by the number of texts"),
            (text_by_text, "Each label should count the same"),
            (negative, "Check the sign"),
            (probability, "minus their logarithm"),
            (wrong_axis, "softmax runs over the tokens"),
            (rounded_to_zero, "log_softmax does both steps at once"),
            (asks_minus_100, "used -100 as an index"),
            (indexes_by_minus_100, "used -100 as an index"),
            (without_label_zero, "left out the label 0"),
            (picking_rows, "index of the wrong axis"),
            (picking_columns, "N times N numbers"),
            (ready_made, "it uses `cross_entropy`"),
            (the_module, "it uses `cross_entropy`"),
            (over_all_words, "the mean over all V words"),
            (over_all_words_above_zero, "the label 0 is missing"),
            (cut_off, "cut off from its inputs"),
        ],
    }
}
