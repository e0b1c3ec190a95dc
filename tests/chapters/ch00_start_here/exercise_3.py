"""Answers to exercise 0.3: right ones, and mistakes with the words that they must hear."""


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


def from_the_end(text, tokenizer):
    tokens = tokenizer(text).tokens[0]
    return tokens.index("[MASK]") - len(tokens)


def as_truths(text, tokenizer):
    return tokenizer(text).input_ids == tokenizer.mask_token_id


def id_of_the_mask(text, tokenizer):
    return tokenizer.mask_token_id


def small_letters(text, tokenizer):
    return tokenizer(text).tokens[0].index("[mask]")


ANSWERS = {
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
    }
}
