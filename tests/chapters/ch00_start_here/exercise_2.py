"""Answers to exercise 0.2: right ones, and mistakes with the words that they must hear."""

import torch


def with_a_copy(input_ids, place, mask_id):
    hidden = input_ids.clone()
    hidden[:, place] = mask_id
    return hidden


def with_where(input_ids, place, mask_id):
    return torch.where(torch.arange(input_ids.size(1)) == place, mask_id, input_ids)


def with_cat(ids, place, mask_id):
    column = torch.full((ids.size(0), 1), mask_id)
    return torch.cat([ids[:, :place], column, ids[:, place + 1 :]], dim=1)


def in_place(input_ids, place, mask_id):
    input_ids[:, place] = mask_id
    return input_ids


def a_whole_text(input_ids, place, mask_id):
    hidden = input_ids.clone()
    hidden[place] = mask_id
    return hidden


def first_text_only(input_ids, place, mask_id):
    hidden = input_ids.clone()
    hidden[0, place] = mask_id
    return hidden


def counted_from_one(input_ids, place, mask_id):
    return with_a_copy(input_ids, place - 1, mask_id)


def cut_out(input_ids, place, mask_id):
    return torch.cat([input_ids[:, :place], input_ids[:, place + 1 :]], dim=1)


def put_beside(ids, place, mask_id):
    return torch.cat([ids[:, :place], torch.full((ids.size(0), 1), mask_id), ids[:, place:]], dim=1)


def nothing_returned(input_ids, place, mask_id):
    input_ids[:, place] = mask_id


def as_fractions(input_ids, place, mask_id):
    return with_a_copy(input_ids, place, mask_id).float()


def unchanged(input_ids, place, mask_id):
    return input_ids.clone()


def all_of_it(input_ids, place, mask_id):
    return torch.full_like(input_ids, mask_id)


def the_word_itself(input_ids, position, mask_id):
    masked = input_ids.clone()
    masked[:, position] = "[MASK]"
    return masked


def one_column(input_ids, position, mask_id):
    return torch.full_like(input_ids[:, position], mask_id)


ANSWERS = {
    "0.2": {
        "accepted": [with_a_copy, with_where, with_cat],
        "wrong": [
            (in_place, "changed its input"),
            (a_whole_text, "All of text 3"),
            (first_text_only, "Only the first text"),
            (counted_from_one, "counted from 0"),
            (cut_out, "lost a token"),
            (put_beside, "one token more"),
            (nothing_returned, "in every branch"),
            (as_fractions, "Ids are integers"),
            (unchanged, "nothing is masked"),
            (all_of_it, "Only one position"),
            (the_word_itself, "write mask_id"),
            (one_column, "Return the whole tensor"),
        ],
    }
}
