"""Answers to exercise 8.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy

# 8.5 -------------------------------------------------------------------------------------------------------------


def own_loss(model, part):
    logits = model(part["input_ids"]).prediction_logits.flatten(0, 1)
    labels = part["labels"].flatten()
    return cross_entropy(logits, labels, reduction="sum"), int((labels != -100).sum())


def labels_in(parts):
    return sum(int((part["labels"] != -100).sum()) for part in parts)


def by_all_labels(model, parts, summed_loss):
    model.zero_grad()
    total = labels_in(parts)
    for part in parts:
        (summed_loss(model, part)[0] / total).backward()


def divided_at_the_end(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        summed_loss(model, part)[0].backward()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= labels_in(parts)


def weighted_means(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        loss, number = summed_loss(model, part)
        (loss / max(1, number) * (number / labels_in(parts))).backward()


def one_backward(model, parts, summed_loss):
    for parameter in model.parameters():
        parameter.grad = None
    losses, counts = zip(*(summed_loss(model, part) for part in parts), strict=True)
    (sum(losses) / sum(counts)).backward()
    return model


def mean_of_means(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        loss, number = summed_loss(model, part)
        (loss / max(1, number) / len(parts)).backward()


def sum_of_means(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        loss, number = summed_loss(model, part)
        (loss / max(1, number)).backward()


def sums(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        summed_loss(model, part)[0].backward()


def by_parts(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        (summed_loss(model, part)[0] / len(parts)).backward()


def counted_so_far(model, parts, summed_loss):
    model.zero_grad()
    total = 0
    for part in parts:
        loss, number = summed_loss(model, part)
        total += number
        (loss / total).backward()


def divides_what_is_not_there(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        summed_loss(model, part)[0].backward()
    for parameter in model.parameters():
        parameter.grad /= labels_in(parts)


def numbers_alone(model, parts, summed_loss):
    model.zero_grad()
    (sum(summed_loss(model, part)[0].item() for part in parts) / labels_in(parts)).backward()


def whole_batch(model, parts, summed_loss):
    model.zero_grad()
    loss, number = summed_loss(model, {name: torch.cat([part[name] for part in parts]) for name in parts[0]})
    (loss / number).backward()


def cleared_means(model, parts, summed_loss):
    for part in parts:
        model.zero_grad()
        loss, number = summed_loss(model, part)
        (loss / max(1, number)).backward()


def not_cleared(model, parts, summed_loss):
    total = labels_in(parts)
    for part in parts:
        (summed_loss(model, part)[0] / total).backward()


def cleared_each_time(model, parts, summed_loss):
    total = labels_in(parts)
    for part in parts:
        model.zero_grad()
        (summed_loss(model, part)[0] / total).backward()


def by_tokens(model, parts, summed_loss):
    model.zero_grad()
    total = sum(part["labels"].numel() for part in parts)
    for part in parts:
        (summed_loss(model, part)[0] / total).backward()


def by_last_count(model, parts, summed_loss):
    model.zero_grad()
    for part in parts:
        loss, count = summed_loss(model, part)
        loss.backward()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= max(1, count)


def cleared_at_the_end(model, parts, summed_loss):
    by_all_labels(model, parts, summed_loss)
    model.zero_grad()


def no_backward(model, parts, summed_loss):
    model.zero_grad()
    return sum(summed_loss(model, part)[0] for part in parts) / labels_in(parts)


def with_a_loss_of_its_own(model, parts, summed_loss):
    by_all_labels(model, parts, own_loss)


def two_parameters(model, parts):
    by_all_labels(model, parts, own_loss)


ANSWERS = {
    "8.5": {
        "accepted": [by_all_labels, divided_at_the_end, weighted_means, one_backward, whole_batch],
        "wrong": [
            (mean_of_means, "the mean of each part"),
            (sum_of_means, "added the means"),
            (sums, "never divided the sums"),
            (counted_so_far, "counted so far"),
            (divides_what_is_not_there, "its .grad is None"),
            (numbers_alone, "without .item()"),
            (by_parts, "divided by the number of parts"),
            (not_cleared, "Clear it before"),
            (cleared_each_time, "last part only"),
            (cleared_means, "mean gradient of the last part"),
            (by_tokens, "Only tokens with a label"),
            (by_last_count, "the labels of the last part"),
            (cleared_at_the_end, "not at the end"),
            (no_backward, "Is there a backward pass"),
            (with_a_loss_of_its_own, "never called the summed_loss"),
            (two_parameters, "It gets a third argument here"),
        ],
    }
}
