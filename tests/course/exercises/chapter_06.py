"""Answers to the exercises of chapter 6: right ones, and mistakes with the words that they must hear."""

import random

import torch
from torch.nn.functional import cross_entropy

# 6.2 -------------------------------------------------------------------------------------------------------------


def one_draw(input_ids, chosen, mask_token_id, vocab_size):
    labels = input_ids.masked_fill(~chosen, -100)
    fate = torch.rand(input_ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)
    return torch.where(chosen & (fate >= 0.9), torch.randint(vocab_size, input_ids.shape), seen), labels


def in_loops(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = input_ids.clone(), torch.full_like(input_ids, -100)
    for row, column in chosen.nonzero().tolist():
        labels[row, column] = input_ids[row, column]
        fate = random.random()
        if fate < 0.1:
            seen[row, column] = random.randrange(vocab_size)
        elif fate > 0.2:
            seen[row, column] = mask_token_id
    return seen, labels


def as_transformers_does(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = input_ids.clone(), input_ids.clone()
    labels[~chosen] = -100
    hidden = torch.bernoulli(torch.full(labels.shape, 0.8)).bool() & chosen
    seen[hidden] = mask_token_id
    replaced = torch.bernoulli(torch.full(labels.shape, 0.5)).bool() & chosen & ~hidden
    seen[replaced] = torch.randint(vocab_size, labels.shape)[replaced]
    return seen, labels


def labels_for_all(input_ids, chosen, mask_token_id, vocab_size):
    return one_draw(input_ids, chosen, mask_token_id, vocab_size)[0], input_ids.clone()


def labels_from_seen(input_ids, chosen, mask_token_id, vocab_size):
    seen, _ = one_draw(input_ids, chosen, mask_token_id, vocab_size)
    return seen, seen.masked_fill(~chosen, -100)


def labels_where_hidden(input_ids, chosen, mask_token_id, vocab_size):
    seen, _ = one_draw(input_ids, chosen, mask_token_id, vocab_size)
    return seen, input_ids.masked_fill(seen != mask_token_id, -100)


def labels_where_changed(input_ids, chosen, mask_token_id, vocab_size):
    seen, _ = one_draw(input_ids, chosen, mask_token_id, vocab_size)
    return seen, input_ids.masked_fill(seen == input_ids, -100)


def zero_for_nothing(input_ids, chosen, mask_token_id, vocab_size):
    seen, _ = one_draw(input_ids, chosen, mask_token_id, vocab_size)
    return seen, input_ids.masked_fill(~chosen, 0)


def tenth_of_the_rest(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = input_ids.clone(), input_ids.masked_fill(~chosen, -100)
    hidden = chosen & (torch.rand(seen.shape) < 0.8)
    seen[hidden] = mask_token_id
    replaced = chosen & ~hidden & (torch.rand(seen.shape) < 0.1)
    seen[replaced] = torch.randint(vocab_size, seen.shape)[replaced]
    return seen, labels


def written_over(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = input_ids.clone(), input_ids.masked_fill(~chosen, -100)
    seen[chosen & (torch.rand(seen.shape) < 0.8)] = mask_token_id
    replaced = chosen & (torch.rand(seen.shape) < 0.1)
    seen[replaced] = torch.randint(vocab_size, seen.shape)[replaced]
    return seen, labels


def all_hidden(input_ids, chosen, mask_token_id, vocab_size):
    return input_ids.masked_fill(chosen, mask_token_id), input_ids.masked_fill(~chosen, -100)


def none_kept(input_ids, chosen, mask_token_id, vocab_size):
    fate = torch.rand(input_ids.shape)
    seen = torch.where(chosen, torch.randint(vocab_size, input_ids.shape), input_ids)
    return torch.where(chosen & (fate < 0.8), mask_token_id, seen), input_ids.masked_fill(~chosen, -100)


def one_random_word(input_ids, chosen, mask_token_id, vocab_size):
    fate = torch.rand(input_ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)
    return torch.where(chosen & (fate >= 0.9), 17, seen), input_ids.masked_fill(~chosen, -100)


def unchosen_too(input_ids, chosen, mask_token_id, vocab_size):
    fate = torch.rand(input_ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)
    replaced = torch.where(fate >= 0.9, torch.randint(vocab_size, input_ids.shape), seen)
    return replaced, input_ids.masked_fill(~chosen, -100)


def always_the_same(input_ids, chosen, mask_token_id, vocab_size):
    torch.manual_seed(0)
    return one_draw(input_ids, chosen, mask_token_id, vocab_size)


def on_the_input(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = one_draw(input_ids, chosen, mask_token_id, vocab_size)
    input_ids.copy_(seen)
    return input_ids, labels


# 6.3 -------------------------------------------------------------------------------------------------------------


def picked(logits, labels):
    asked = labels != -100
    return -logits[asked].log_softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].mean()


def gathered(logits, labels):
    asked = (labels != -100).to(logits.dtype)
    log_p = torch.log_softmax(logits, dim=2).gather(2, labels.clamp_min(0).unsqueeze(2)).squeeze(2)
    return -(log_p * asked).sum() / asked.sum()


def ready_made(logits, labels):
    return cross_entropy(logits.flatten(0, 1), labels.flatten())


def over_all_tokens(logits, labels):
    asked = labels != -100
    return -logits[asked].log_softmax(-1)[torch.arange(int(asked.sum())), labels[asked]].sum() / labels.numel()


def summed(logits, labels):
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


def over_texts(logits, labels):
    return summed(logits, labels) / len(logits)


def text_by_text(logits, labels):
    return torch.stack([cross_entropy(row, right) for row, right in zip(logits, labels, strict=True)]).mean()


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


def cut_off(logits, labels):
    return picked(logits.detach(), labels)


ANSWERS = {
    "6.1": {
        "accepted": [7.2, 0.15 * 0.8 * 60],
        "wrong": [
            (9, "what happens to the others"),
            (48, "80 % of what"),
            (8.1, "Only [MASK] is asked for"),
            (0.9, "How many become [MASK]"),
            (7, "need not be a whole number"),
            (60, "First the number of chosen tokens"),
        ],
    },
    "6.2": {
        "accepted": [one_draw, in_loops, as_transformers_does],
        "wrong": [
            (labels_for_all, "Every token has a label now"),
            (labels_from_seen, "told to answer [MASK]"),
            (labels_where_hidden, "Only hidden tokens have a label"),
            (labels_where_changed, "A kept token is a question too"),
            (zero_for_nothing, "0 is the id of [PAD]"),
            (tenth_of_the_rest, "10 % of the 20 %"),
            (written_over, "written over by random words"),
            (all_hidden, "All are hidden"),
            (none_kept, "None are left as they are"),
            (one_random_word, "became the same word"),
            (unchosen_too, "does each condition say"),
            (always_the_same, "fixed seed"),
            (on_the_input, "changed its input"),
        ],
    },
    "6.3": {
        "accepted": [picked, gathered, ready_made],
        "wrong": [
            (over_all_tokens, "You divided by all tokens"),
            (summed, "That is the sum"),
            (over_texts, "by the number of texts"),
            (text_by_text, "Each label should count alike"),
            (negative, "The sign"),
            (probability, "minus their logarithm"),
            (wrong_axis, "The softmax runs over the tokens"),
            (rounded_to_zero, "log_softmax takes both steps at once"),
            (asks_minus_100, "out of"),
            (cut_off, "cut off from its inputs"),
        ],
    },
}
