"""Answers to exercise 6.2: right ones, and mistakes with the words that they must hear."""

import random

import torch

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


def all_replaced(input_ids, chosen, mask_token_id, vocab_size):
    random_ids = torch.randint(vocab_size, input_ids.shape)  # a single draw for the whole batch came out above 0.9
    return torch.where(chosen, random_ids, input_ids), input_ids.masked_fill(~chosen, -100)


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


def one_draw_for_a_text(input_ids, chosen, mask_token_id, vocab_size):
    draw = torch.rand(len(input_ids), 1)
    seen = torch.where(chosen & (draw < 0.8), mask_token_id, input_ids)
    random_ids = torch.randint(vocab_size, input_ids.shape)
    return torch.where(chosen & (draw >= 0.9), random_ids, seen), input_ids.masked_fill(~chosen, -100)


def one_draw_for_a_column(input_ids, chosen, mask_token_id, vocab_size):
    draw = torch.rand(input_ids.shape[1])
    seen = torch.where(chosen & (draw < 0.8), mask_token_id, input_ids)
    random_ids = torch.randint(vocab_size, input_ids.shape)
    return torch.where(chosen & (draw >= 0.9), random_ids, seen), input_ids.masked_fill(~chosen, -100)


def one_draw_for_everything(input_ids, chosen, mask_token_id, vocab_size):
    draw, random_ids = torch.rand(1), torch.randint(vocab_size, input_ids.shape)
    seen = torch.where(chosen & (draw < 0.8), mask_token_id, input_ids)
    return torch.where(chosen & (draw >= 0.9), random_ids, seen), input_ids.masked_fill(~chosen, -100)


def words_only(input_ids, chosen, mask_token_id, vocab_size):
    draw, random_ids = torch.rand(input_ids.shape), torch.randint(5, vocab_size, input_ids.shape)
    seen = torch.where(chosen & (draw < 0.8), mask_token_id, input_ids)
    return torch.where(chosen & (draw >= 0.9), random_ids, seen), input_ids.masked_fill(~chosen, -100)


def labels_by_another_name(input_ids, chosen, mask_token_id, vocab_size):
    labels = input_ids
    labels[~chosen] = -100
    return one_draw(input_ids, chosen, mask_token_id, vocab_size)[0], labels


def seen_by_another_name(input_ids, chosen, mask_token_id, vocab_size):
    seen = input_ids
    seen[:] = one_draw(input_ids, chosen, mask_token_id, vocab_size)[0]
    return seen, input_ids.masked_fill(~chosen, -100)


def all_random_ids_for_some(input_ids, chosen, mask_token_id, vocab_size):
    seen, draw = input_ids.clone(), torch.rand(input_ids.shape)
    seen[chosen & (draw >= 0.9)] = torch.randint(vocab_size, input_ids.shape)
    return seen, input_ids.masked_fill(~chosen, -100)


def one_answer_for_a_tensor(input_ids, chosen, mask_token_id, vocab_size):
    draw = torch.rand(input_ids.shape)
    return torch.where(chosen and draw < 0.8, mask_token_id, input_ids), input_ids.masked_fill(~chosen, -100)


ANSWERS = {
    "6.2": {
        "accepted": [one_draw, in_loops, as_transformers_does],
        "wrong": [
            (labels_for_all, "Every token has a label now"),
            (labels_from_seen, "have to answer [MASK]"),
            (labels_where_hidden, "Only the [MASK] tokens have a label"),
            (labels_where_changed, "a kept token is a question as well"),
            (zero_for_nothing, "0 is the id of [PAD]"),
            (tenth_of_the_rest, "10 % of the remaining 20 %"),
            (written_over, "overwritten by random tokens"),
            (all_hidden, "All became [MASK]"),
            (none_kept, "No token is kept"),
            (all_replaced, "All of them are treated alike"),
            (one_random_word, "became the same token"),
            (unchosen_too, "each of your conditions"),
            (always_the_same, "fixed seed"),
            (on_the_input, "changed input_ids itself"),
            (one_draw_for_a_text, "Draw one for each token"),
            (one_draw_for_a_text, "texts all chosen tokens are treated alike"),
            (one_draw_for_a_column, "positions all chosen tokens are treated alike"),
            (one_draw_for_everything, "gives all of them the same fate"),
            (words_only, "special tokens are left out"),
            (all_random_ids_for_some, "select on both sides"),
            (one_answer_for_a_tensor, "Use & and | with parentheses"),
            (labels_by_another_name, "the same tensor a second name"),
            (seen_by_another_name, "the same tensor a second name"),
        ],
    }
}
