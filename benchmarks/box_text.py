"""The text of a long run as one small file of ids, packed beforehand. Run: python benchmarks/box.py pack --help

A rented machine has no network and none of the corpora, and its minutes are too expensive for a tokenizer. So the text
is read and tokenized here, and travels as ids: 16 bits for each token, the lengths of sentences and documents, and what
there is to say about it, in one file that LZMA makes about as small as the texts themselves are in gzip.

Chunks of a book that follow each other become one document again, because a document is here what a pair is drawn from,
and a long one has fewer edges. Documentation and the small world keep their documents: what stands side by side there
does not belong together.
"""

import io
import json
import lzma
from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bertedu.corpora import load_corpus
from bertedu.corpora.documents import Document
from bertedu.corpora.loading import is_word
from bertedu.errors import UserError
from bertedu.files import replacing
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.sentence_pairs import TokenizedText
from bertedu.tokenization import BertTokenizer

MOST_IDS = 2**16  # of a vocabulary: an id has 16 bits
PARTS = ("train", "validation")
PIECE = 24  # sentences, about 600 tokens of a book


def pack(specs: Sequence[str], tokenizer: BertTokenizer, path: Path) -> dict[str, Any]:
    """Read the corpora, tokenize their training and validation text and write the file; returns what it says of them.

    The held-out documents stay here: nothing of them is in the file. Raises UserError for a vocabulary that is too
    large.
    """
    if len(tokenizer) > MOST_IDS:
        raise UserError(
            f"the vocabulary has {len(tokenizer):,} tokens, and an id here has 16 bits: take a smaller one."
        )
    documents: dict[str, list[Document]] = {part: [] for part in PARTS}
    notes = []
    for spec in specs:
        corpus = load_corpus([spec])
        notes += corpus.notes
        for part in PARTS:
            documents[part] += getattr(corpus, part) if is_word(spec) else whole_sources(getattr(corpus, part))
    texts = {part: tokenize_documents(documents[part], tokenizer) for part in PARTS}
    about = {
        "corpora": [spec if is_word(spec) else Path(spec).name for spec in specs],
        "notes": notes,
        "tokens": {part: len(text.tokens) for part, text in texts.items()},
        "tokenizer": {"vocab": list(tokenizer.vocab), "lowercase": tokenizer.normalization.lowercase},
    }
    write(path, texts, about)
    return about


def whole_sources(documents: Sequence[Document]) -> list[Document]:
    """Documents of one source that follow each other, as one document."""
    groups = (list(group) for _, group in groupby(documents, key=lambda document: document.source))
    return [Document(tuple(text for one in group for text in one.sentences), group[0].source) for group in groups]


def write(path: Path, texts: dict[str, TokenizedText], about: dict[str, Any]) -> None:
    """Write ids and lengths of each text, and what is said about them."""
    arrays = {"about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}
    for part, text in texts.items():
        arrays[f"{part} tokens"] = text.tokens.astype(np.uint16)
        arrays[f"{part} sentences"] = np.diff(text.sentences).astype(np.uint32)
        arrays[f"{part} documents"] = np.diff(text.documents).astype(np.uint32)
    plain = io.BytesIO()
    np.savez(plain, **arrays)
    with replacing(path) as beside:
        beside.write_bytes(lzma.compress(plain.getvalue()))


def read(path: Path) -> tuple[dict[str, TokenizedText], dict[str, Any]]:
    """What `pack` wrote: the texts by PARTS, and what is said about them. The sources of documents are not kept."""
    with lzma.open(path) as file:
        arrays = np.load(io.BytesIO(file.read()), allow_pickle=False)
    texts = {}
    for part in PARTS:
        sentences, documents = (
            list(accumulate(arrays[f"{part} {name}"].tolist(), initial=0)) for name in ("sentences", "documents")
        )
        tokens = arrays[f"{part} tokens"].astype(np.int32)
        texts[part] = TokenizedText(tokens, sentences, documents, [""] * (len(documents) - 1))
    return texts, json.loads(arrays["about"].tobytes())


def thinned(text: TokenizedText, every: int) -> TokenizedText:
    """Every so manieth piece of a text, of PIECE sentences or of a shorter document, as documents of their own."""
    marks = text.sentences
    pieces = [
        (start, min(start + PIECE, stop))
        for first, stop in pairwise(text.documents)
        for start in range(first, stop, PIECE)
    ][::every]
    sentences = [np.diff(marks[start : stop + 1]) for start, stop in pieces]
    tokens = np.concatenate([text.tokens[marks[start] : marks[stop]] for start, stop in pieces])
    documents = list(accumulate((len(one) for one in sentences), initial=0))
    lengths = np.concatenate(sentences).tolist()
    return TokenizedText(tokens, list(accumulate(lengths, initial=0)), documents, [""] * len(pieces))


def tokenizer_of(about: dict[str, Any]) -> BertTokenizer:
    """The tokenizer whose ids the file holds."""
    return BertTokenizer(about["tokenizer"]["vocab"], lowercase=about["tokenizer"]["lowercase"])
