"""WordPiece in JavaScript against the course's tokenizer, in Node: the same pieces, from the same characters."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from support.faults import assert_none
from support.web_questions import CHECKPOINTS, ask_node, in_lots, opened, random_texts

from bertedu import BertTokenizer
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS

TRICKY = [
    *(
        "",
        " ",
        "[MASK]",
        "[mask] [MASK][SEP]a",
        "the [MASK]s",
        "İstanbul ΑΣ ﬁﬀ",
        "e\u0301\u0323x",
        "a\u0323\u0301\u302e\u0300",
    ),
    *("中文abc漢字。", "\u2028x\u2029y", "\ufeffa\u200bb\x00c\ufffdd", "don't $5+3=8 ~x` «q»", "a" * 100, "a" * 101),
    *(
        "𝄞𝅗𝅥 🙂x",
        "\u1100\u1161\u11a8 각",
        "ǅ ŉ ẞ",
        "\u0345\u0301",
        "x\u00ady",
        "\u3000全角　ｗｉｄｅ",
        "\ud7a3\U0002f800",
    ),
]


def faults(texts: list[str], folder: Path, tokenizer: BertTokenizer) -> Iterator[str]:
    """A sentence for each text of which Python has other pieces or offsets."""
    for lot in in_lots(texts, 5000):
        for text, found in zip(lot, json.loads(ask_node(folder, "pieceRows", lot)), strict=True):
            ids, offsets = tokenizer.encode_with_offsets(text)
            if [[token, *span] for token, span in zip(ids, offsets, strict=True)] != found:
                tokens = tokenizer.convert_ids_to_tokens([one[0] for one in found])
                yield f"{text!r}: {tokens}, not {tokenizer.convert_ids_to_tokens(ids)}, {offsets}"


def checked(name: str, texts: list[str]) -> None:
    assert_none(faults(texts, CHECKPOINTS[name], opened(name)[1]))


def lines(folder: Path, count: int) -> list[str]:
    """So many lines of the public data sets, spread over all of their files; of a long line the beginning."""
    found: list[str] = []
    for path in sorted(folder.rglob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="ignore") as file:
            found += [line[:1000] for line in islice(file, 2000)]
    return [found[number * len(found) // count] for number in range(count)]


def of_letters(texts: list[str], folder: Path, **switches) -> BertTokenizer:
    """A tokenizer saved in a folder that knows every letter of the texts and no longer piece: it shows what the
    normalization made of each, where a vocabulary of words would say [UNK] to all.
    """
    normalization = Normalization(**switches)
    letters = sorted({letter for text in texts for letter in normalization.normalize(text)} - {" "})
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *letters, *(f"##{letter}" for letter in letters)], **switches)
    tokenizer.save_pretrained(folder)
    return tokenizer


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_pieces_and_offsets_are_those_of_the_course(name):
    checked(name, TRICKY + random_texts(300, seed=1))


@pytest.mark.parametrize(
    "switches",
    [
        {"lowercase": True},
        {"lowercase": False},
        {"lowercase": True, "strip_accents": False},
        {"lowercase": False, "strip_accents": True},
        {"lowercase": True, "tokenize_chinese_chars": False},
    ],
)
def test_every_letter_is_normalized_as_the_switches_say(switches, tmp_path):
    texts = TRICKY + random_texts(600, seed=2)
    assert_none(faults(texts, tmp_path, of_letters(texts, tmp_path, **switches)))


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_pieces_of_lines_of_public_data_are_those_of_the_course(name, datasets_folder):
    checked(name, lines(datasets_folder, 500))


@pytest.mark.slow(cases=0)
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_pieces_of_twenty_thousand_texts_are_those_of_the_course(name):
    checked(name, random_texts(20_000, seed=3))


@pytest.mark.slow(cases=0)
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_letter_of_twenty_thousand_texts_is_normalized_as_in_the_course(lowercase, tmp_path):
    texts = random_texts(20_000, seed=4)
    assert_none(faults(texts, tmp_path, of_letters(texts, tmp_path, lowercase=lowercase)))


@pytest.mark.slow(cases=0)
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_pieces_of_twenty_thousand_lines_are_those_of_the_course(name, datasets_folder):
    checked(name, lines(datasets_folder, 20_000))
