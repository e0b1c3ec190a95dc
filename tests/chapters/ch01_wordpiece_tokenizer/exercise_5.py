"""Answers to exercise 1.5: right ones, and mistakes with the words that they must hear."""

from bertedu.tokenization.normalization import Normalization, split_words, strip_accents
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.wordpiece import split_word

# 1.5 --------------------------------------------------------------------------------------------------------------


def all_pieces(text, vocab, **switches):
    return [piece for word in Normalization(**switches).words(text) for piece in split_word(word, vocab)]


def looks_for_capitals(text, vocab):
    return all_pieces(text, vocab, lowercase=not any(t.lower() != t for t in vocab if t not in SPECIAL_TOKENS))


def looks_at_brackets(text, vocab):
    ordinary = "".join(token for token in vocab if not token.startswith("["))
    return all_pieces(text, vocab, lowercase=ordinary == ordinary.lower())


def by_ascii_capitals(text, vocab):
    ordinary = set(vocab) - set(SPECIAL_TOKENS)
    return all_pieces(text, vocab, lowercase=not any("A" <= c <= "Z" for token in ordinary for c in token))


def asks_whether_all_are_lower(text, vocab):
    return all_pieces(text, vocab, lowercase=all(token.islower() for token in vocab if token not in SPECIAL_TOKENS))


def asks_for_one_name(text, vocab):
    return all_pieces(text, vocab, lowercase="Oslo" not in vocab)


def still_broken(text, vocab):
    return all_pieces(text, vocab, lowercase=False)


def fooled_by_pad(text, vocab):
    return all_pieces(text, vocab, lowercase=not any(token != token.lower() for token in vocab))


def always_lower(text, vocab):
    return all_pieces(text, vocab, lowercase=True)


def keeps_accents(text, vocab):
    cased = any(t.lower() != t for t in vocab if t not in SPECIAL_TOKENS)
    return all_pieces(text, vocab, lowercase=not cased, strip_accents=False)


def forgets_to_clean(text, vocab):
    if not any(t.lower() != t for t in vocab if t not in SPECIAL_TOKENS):
        text = strip_accents(text.lower())
    return [piece for word in split_words(text) for piece in split_word(word, vocab)]


def gives_words(text, vocab):
    return " ".join(looks_for_capitals(text, vocab))


def forgets_to_split(text, vocab):
    cased = any(t != t.lower() for t in vocab if t not in SPECIAL_TOKENS)
    return Normalization(lowercase=not cased).words(text)


def gives_ids(text, vocab):
    return [vocab[piece] for piece in looks_for_capitals(text, vocab)]


ANSWERS = {
    "1.5": {
        "accepted": [looks_for_capitals, looks_at_brackets, by_ascii_capitals],
        "wrong": [
            (still_broken, "the text must be lower-cased"),
            (fooled_by_pad, "Does [PAD], or a token without letters"),
            (asks_whether_all_are_lower, "a token without letters such as '.'"),
            (always_lower, "must not be lower-cased"),
            (asks_for_one_name, "look at all tokens of the vocabulary"),
            (keeps_accents, "has no accents"),
            (forgets_to_clean, "does all of it"),
            (gives_words, "a list of tokens"),
            (forgets_to_split, "Those are words"),
            (gives_ids, "Those are ids"),
        ],
    }
}
