"""Answers to the exercises of chapter 0: right ones, and mistakes with the words that they must hear."""

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


def in_tokens(text, tokenizer):
    return tokenizer(text).tokens[0].index("[MASK]")


def in_ids(text, tokenizer):
    return tokenizer(text).input_ids[0].tolist().index(tokenizer.mask_token_id)


def with_nonzero(text, tokenizer):
    return (tokenizer(text).input_ids[0] == tokenizer.mask_token_id).nonzero()[0, 0]


def in_encoded(text, tokenizer):
    return tokenizer.encode(text).index(tokenizer.mask_token_id) + 1


def in_words(text, tokenizer):
    return text.replace(".", " .").split().index("[MASK]")


def in_words_and_one(text, tokenizer):
    return in_words(text, tokenizer) + 1


def without_cls(text, tokenizer):
    return tokenizer.tokenize(text).index("[MASK]")


def one_too_far(text, tokenizer):
    return in_tokens(text, tokenizer) + 1


def the_id(text, tokenizer):
    return tokenizer.mask_token_id + 100


def as_list(text, tokenizer):
    return [in_tokens(text, tokenizer)]


def in_characters(text, tokenizer):
    return text.index("[MASK]")


def in_the_list_of_texts(text, tokenizer):
    return tokenizer(text).tokens.index("[MASK]")


def tensor_index(text, tokenizer):
    return tokenizer(text).input_ids.index(tokenizer.mask_token_id)


def the_word_itself(input_ids, position, mask_id):
    masked = input_ids.clone()
    masked[:, position] = "[MASK]"
    return masked


def one_column(input_ids, position, mask_id):
    return torch.full_like(input_ids[:, position], mask_id)


def entry_of_the_order(scores, right_id):
    return scores.argsort(descending=True)[right_id].item() + 1


def from_the_end(text, tokenizer):
    tokens = tokenizer(text).tokens[0]
    return tokens.index("[MASK]") - len(tokens)


def as_truths(text, tokenizer):
    return tokenizer(text).input_ids == tokenizer.mask_token_id


def count_larger(scores, right_id):
    return (scores > scores[right_id]).sum().item() + 1


def sort_and_find(scores, right_id):
    return scores.argsort(descending=True).tolist().index(right_id) + 1


def with_a_loop(scores, right_id):
    result = 1
    for score in scores:
        result += int(score > scores[right_id])
    return result


def as_tensor(scores, right_id):
    return 1 + (scores > scores[right_id]).sum()


def from_zero(scores, right_id):
    return (scores > scores[right_id]).sum().item()


def smallest_first(scores, right_id):
    return scores.argsort().tolist().index(right_id) + 1


def argsort_of_argsort(scores, right_id):
    return scores.argsort().argsort()[right_id].item()


def the_whole_order(scores, right_id):
    return scores.argsort(descending=True)


def is_best(scores, right_id):
    return bool(scores.argmax() == right_id)


def its_probability(scores, right_id):
    return scores.softmax(-1)[right_id].item()


def the_word_at_that_rank(scores, right_id):
    return {3: 1}.get(right_id, right_id)


def id_of_the_mask(text, tokenizer):
    return tokenizer.mask_token_id


def small_letters(text, tokenizer):
    return tokenizer(text).tokens[0].index("[mask]")


def found_by_where(scores, right_id):
    return torch.where(scores.argsort(descending=True) == right_id)[0] + 1


ANSWERS = {
    "0.1": {
        "accepted": [324, 324.0],
        "wrong": [
            (36, "for each token and head"),
            (81, "table of one head"),
            (162, "half of it"),
            (288, "attends to itself"),
            (196, "leaves out two tokens"),
            (484, "two tokens too many"),
            (18, "for each token and layer"),
            (9, "number of tokens"),
            (100, "How many heads are there"),
            ("324", "is written like this"),
        ],
    },
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
    },
    "0.3": {
        "accepted": [in_tokens, in_ids, with_nonzero, in_encoded],
        "wrong": [
            (in_words, "before the first word"),
            (in_words_and_one, "only as long as each word is one token"),
            (without_cls, "one too early"),
            (one_too_far, "one too far"),
            (the_id, "which token it is"),
            (as_list, "a list with that number"),
            (from_the_end, "from the end"),
            (in_characters, "counts characters"),
            (in_the_list_of_texts, "one list of tokens for each text"),
            (tensor_index, "tokens[0] is a list"),
            (as_truths, "more than one number"),
            (id_of_the_mask, "the id of [MASK]"),
            (small_letters, "written in capitals"),
        ],
    },
    "0.4": {
        "accepted": [count_larger, sort_and_find, with_a_loop, as_tensor],
        "wrong": [
            (from_zero, "begin at 1"),
            (found_by_where, "a list with that number in it"),
            (entry_of_the_order, "Where in this list is right_id"),
            (smallest_first, "begin with the smallest score"),
            (argsort_of_argsort, "rank 4 for the best word. Does your order begin with the smallest score"),
            (the_whole_order, "a list of numbers"),
            (is_best, "True or False"),
            (its_probability, "an integer"),
            (the_word_at_that_rank, "1 more than the number of words with a higher score"),
        ],
    },
}
