"""Compare the tokenizers with `transformers` on everything there is to read. Run: python benchmarks/tokenizer_parity.py

WordPiece: three vocabularies, each uncased and cased. Byte-level BPE: RoBERTa's with and without a space put first,
ModernBERT's with the added tokens of the published one. Unigram: ALBERT's, XLNet's, XLM-R's and DeBERTa v2's, with
SentencePiece's table of characters "nmt_nfkc". Each on every line of the documentation corpus, every line of every file
in the folder of data sets, and 20,000 random strings over many scripts: ids, token type ids, masks and offsets. On
random samples also pairs, the three truncations, and decoding. Prints a table of differences; all of them should be 0.
Takes about a quarter of an hour for WordPiece, as much for byte-level BPE, and more for Unigram, on one thread.
--share 0.01 reads every hundredth line; --kind byte-level compares that kind alone.
"""

import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import argparse
import gzip
import io
import json
import random
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import transformers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from transformers.utils import logging

from bertedu.corpora.documentation import documentation_corpus
from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer, ModernBertTokenizer, RobertaTokenizer, Tokenizer
from bertedu.tokenization.albert import AlbertTokenizer
from bertedu.tokenization.deberta_v2 import DebertaV2Tokenizer
from bertedu.tokenization.encoding import TRUNCATIONS
from bertedu.tokenization.sentencepiece import SentencePieceTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.xlm_roberta import XLMRobertaTokenizer
from bertedu.tokenization.xlnet import XLNetTokenizer

BATCH = 256
TENSORS = ("input_ids", "token_type_ids", "attention_mask")
COLUMNS = {"padding": True, "return_offsets_mapping": True, "return_token_type_ids": True}
PROJECT = Path(__file__).resolve().parents[1]
# Blocks of Unicode to draw from: scripts with and without case, accents, joiners, symbols, controls and odd spaces.
BLOCKS = (
    (0x20, 0x7E), (0x61, 0x7A), (0x00, 0x24F), (0x250, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x5FF),
    (0x600, 0x6FF), (0x900, 0x97F), (0x980, 0xDFF), (0xE00, 0xFFF), (0x1000, 0x10FF), (0x1100, 0x11FF),
    (0x1200, 0x17FF), (0x1E00, 0x1FFF), (0x2000, 0x20CF), (0x20D0, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3), (0xE000, 0xE00F), (0xF900, 0xFDFF), (0xFE00, 0xFFFD), (0x10300, 0x1044F), (0x1D100, 0x1D7FF),
    (0x1F300, 0x1F64F), (0x20000, 0x20FFF), (0x2F800, 0x2FA1F), (0xE0001, 0xE007F), (0xF0000, 0xF000F),
)  # fmt: skip
# Characters whose category changed since the tables of the reference were made.
CHANGED = {0x166D, 0x1734}
# What ModernBERT's published tokenizer adds to its vocabulary, and its further special tokens.
ADDED = (*(" " * length for length in range(24, 1, -1)), "|||IP_ADDRESS|||", "|||EMAIL_ADDRESS|||", "[unused0]")
FURTHER = ("<|padding|>", "<|endoftext|>")


def reference(tokenizer: Tokenizer) -> Any:
    """The tokenizer of `transformers` with the same vocabulary, merges and switches."""
    if isinstance(tokenizer, BertTokenizer):
        made = transformers.BertTokenizer(vocab=dict(tokenizer.vocab), do_lower_case=tokenizer.normalization.lowercase)
    elif isinstance(tokenizer, RobertaTokenizer):
        made = transformers.RobertaTokenizer(
            vocab=dict(tokenizer.vocab),
            merges=list(tokenizer.merges),
            mask_token=AddedToken("<mask>", lstrip=tokenizer.mask_takes_space_before, special=True),
            add_prefix_space=tokenizer.add_prefix_space,
        )
    elif isinstance(tokenizer, SentencePieceTokenizer):
        charsmap = None if tokenizer.charsmap is None else tokenizer.charsmap.data
        made = getattr(transformers, type(tokenizer).__name__)(
            vocab=tokenizer.model.pieces,
            unk_id=tokenizer.unk_token_id,
            _spm_precompiled_charsmap=charsmap,
            **tokenizer.switches,
        )
    else:
        made = modernbert_reference(tokenizer)
    assert len(made) == len(tokenizer), "the reference did not take the vocabulary"
    return made


