"""Answers to exercise 1b.4: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy


def five_lines(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def cleared_first(model, optimizer, inputs, answers):
    optimizer.zero_grad(set_to_none=False)
    log_p = model(inputs).log_softmax(dim=-1)
    loss = -log_p[torch.arange(len(answers)), answers].mean()
    loss.backward()
    optimizer.step()
    return loss.tolist()


def cleared_last(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def never_cleared(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    loss.backward()
    optimizer.step()
    return loss.item()


def cleared_between(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def without_step(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    optimizer.zero_grad()
    loss.backward()
    return loss.item()


def without_backward(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def with_a_graph(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def of_probabilities(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs).softmax(dim=-1), answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def after_the_step(model, optimizer, inputs, answers):
    five_lines(model, optimizer, inputs, answers)
    return cross_entropy(model(inputs), answers).item()


def twice(model, optimizer, inputs, answers):
    loss = five_lines(model, optimizer, inputs, answers)
    five_lines(model, optimizer, inputs, answers)
    return loss


def summed(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers, reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def without_record(model, optimizer, inputs, answers):
    with torch.no_grad():
        loss = cross_entropy(model(inputs), answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def a_number_too_early(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), answers).item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def swapped(model, optimizer, inputs, answers):
    loss = cross_entropy(answers, model(inputs))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def of_the_chapters_data(model, optimizer, inputs, answers):
    loss = cross_entropy(model(torch.tensor([[0, 4], [0, 5], [3, 9]])), answers)
    loss.backward()
    return loss.item()


def of_the_chapters_answers(model, optimizer, inputs, answers):
    loss = cross_entropy(model(inputs), torch.zeros(7, dtype=torch.long))
    loss.backward()
    return loss.item()


def silent(model, optimizer, inputs, answers):
    five_lines(model, optimizer, inputs, answers)


ANSWERS = {
    "1b.4": {
        "accepted": [five_lines, cleared_first, cleared_last],
        "wrong": [
            (never_cleared, "sum of both gradients"),
            (cleared_between, "no weight has moved"),
            (without_step, "no weight has moved"),
            (without_backward, "no weight has moved"),
            (with_a_graph, "Return loss.item()"),
            (of_probabilities, "you gave it probabilities"),
            (after_the_step, "the loss after the step"),
            (twice, "moved twice in one call"),
            (summed, "the sum of the losses"),
            (without_record, "inside torch.no_grad()"),
            (a_number_too_early, "Call backward first, then item()"),
            (swapped, "logits first, and then the answers"),
            (of_the_chapters_data, "use the names of the function"),
            (of_the_chapters_answers, "use the names of the function"),
            (silent, "returned None"),
        ],
    }
}
