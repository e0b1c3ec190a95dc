"""Answers to the drill mlm-collator: right ones, and mistakes with the words that they must hear."""

import torch


def plainly(ids, special, mask_id, vocab_size, probability=0.15, mask=0.8, random=0.1):
    chosen = (torch.rand(ids.shape) < probability) & ~special
    labels = ids.masked_fill(~chosen, -100)
    fate = torch.rand(ids.shape)
    seen = torch.where(chosen & (fate < mask), mask_id, ids)
    drawn = torch.randint(vocab_size, ids.shape)
    return torch.where(chosen & (fate >= mask) & (fate < mask + random), drawn, seen), labels


def as_transformers(inputs, special_tokens, mask_id, vocab_size, probability=0.15):
    inputs, labels = inputs.clone(), inputs.clone()
    matrix = torch.full(labels.shape, probability)
    matrix.masked_fill_(special_tokens, value=0.0)
    masked = torch.bernoulli(matrix).bool()
    labels[~masked] = -100
    replaced = torch.bernoulli(torch.full(labels.shape, 0.8)).bool() & masked
    inputs[replaced] = mask_id
    random = torch.bernoulli(torch.full(labels.shape, 0.5)).bool() & masked & ~replaced
    inputs[random] = torch.randint(vocab_size, labels.shape)[random]
    return inputs, labels


def with_a_permutation(ids, special, mask_id, vocab_size, probability=0.15):
    seen, labels = ids.clone().flatten(), torch.full(ids.shape, -100).flatten()
    free = (~special).flatten().nonzero()[:, 0]
    chosen = free[torch.rand(len(free)) < probability]
    labels[chosen] = ids.flatten()[chosen]
    kind = torch.multinomial(torch.tensor([0.8, 0.1, 0.1]), max(len(chosen), 1), replacement=True)[: len(chosen)]
    seen[chosen[kind == 0]] = mask_id
    seen[chosen[kind == 1]] = torch.randint(0, vocab_size, (int((kind == 1).sum()),))
    return [seen.reshape(ids.shape), labels.reshape(ids.shape)]


def special_too(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, torch.zeros_like(special), mask_id, vocab_size, probability)


def all_masks(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, probability, mask=1.0, random=0.0)


def ten_of_the_rest(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, probability, random=0.02)


def none_kept(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, probability, random=0.2)


def overlapping(ids, special, mask_id, vocab_size, probability=0.15):
    chosen = (torch.rand(ids.shape) < probability) & ~special
    seen = torch.where(chosen & (torch.rand(ids.shape) < 0.8), mask_id, ids)
    drawn = torch.randint(vocab_size, ids.shape)
    return torch.where(chosen & (torch.rand(ids.shape) < 0.1), drawn, seen), ids.masked_fill(~chosen, -100)


def labels_for_all(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, probability)[0], ids.clone()


def labels_after(ids, special, mask_id, vocab_size, probability=0.15):
    seen, labels = plainly(ids, special, mask_id, vocab_size, probability)
    return seen, seen.masked_fill(labels == -100, -100)


def labels_of_changes(ids, special, mask_id, vocab_size, probability=0.15):
    seen, _ = plainly(ids, special, mask_id, vocab_size, probability)
    return seen, ids.masked_fill(seen == ids, -100)


def labels_of_zero(ids, special, mask_id, vocab_size, probability=0.15):
    seen, labels = plainly(ids, special, mask_id, vocab_size, probability)
    return seen, labels.clamp_min(0)


def same_tensor(ids, special, mask_id, vocab_size, probability=0.15):
    seen = ids
    chosen = (torch.rand(ids.shape) < probability) & ~special
    labels = ids.masked_fill(~chosen, -100)
    seen[chosen] = mask_id
    return seen, labels


def by_text(ids, special, mask_id, vocab_size, probability=0.15):
    chosen = (torch.rand(len(ids), 1) < probability) & ~special
    return torch.where(chosen, mask_id, ids), ids.masked_fill(~chosen, -100)


def wrong_way_round(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, 1 - probability)


def always_fifteen(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, 0.15)


def seeded(ids, special, mask_id, vocab_size, probability=0.15):
    torch.manual_seed(0)
    return plainly(ids, special, mask_id, vocab_size, probability)


def one_random_id(ids, special, mask_id, vocab_size, probability=0.15):
    chosen = (torch.rand(ids.shape) < probability) & ~special
    fate, drawn = torch.rand(ids.shape), int(torch.randint(5, vocab_size, ()))
    seen = torch.where(chosen & (fate < 0.8), mask_id, ids)
    return torch.where(chosen & (fate > 0.9), drawn, seen), ids.masked_fill(~chosen, -100)


def without_special_ids(ids, special, mask_id, vocab_size, probability=0.15):
    chosen = (torch.rand(ids.shape) < probability) & ~special
    fate, drawn = torch.rand(ids.shape), torch.randint(5, vocab_size, ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_id, ids)
    return torch.where(chosen & (fate > 0.9), drawn, seen), ids.masked_fill(~chosen, -100)


def exactly_fifteen(ids, special, mask_id, vocab_size, probability=0.15):
    order = torch.rand(ids.shape).masked_fill(special, 2).argsort(1).argsort(1)
    chosen = (order < probability * (~special).sum(1, keepdim=True)) & ~special
    fate = torch.rand(ids.shape)
    seen = torch.where(chosen & (fate < 0.8), mask_id, ids)
    drawn = torch.randint(vocab_size, ids.shape)
    return torch.where(chosen & (fate > 0.9), drawn, seen), ids.masked_fill(~chosen, -100)


def with_not(ids, special, mask_id, vocab_size, probability=0.15):
    chosen = torch.rand(ids.shape) < probability and not special
    return torch.where(chosen, mask_id, ids), ids.masked_fill(~chosen, -100)


def only_what_is_seen(ids, special, mask_id, vocab_size, probability=0.15):
    return plainly(ids, special, mask_id, vocab_size, probability)[0]


ANSWERS = {
    "mlm-collator": {
        "accepted": [plainly, as_transformers, with_a_permutation],
        "wrong": [
            (special_too, "of the special tokens were chosen"),
            (all_masks, "All became [MASK]"),
            (ten_of_the_rest, "half of the 20 %"),
            (none_kept, "No token is kept"),
            (overlapping, "Two independent draws overlap"),
            (labels_for_all, "every token has a label"),
            (labels_after, "asked for [MASK]"),
            (labels_of_changes, "only tokens that were changed"),
            (labels_of_zero, "0 is the id of a token"),
            (same_tensor, "a second name"),
            (by_text, "either all tokens are chosen or none"),
            (wrong_way_round, "the wrong way round"),
            (always_fifteen, "Use the argument"),
            (seeded, "masked the same tokens"),
            (one_random_id, "are the same one"),
            (without_special_ids, "is asked for"),
            (exactly_fifteen, "drawn independently"),
            (with_not, "Use &, | and ~"),
            (only_what_is_seen, "2 things are asked for"),
        ],
    },
}