def modernbert_reference(tokenizer: Any) -> Any:
    """Put together from the parts that tokenizer.json of the published ModernBERT names."""
    bare = tokenizers.Tokenizer(models.BPE(vocab=dict(tokenizer.vocab), merges=list(tokenizer.merges)))
    bare.normalizer = normalizers.NFC()
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=tokenizer.add_prefix_space)
    bare.decoder = decoders.ByteLevel()
    bare.add_special_tokens(
        [AddedToken(token, lstrip=token == "[MASK]", normalized=False) for token in tokenizer.all_special_tokens]
    )
    bare.add_tokens([AddedToken(token, normalized=True) for token in tokenizer.added_tokens])
    bare.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.vocab[token]) for token in ("[CLS]", "[SEP]")],
    )
    named = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=bare, **named)


def differences(tokenizer: Tokenizer, theirs: Any, lines: list[str]) -> int:
    """How many lines differ in anything: ids, token type ids, mask or offsets, or in the fast path's ids."""
    found = 0
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        ours, wanted = tokenizer(batch), theirs(batch, **COLUMNS)
        columns = [ours[name].tolist() for name in TENSORS]
        rows = zip(*columns, ours.offsets, strict=True)
        expected = zip(*(wanted[name] for name in (*TENSORS, "offset_mapping")), strict=True)
        for line, row, want in zip(batch, rows, expected, strict=True):
            whole = [token for token, real in zip(want[0], want[2], strict=True) if real]
            found += row != want or tokenizer.layout.sequence(tokenizer.encode(line))[0] != whole
    return found


def pair_differences(tokenizer: Tokenizer, theirs: Any, lines: list[str], samples: int) -> int:
    """How many random batches of pairs differ when cut to a random length in each of the three ways, or decoded."""
    chooser, found = random.Random(0), 0
    for _ in range(samples):
        batch = [chooser.choices(lines, k=8) for _ in range(2)]
        # One more: where only the special tokens fit, the reference empties both texts, whichever may be cut.
        least = tokenizer.layout.special_tokens(pair=True) + 1
        options = {"max_length": chooser.randint(least, 80), "truncation": chooser.choice(TRUNCATIONS)}
        try:
            wanted = theirs(*batch, **COLUMNS, **options)
        except Exception:
            wanted = None  # the text that alone may be cut is too short
        try:
            ours = tokenizer(*batch, **options)
        except UserError:
            found += wanted is not None
            continue
        if wanted is None:
            found += 1
            continue
        same = all(ours[name].tolist() == wanted[name] for name in TENSORS)
        same = same and ours.offsets == wanted["offset_mapping"]
        for ids in wanted["input_ids"]:
            for skip in (True, False):
                same = same and tokenizer.decode(ids, skip) == theirs.decode(ids, skip_special_tokens=skip)
        found += not same
    return found


def random_strings(count: int, seed: int = 0, spelt_out: Sequence[str] = SPECIAL_TOKENS) -> list[str]:
    """Strings of up to 60 characters from one to four blocks, with spaces, accents and special tokens in between.

    Only characters that Unicode 3.2 knew are drawn, or none but the reference's own tables would be tested.
    """
    old = unicodedata.ucd_3_2_0
    pools = [
        [chr(code) for code in range(first, last + 1) if old.category(chr(code)) != "Cn" or 0x1F300 <= code <= 0x1F64F]
        for first, last in BLOCKS
    ]
    pools = [[character for character in pool if ord(character) not in CHANGED] for pool in pools]
    mixed_in = [" ", "  ", "\t", "\u0301", "\u0323", "\u200d", "\x0b", "\xad", "'", "##", *spelt_out]
    chooser = random.Random(seed)
    strings = []
    for _ in range(count):
        used = chooser.choices(pools, k=chooser.randint(1, 4))
        length = chooser.randint(0, 60)
        parts = [chooser.choice(chooser.choice(used) if chooser.random() < 0.8 else mixed_in) for _ in range(length)]
        strings.append("".join(parts))
    return strings


