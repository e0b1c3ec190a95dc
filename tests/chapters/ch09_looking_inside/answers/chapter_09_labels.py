"""Answers to exercises 9.4 and 9.5: right ones, and mistakes with the words that they must hear."""

import hashlib
import random
import zlib

import numpy as np
import torch

from bertedu.interpretation.probing import control_labels


def seeded_by_the_word(words, number_of_labels, seed=0):
    return [random.Random(f"{word.lower()}/{seed}").randrange(number_of_labels) for word in words]


def a_generator_for_each_type(words, number_of_labels, seed):
    label = {}
    for word in {word.lower() for word in words}:
        generator = torch.Generator().manual_seed(1000003 * seed + int.from_bytes(word.encode(), "big") % 2**31)
        label[word] = torch.randint(number_of_labels, (), generator=generator).item()
    return [label[word.lower()] for word in words]


def by_a_digest(words, number_of_labels, seed=0):
    return [int(hashlib.sha256(f"{seed} {word.lower()}".encode()).hexdigest(), 16) % number_of_labels for word in words]


def by_hash(words, number_of_labels, seed=0):
    return [random.Random(hash((word.lower(), seed))).randrange(number_of_labels) for word in words]


def by_hash_of_numbers(words, number_of_labels, seed=0):
    numbers = [zlib.crc32(f"{seed}:{word.lower()}".encode()) for word in words]
    return [random.Random(hash((number, 0.5))).randrange(number_of_labels) for number in numbers]


def by_hash_alone(words, number_of_labels, seed=0):
    return [hash(word.lower() + str(seed)) % number_of_labels for word in words]


