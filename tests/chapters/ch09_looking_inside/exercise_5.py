"""Answers to exercise 9.5: right ones, and mistakes with the words that they must hear."""

import torch


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
    }
}