def file_lines(path: Path) -> Iterator[str]:
    """The lines of a text file, compressed or not; of a JSON file its strings, because it is often a single line."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if ".json" in path.suffixes:
        yield from json_strings(json.loads(data))
    else:
        yield from data.decode("utf-8").split("\n")


def json_strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from json_strings(part)


def texts(datasets: Path, share: float) -> dict[str, list[str]]:
    """The lines to compare by the name of where they come from."""
    step = round(1 / share)
    documents = documentation_corpus()
    heldout = [document for group in documents.heldout.values() for document in group]
    every = [*documents.train, *documents.validation, *heldout]
    found = {"documentation": [sentence for document in every for sentence in document.sentences]}
    for folder in sorted(path for path in datasets.iterdir() if path.is_dir()):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        found[folder.name] = [line for path in files for line in file_lines(path)]
    found = {name: list(dict.fromkeys(lines))[::step] for name, lines in found.items()}  # each line once
    return {**found, "random strings": random_strings(20_000)}


def byte_level_tokenizers(found: dict[str, list[str]]) -> Iterator[tuple[str, Tokenizer]]:
    """RoBERTa's with a space put first and without, and ModernBERT's with its added tokens."""
    mixed = [line for lines in found.values() for line in lines[:2000]]
    yield "RoBERTa documentation 8192", RobertaTokenizer.train(found["documentation"], 8192)
    yield "RoBERTa books 30000 no prefix", RobertaTokenizer.train(found["public_domain_books"], 30_000, False)
    yield "ModernBERT mixed 4000", modernbert(mixed, 4000)


def modernbert(lines: Sequence[str], vocab_size: int) -> ModernBertTokenizer:
    """One with the added and the further special tokens of the published one."""
    learned = ModernBertTokenizer.train(lines, vocab_size, add_prefix_space=False)
    vocab = {token: index for index, token in enumerate([*learned.vocab, *FURTHER, *ADDED])}
    return ModernBertTokenizer(vocab, learned.merges, added_tokens=ADDED, other_special_tokens=FURTHER)


def unigram_tokenizers(found: dict[str, list[str]]) -> Iterator[tuple[str, Tokenizer]]:
    """Those of the four members, three with a table of characters, and ALBERT's with capitals and accents too."""
    mixed = [line for lines in found.values() for line in lines[:2000]]
    yield "ALBERT documentation 8192", with_charsmap(AlbertTokenizer.train(found["documentation"], 8192))
    cased = AlbertTokenizer.train(mixed, 16_000, do_lower_case=False, keep_accents=True)
    yield "ALBERT mixed 16000 cased", with_charsmap(cased)
    yield "XLNet books 30000", with_charsmap(XLNetTokenizer.train(found["public_domain_books"], 30_000))
    yield "XLM-R mixed 16000", with_charsmap(XLMRobertaTokenizer.train(mixed, 16_000))
    yield "DeBERTa v2 mixed 16000", DebertaV2Tokenizer.train(mixed, 16_000)


def with_charsmap(tokenizer: Any) -> Any:
    """The same tokenizer with the table of characters that published checkpoints have."""
    return type(tokenizer)(tokenizer.model.pieces, charsmap=nmt_nfkc(), **tokenizer.switches)


@cache
def nmt_nfkc() -> bytes:
    """SentencePiece's own table of characters, out of a model trained on a few words."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["ab ba", "aab"]),
        model_writer=model,
        vocab_size=6,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    found = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    return found.normalizer_spec.precompiled_charsmap


def wordpiece_tokenizers(found: dict[str, list[str]]) -> Iterator[tuple[str, Tokenizer]]:
    """Three vocabularies, uncased and cased: of documentation, of books, and of every script at once."""
    mixed = [line for lines in found.values() for line in lines[:2000]]
    for lowercase in (True, False):
        case = "uncased" if lowercase else "cased"
        yield f"documentation 8192 {case}", BertTokenizer.train(found["documentation"], 8192, lowercase)
        yield f"books 30000 {case}", BertTokenizer.train(found["public_domain_books"], 30_000, lowercase)
        yield (
            f"mixed WordPiece score 4000 {case}",
            BertTokenizer.train(mixed, 4000, lowercase, method="wordpiece_score"),
        )


KINDS = {"WordPiece": wordpiece_tokenizers, "byte-level": byte_level_tokenizers, "Unigram": unigram_tokenizers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--datasets", default=os.environ.get("BERTEDU_DATASETS", PROJECT.parent / "shared" / "datasets")
    )
    parser.add_argument("--share", type=float, default=1.0, help="the share of the lines to read (default 1)")
    parser.add_argument("--kind", choices=tuple(KINDS), help="this kind alone (default all)")
    options = parser.parse_args()
    logging.set_verbosity_error()  # the reference warns of every text above 512 tokens
    found = texts(Path(options.datasets), options.share)
    print(f"{'vocabulary':32} {'text':24} {'lines':>10} {'differences':>12}", flush=True)
    chosen = [KINDS[options.kind]] if options.kind else KINDS.values()
    for name, tokenizer in (pair for kind in chosen for pair in kind(found)):
        theirs = reference(tokenizer)
        found["random strings"] = random_strings(20_000, spelt_out=(*tokenizer.all_special_tokens, *ADDED[-5:]))
        for source, lines in found.items():
            print(f"{name:32} {source:24} {len(lines):10,} {differences(tokenizer, theirs, lines):12}", flush=True)
        everything = [line for lines in found.values() for line in lines[:5000]]
        count = pair_differences(tokenizer, theirs, everything, samples=1000)
        print(f"{name:32} {'pairs, cut and decoded':24} {8000:10,} {count:12}", flush=True)


if __name__ == "__main__":
    main()