def by_checksum(words, number_of_labels, seed=0):
    return [zlib.crc32(f"{seed}:{word.lower()}".encode()) // 7 % number_of_labels for word in words]


def global_seed(words, number_of_labels, seed=0):
    random.seed(seed)
    label = {word: random.randrange(number_of_labels) for word in {word.lower(): 0 for word in words}}
    return [label[word.lower()] for word in words]


def seed_of_the_length(words, number_of_labels, seed=0):
    return [random.Random(1000 * seed + len(word)).randrange(number_of_labels) for word in words]


def words_as_labels(words, number_of_labels, seed=0):
    return [str(label) for label in seeded_by_the_word(words, number_of_labels, seed)]


def numpy_integers(words, number_of_labels, seed=0):
    return [np.int64(label) for label in seeded_by_the_word(words, number_of_labels, seed)]


def a_numpy_array(words, number_of_labels, seed=0):
    return np.array(seeded_by_the_word(words, number_of_labels, seed))


def a_tensor(words, number_of_labels, seed=0):
    return torch.tensor(seeded_by_the_word(words, number_of_labels, seed))


def order_of_first_occurrence(words, number_of_labels, seed=0):
    lottery, label = random.Random(seed), {}
    for word in words:
        label.setdefault(word.lower(), lottery.randrange(number_of_labels))
    return [label[word.lower()] for word in words]


def types_in_alphabetical_order(words, number_of_labels, seed):
    generator = torch.Generator().manual_seed(seed)
    types = sorted({word.lower() for word in words})
    drawn = dict(zip(types, torch.randint(number_of_labels, (len(types),), generator=generator).tolist(), strict=True))
    return [drawn[word.lower()] for word in words]


def fractions(words, number_of_labels, seed=0):
    return [float(label) for label in seeded_by_the_word(words, number_of_labels, seed)]


def one_draw_for_all(words, number_of_labels, seed=0):
    return [random.Random(seed).randrange(number_of_labels) for _ in words]


def as_a_dictionary(words, number_of_labels, seed=0):
    return {word.lower(): random.Random(f"{seed} {word.lower()}").randrange(number_of_labels) for word in words}


def for_each_token(words, number_of_labels, seed=0):
    lottery = random.Random(seed)
    return [lottery.randrange(number_of_labels) for _ in words]


def case_matters(words, number_of_labels, seed=0):
    return [random.Random(f"{seed} {word}").randrange(number_of_labels) for word in words]


def from_one(words, number_of_labels, seed=0):
    return [label + 1 for label in seeded_by_the_word(words, number_of_labels, seed)]


def counted_off(words, number_of_labels, seed=0):
    types = sorted({word.lower() for word in words})
    return [(types.index(word.lower()) + seed) % number_of_labels for word in words]


def seedless(words, number_of_labels, seed=0):
    return seeded_by_the_word(words, number_of_labels, 0)


def by_length(words, number_of_labels, seed=0):
    return [len(word) % number_of_labels for word in words]


def a_label_a_type(words, number_of_labels, seed=0):
    return seeded_by_the_word(sorted({word.lower() for word in words}), number_of_labels, seed)


def rounded(words, number_of_labels, seed=0):
    return [round(random.Random(f"{seed} {word.lower()}").random() * (number_of_labels - 1)) for word in words]


def shifted_by_the_seed(words, number_of_labels, seed=0):
    return [(label + seed) % number_of_labels for label in seeded_by_the_word(words, number_of_labels, 0)]


def seeded_by_a_pair(words, number_of_labels, seed=0):
    return [random.Random((seed, word.lower())).randrange(number_of_labels) for word in words]


def seeded_by_a_negative_number(words, number_of_labels, seed=0):
    numbers = [-1 - zlib.crc32(f"{seed} {word.lower()}".encode()) for word in words]
    return [int(np.random.default_rng(number).integers(number_of_labels)) for number in numbers]


def seeded_by_a_sum(words, number_of_labels, seed=0):
    return [random.Random(word.lower() + seed).randrange(number_of_labels) for word in words]


KEPT = {}


def kept_outside(words, number_of_labels, seed=0):
    for word in words:
        drawn = random.Random(f"{seed} {word.lower()}").randrange(number_of_labels)
        KEPT.setdefault((number_of_labels, word.lower()), drawn)
    return [KEPT[number_of_labels, word.lower()] for word in words]


def unseeded(words, number_of_labels, seed=0):
    label = {}
    return [label.setdefault(word.lower(), random.randrange(number_of_labels)) for word in words]


def weighted(states, attention_mask):
    mask = attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def filled(states, attention_mask):
    count = attention_mask.sum(1, keepdim=True).clamp(min=1)
    return states.masked_fill(attention_mask[..., None] == 0, 0).sum(1) / count


def in_a_loop(states, attention_mask):
    kept = [row[mask.bool()] for row, mask in zip(states, attention_mask, strict=True)]
    return torch.stack([row.mean(0) if len(row) else row.new_zeros(states.size(-1)) for row in kept])


def over_everything(states, attention_mask):
    return states.mean(dim=1)


def divided_by_all(states, attention_mask):
    return (states * attention_mask[:, :, None]).mean(dim=1)


def only_summed(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1)


def batch_divisor(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum()


def nan_when_empty(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)


def float32_always(states, attention_mask):
    mask = attention_mask[:, :, None].float()
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def float32_divisor(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / (attention_mask.sum(dim=1, keepdim=True) + 1e-9)


def a_hundredth_too_many(states, attention_mask):
    mask = attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=1) / (mask.sum(dim=1) + 1e-2)


def filled_with_minus_infinity(states, attention_mask):
    return states.masked_fill(attention_mask[:, :, None] == 0, -torch.inf).mean(dim=1)


def first_token(states, attention_mask):
    return states[:, 0]


def another_name(vectors, mask):
    return weighted(vectors, mask)


def indexed_by_the_mask(states, attention_mask):
    return states[attention_mask.bool()].mean(dim=0)


def without_an_axis(states, attention_mask):
    return (states * attention_mask).sum(dim=1) / attention_mask.sum(dim=1)


def over_the_entries(states, attention_mask):
    mask = attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=-1) / mask.sum(dim=-1).clamp_min(1)


def inverted(states, attention_mask):
    mask = 1 - attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def a_small_number_below(states, attention_mask):
    mask = attention_mask[:, :, None].float()
    return ((states * mask).sum(dim=1) / (mask.sum(dim=1) + 1e-9)).to(states.dtype)


def one_too_many(states, attention_mask):
    mask = attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=1) / (mask.sum(dim=1) + 1)


def without_the_special_tokens(states, attention_mask):
    mask = attention_mask.clone()
    mask[:, 0] = 0
    return weighted(states, mask)


def with_einsum(states, attention_mask):
    mask = attention_mask.to(states.dtype)
    return torch.einsum("btd,bt->bd", states, mask) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def nan_to_zero(states, attention_mask):
    mask = attention_mask.unsqueeze(-1).to(states.dtype)
    return torch.nan_to_num((states * mask).sum(dim=1) / mask.sum(dim=1))


def one_minus_the_mask(states, attention_mask):
    padding = (1 - attention_mask)[:, :, None]
    real = attention_mask.sum(dim=1, keepdim=True).clamp_min(1)
    return (states.sum(dim=1) - (states * padding).sum(dim=1)) / real


