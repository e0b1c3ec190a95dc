"""Answers to the exercises 8.4 and 8.5: right ones, and mistakes with the words that they hear."""

import torch
from torch.nn.functional import cross_entropy

# 8.4 -------------------------------------------------------------------------------------------------------------


def count(config, length, masked=0.15, heads=1, everywhere=False, attention=2, two=2, three=3):
    D, L, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    layer = 4 * D * D + 2 * D * inner + heads * attention * length * D
    head = (1.0 if everywhere else masked) * (D * D + D * config.vocab_size)
    return two * three * (L * layer + head)


def counted(config, length):
    return count(config, length)


def with_pooler(config, length):
    return count(config, length) + 6 * config.hidden_size**2 / length / 100


def as_a_tensor(config, length):
    return torch.tensor(count(config, length))


def forward_only(config, length):
    return count(config, length, three=1)


def backward_once(config, length):
    return count(config, length, three=2)


def multiplications(config, length):
    return count(config, length, two=1)


def weights_alone(config, length):
    return count(config, length, attention=0)


def head_everywhere(config, length):
    return count(config, length, everywhere=True)


def times_heads(config, length):
    return count(config, length) + 2 * (config.num_attention_heads - 1) * config.num_hidden_layers * 2 * length * (
        config.hidden_size * 3
    )


def scores_alone(config, length):
    return count(config, length, attention=1)


def whole_text(config, length):
    D, L = config.hidden_size, config.num_hidden_layers
    return count(config, length, attention=0) + 6 * L * 2 * length * length * D


def no_output_matrix(config, length):
    return count(config, length) - 6 * config.num_hidden_layers * config.hidden_size**2


def half_a_network(config, length):
    return count(config, length) - 6 * config.num_hidden_layers * config.hidden_size * config.intermediate_size


def one_layer(config, length):
    head = count(config, length, masked=0.15) - count(config, length, masked=0.0)
    return (count(config, length) - head) / config.num_hidden_layers + head


def scores_of_all_tokens(config, length):
    return count(config, length) + 6 * 0.85 * config.hidden_size * config.vocab_size


def whole_sequence(config, length):
    return length * count(config, length)


def no_dense(config, length):
    return count(config, length) - 6 * 0.15 * config.hidden_size**2


def multiplications_forward(config, length):
    return count(config, length, two=1, three=1)


def one_head_of_attention(config, length):
    return count(config, length, heads=1 / config.num_attention_heads)


def inner_size_of_base(config, length):
    D, L = config.hidden_size, config.num_hidden_layers
    return 6 * (L * (12 * D * D + 2 * length * D) + 0.15 * (D * D + D * config.vocab_size))


def dense_of_all_tokens(config, length):
    return count(config, length) + 6 * 0.85 * config.hidden_size**2


def attention_once(config, length):
    return count(config, length, attention=2 / config.num_hidden_layers)


def head_in_every_layer(config, length):
    head = count(config, length) - count(config, length, masked=0.0)
    return count(config, length) + head * (config.num_hidden_layers - 1)


def with_embeddings(config, length):
    return count(config, length) + 6 * config.hidden_size * config.vocab_size


def no_head(config, length):
    return count(config, length, masked=0.0)


# 8.5 -------------------------------------------------------------------------------------------------------------


def summed_loss(model, part):
    logits = model(part["input_ids"]).prediction_logits.flatten(0, 1)
    labels = part["labels"].flatten()
    return cross_entropy(logits, labels, reduction="sum"), int((labels != -100).sum())


def labels_in(parts):
    return sum(int((part["labels"] != -100).sum()) for part in parts)


def by_all_labels(model, parts):
    model.zero_grad()
    total = labels_in(parts)
    for part in parts:
        (summed_loss(model, part)[0] / total).backward()


def divided_at_the_end(model, parts):
    model.zero_grad()
    for part in parts:
        summed_loss(model, part)[0].backward()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= labels_in(parts)


