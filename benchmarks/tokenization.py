"""How fast the tokenizers learn and encode, beside the `tokenizers` library. Run: python benchmarks/tokenization.py

Both sides do the same work in this process on one thread, in turns; the figures are medians of three, in seconds
of processor time. The text is the documentation corpus of the course (harvested first, where it is not kept yet).
"""

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # one thread for the library too; it must be known before it is imported
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import statistics
import time
from collections.abc import Callable

from tokenizers import ByteLevelBPETokenizer, Tokenizer, models, normalizers, pre_tokenizers, trainers

from bertedu.corpora.documentation import documentation_corpus
from bertedu.tokenization import BertTokenizer, RobertaTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

VOCAB_SIZE = 8192
ROUNDS = 3


def library_tokenizer(vocab: dict[str, int] | None = None) -> Tokenizer:
    """A WordPiece tokenizer of the library with BERT's normalization."""
    tokenizer = Tokenizer(models.WordPiece(vocab or {}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def train_library(lines: list[str], vocab_size: int) -> dict[str, int]:
    """The vocabulary that the library learns."""
    tokenizer = library_tokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=vocab_size, special_tokens=list(SPECIAL_TOKENS), show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer.get_vocab()


def seconds(action: Callable[[], object]) -> float:
    """Seconds of processor time, of all threads."""
    start = time.process_time()
    action()
    return time.process_time() - start


def compare(name: str, ours: Callable[[], object], library: Callable[[], object]) -> None:
    """Run both in turns and print one row of the table."""
    times = [(seconds(ours), seconds(library)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(side) for side in zip(*times, strict=True))
    print(f"{name:28} {mine:9.2f} s {theirs:9.2f} s {theirs / mine:8.2f} times as fast", flush=True)


def encode(lines: list[str], vocab: list[str]) -> None:
    """Encode with a new tokenizer, so that nothing is remembered from an earlier round."""
    BertTokenizer(vocab).encode_lines(lines)


def wordpiece(lines: list[str]) -> None:
    """Learn and encode with BERT's."""
    for size in (2048, VOCAB_SIZE):
        compare(
            f"WordPiece: learn {size}",
            lambda size=size: BertTokenizer.train(lines, size),
            lambda size=size: train_library(lines, size),
        )
    learned = BertTokenizer.train(lines, VOCAB_SIZE)
    library = library_tokenizer(learned.vocab)
    compare("encode", lambda: encode(lines, list(learned.vocab)), lambda: library.encode_batch(lines))
    compare("encode, ids only", lambda: encode(lines, list(learned.vocab)), lambda: library.encode_batch_fast(lines))
    shared = set(learned.vocab) & set(train_library(lines, VOCAB_SIZE))
    print(f"shared by both vocabularies of {VOCAB_SIZE}: {len(shared) / VOCAB_SIZE:.2%}\n")


def byte_level(lines: list[str]) -> None:
    """Learn and encode with RoBERTa's."""
    for size in (2048, VOCAB_SIZE):
        compare(
            f"byte-level: learn {size}",
            lambda size=size: RobertaTokenizer.train(lines, size),
            lambda size=size: train_byte_level_library(lines, size),
        )
    learned = RobertaTokenizer.train(lines, VOCAB_SIZE)
    library = train_byte_level_library(lines, VOCAB_SIZE)
    assert list(learned.vocab) == sorted(library.get_vocab(), key=library.get_vocab().__getitem__)
    again = (learned.vocab, learned.merges, learned.add_prefix_space)
    compare("encode", lambda: RobertaTokenizer(*again).encode_lines(lines), lambda: library.encode_batch(lines))


def train_byte_level_library(lines: list[str], vocab_size: int) -> ByteLevelBPETokenizer:
    """The tokenizer that the library learns."""
    tokenizer = ByteLevelBPETokenizer(add_prefix_space=True)
    special = list(RobertaTokenizer.special_tokens)
    tokenizer.train_from_iterator(lines, vocab_size, special_tokens=special, show_progress=False)
    return tokenizer


def main() -> None:
    lines = [sentence for document in documentation_corpus().train for sentence in document.sentences]
    print(f"{len(lines):,} lines, {sum(map(len, lines)):,} characters\n")
    print(f"{'':28} {'bertedu':>11} {'tokenizers':>11}")
    wordpiece(lines)
    byte_level(lines)


if __name__ == "__main__":
    main()
