"""Answers to exercise 23.4: right ones, and mistakes with the words that they must hear."""

import hashlib
import json
import unicodedata

import numpy as np

# 23.4 ----------------------------------------------------------------------------------------------------------------


def by_json(tokens, lower_case):
    return hashlib.sha256(json.dumps([list(tokens), lower_case]).encode()).hexdigest()


def piece_by_piece(tokens, lower_case):
    found = hashlib.blake2b(bytes([lower_case]))
    for token in tokens:
        written = token.encode("utf-8")
        found.update(len(written).to_bytes(4, "big") + written)
    return found.hexdigest()


def of_its_repr(tokens, lower_case):
    return hashlib.md5(repr((tokens, lower_case)).encode()).hexdigest()


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def sorted_first(tokens, lower_case):
    return sha("\n".join(sorted(tokens)) + str(lower_case))


def joined(tokens, lower_case):
    return sha("".join(tokens) + str(lower_case))


def without_casing(tokens, lower_case):
    return sha("\n".join(tokens))


def by_hash(tokens, lower_case):
    return str(hash((tuple(tokens), lower_case)))


def by_wrapped_hash(tokens, lower_case):
    return sha(str(hash((tuple(tokens), lower_case))))


def of_a_set(tokens, lower_case):
    return sha(repr(frozenset(enumerate(tokens))) + str(lower_case))


def of_an_array(tokens, lower_case):
    return sha(str(np.array(tokens)) + str(lower_case))


def lowered(tokens, lower_case):
    return sha("\n".join(token.lower() for token in tokens) + str(lower_case))


def with_spaces(tokens, lower_case):
    return sha(" ".join(tokens) + str(lower_case))


def with_tabs(tokens, lower_case):
    return sha("\t".join(tokens) + str(lower_case))


def with_commas(tokens, lower_case):
    return sha(",".join(tokens) + str(lower_case))


def without_marks(tokens, lower_case):
    return sha("\n".join(token.removeprefix("##") for token in tokens) + str(lower_case))


def composed(tokens, lower_case):
    return sha(unicodedata.normalize("NFC", "\n".join(tokens)) + str(lower_case))


def only_the_size(tokens, lower_case):
    return f"{len(tokens)}"


def in_ascii(tokens, lower_case):
    plain = {"é": "e"}
    return sha("\n".join("".join(plain.get(c, c) for c in token) for token in tokens) + str(lower_case))


def only_the_beginning(tokens, lower_case):
    return sha("\n".join(tokens[:10]) + str(lower_case))


def without_repeats(tokens, lower_case):
    return sha("\n".join(dict.fromkeys(tokens)) + str(lower_case))


def as_bytes(tokens, lower_case):
    return hashlib.sha256("\n".join(tokens).encode()).digest()


ANSWERS = {
    "23.4": {
        "accepted": [by_json, piece_by_piece, of_its_repr],
        "wrong": [
            (sorted_first, "forget the order"),
            (joined, "without a border"),
            (without_casing, "lower-case and the other"),
            (by_hash, "another number in each process"),
            (by_wrapped_hash, "in another process"),
            (of_a_set, "in another process"),
            (of_an_array, "in the middle"),
            (lowered, "'a' became 'A'"),
            (with_commas, "a comma can be a token's part"),
            (with_spaces, "a space can be a token's part"),
            (with_tabs, "a tab can be a token's part"),
            (without_marks, "'a' and '##a'"),
            (composed, "an accent"),
            (only_the_size, "a length or a sum"),
            (in_ascii, "Encode as UTF-8"),
            (only_the_beginning, "in the middle"),
            (without_repeats, "Is it a set"),
            (as_bytes, "hexdigest gives one"),
        ],
    }
}