def inverted_numbers(states, attention_mask):
    kept = states.masked_fill(~attention_mask[:, :, None], 0)
    return kept.sum(dim=1) / attention_mask.sum(dim=1, keepdim=True).clamp_min(1)


def where_it_is_one(states, attention_mask):
    kept = torch.where(attention_mask[:, :, None], states, 0)
    return kept.sum(dim=1) / attention_mask.sum(dim=1, keepdim=True).clamp_min(1)


def entries_that_are_not_zero(states, attention_mask):
    kept = states * attention_mask[:, :, None]
    return kept.sum(dim=1) / (kept != 0).sum(dim=1).clamp_min(1)


def divisor_without_an_axis(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum(dim=1).clamp_min(1)


def selected_and_reshaped(states, attention_mask):
    return states[attention_mask == 1].reshape(len(states), -1, states.size(-1)).mean(dim=1)


def weights_by_matrix_product(states, attention_mask):
    weights = attention_mask / attention_mask.sum(dim=1, keepdim=True).clamp_min(1)
    return (weights.to(states.dtype)[:, None] @ states)[:, 0]


def empty_mean(states, attention_mask):
    return torch.stack([row[mask == 1].mean(dim=0) for row, mask in zip(states, attention_mask, strict=True)])


def without_nans(states, attention_mask):
    return states.masked_fill(attention_mask[:, :, None] == 0, torch.nan).nanmean(dim=1).nan_to_num()


def cut_off(states, attention_mask):
    return weighted(states.detach(), attention_mask)


ANSWERS = {
    "9.4": {
        "accepted": [
            seeded_by_the_word,
            a_generator_for_each_type,
            by_a_digest,
            by_checksum,
            by_hash_of_numbers,
            numpy_integers,
            a_numpy_array,
            a_tensor,
        ],
        "wrong": [
            (control_labels, "the package's own"),
            (for_each_token, "no probe could memorize them"),
            (case_matters, "They are one type"),
            (from_one, "they go from 0 to 3"),
            (counted_off, "drawn at random, or counted"),
            (seedless, "Is the seed used"),
            (kept_outside, "a dictionary outside the function"),
            (by_hash, "salts the `hash` of strings"),
            (by_hash_alone, "after a restart of Python"),
            (seeded_by_a_sum, "one string of the word and the seed"),
            (by_length, "equally probable"),
            (a_label_a_type, "one label for each word of the list"),
            (unseeded, "Use the seed"),
            (order_of_first_occurrence, "depends on the other words of the list"),
            (types_in_alphabetical_order, "depends on the other words of the list"),
            (global_seed, "depends on the other words of the list"),
            (seed_of_the_length, "equally probable"),
            (words_as_labels, "whole numbers"),
            (fractions, "whole numbers"),
            (rounded, "equally probable"),
            (shifted_by_the_seed, "Is the seed only added"),
            (seeded_by_a_pair, "one string of the word and the seed"),
            (seeded_by_a_negative_number, "no negative seeds"),
            (one_draw_for_all, "every word gets the same label"),
            (as_a_dictionary, "a list of numbers"),
        ],
    },
    "9.5": {
        "accepted": [
            weighted,
            filled,
            in_a_loop,
            another_name,
            a_small_number_below,
            with_einsum,
            nan_to_zero,
            without_nans,
            weights_by_matrix_product,
        ],
        "wrong": [
            (over_everything, "50s of the padding"),
            (divided_by_all, "still divide by T"),
            (only_summed, "A mean divides"),
            (batch_divisor, "Each text has its own number"),
            (nan_when_empty, "0 divided by 0"),
            (float32_always, "dtype of the states"),
            (float32_divisor, "plus 1e-9 is float32"),
            (a_hundredth_too_many, "a little too large"),
            (filled_with_minus_infinity, "−∞ is in your sum"),
            (first_token, "the first token"),
            (cut_off, "cut off from its inputs"),
            (indexed_by_the_mask, "mixes the tokens of all texts"),
            (without_an_axis, "attention_mask[:, :, None]"),
            (over_the_entries, "Which axis holds the tokens"),
            (inverted, "mean of the padding"),
            (one_too_many, "one too many"),
            (entries_that_are_not_zero, "count with the mask"),
            (divisor_without_an_axis, "the divisor should be [B, 1]"),
            (selected_and_reshaped, "different numbers of real tokens"),
            (empty_mean, "return zeros there"),
            (one_minus_the_mask, "may hold True and False"),
            (inverted_numbers, "makes booleans of them"),
            (where_it_is_one, "makes booleans of them"),
            (without_the_special_tokens, "The first token is missing"),
        ],
    },
}