def weighted_means(model, parts):
    model.zero_grad()
    for part in parts:
        loss, number = summed_loss(model, part)
        (loss / max(1, number) * (number / labels_in(parts))).backward()


def one_backward(model, parts):
    for parameter in model.parameters():
        parameter.grad = None
    losses, counts = zip(*(summed_loss(model, part) for part in parts), strict=True)
    (sum(losses) / sum(counts)).backward()
    return model


def mean_of_means(model, parts):
    model.zero_grad()
    for part in parts:
        loss, number = summed_loss(model, part)
        (loss / max(1, number) / len(parts)).backward()


def sum_of_means(model, parts):
    model.zero_grad()
    for part in parts:
        loss, number = summed_loss(model, part)
        (loss / max(1, number)).backward()


def sums(model, parts):
    model.zero_grad()
    for part in parts:
        summed_loss(model, part)[0].backward()


def by_parts(model, parts):
    model.zero_grad()
    for part in parts:
        (summed_loss(model, part)[0] / len(parts)).backward()


def counted_so_far(model, parts):
    model.zero_grad()
    total = 0
    for part in parts:
        loss, number = summed_loss(model, part)
        total += number
        (loss / total).backward()


def divides_what_is_not_there(model, parts):
    model.zero_grad()
    for part in parts:
        summed_loss(model, part)[0].backward()
    for parameter in model.parameters():
        parameter.grad /= labels_in(parts)


def numbers_alone(model, parts):
    model.zero_grad()
    (sum(summed_loss(model, part)[0].item() for part in parts) / labels_in(parts)).backward()


def whole_batch(model, parts):
    model.zero_grad()
    loss, number = summed_loss(model, {name: torch.cat([part[name] for part in parts]) for name in parts[0]})
    (loss / number).backward()


def cleared_means(model, parts):
    for part in parts:
        model.zero_grad()
        loss, number = summed_loss(model, part)
        (loss / max(1, number)).backward()


def not_cleared(model, parts):
    total = labels_in(parts)
    for part in parts:
        (summed_loss(model, part)[0] / total).backward()


def cleared_each_time(model, parts):
    total = labels_in(parts)
    for part in parts:
        model.zero_grad()
        (summed_loss(model, part)[0] / total).backward()


def by_tokens(model, parts):
    model.zero_grad()
    total = sum(part["labels"].numel() for part in parts)
    for part in parts:
        (summed_loss(model, part)[0] / total).backward()


def by_last_count(model, parts):
    model.zero_grad()
    for part in parts:
        loss, count = summed_loss(model, part)
        loss.backward()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= max(1, count)


def cleared_at_the_end(model, parts):
    by_all_labels(model, parts)
    model.zero_grad()


def no_backward(model, parts):
    model.zero_grad()
    return sum(summed_loss(model, part)[0] for part in parts) / labels_in(parts)


ANSWERS = {
    "8.4": {
        "accepted": [counted, with_pooler, as_a_tensor],
        "wrong": [
            (forward_only, "That is the forward pass only"),
            (backward_once, "two products for each one"),
            (multiplications, "two operations"),
            (multiplications_forward, "multiplications of the forward pass"),
            (one_head_of_attention, "for one head"),
            (inner_size_of_base, "Read it from the config"),
            (dense_of_all_tokens, "the first one (D to D) too"),
            (weights_alone, "grow with T"),
            (scores_alone, "mixing the values"),
            (whole_text, "one token has one query"),
            (no_output_matrix, "query, key, value and output"),
            (half_a_network, "D to inner size, and back"),
            (one_layer, "by the number of layers"),
            (scores_of_all_tokens, "the second one (D to V) too"),
            (whole_sequence, "One token was asked for"),
            (no_dense, "left out the first one"),
            (no_head, "left out the masked-word head"),
            (head_everywhere, "15 % only"),
            (attention_once, "Every layer has them"),
            (head_in_every_layer, "There is one head"),
            (with_embeddings, "multiplies nothing"),
            (times_heads, "products by H"),
        ],
    },
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
        ],
    },
}
