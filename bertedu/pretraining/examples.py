"""From documents to batches: ids in one row, pairs, and batches of pairs of about one length."""

import random
from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from bertedu.corpora.documents import Document
from bertedu.pretraining.sentence_pairs import Pair, TokenizedText
from bertedu.tokenization import BertTokenizer

POOL = 64  # batches that are sorted by length together


def tokenize_documents(documents: Iterable[Document], tokenizer: BertTokenizer) -> TokenizedText:
    """All documents as ids. Sentences without a token, and documents without a sentence, are left out."""
    rows, documents_at, sources = [], [0], []
    for document in documents:
        encoded = [ids for ids in tokenizer.encode_lines(document.sentences) if ids]
        if encoded:
            rows += [np.array(ids, dtype=np.int32) for ids in encoded]
            documents_at.append(len(rows))
            sources.append(document.source)
    sentences = list(accumulate((len(row) for row in rows), initial=0))
    tokens = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32)
    return TokenizedText(tokens, sentences, documents_at, sources)


class Batches(Sequence[dict[str, Tensor]]):
    """The batches of one pass, each made when it is asked for: input_ids, token_type_ids, attention_mask
    [B, T] and next_sentence_label [B]. Pairs of about one length share a batch, so little is padding.
    """

    def __init__(
        self, text: TokenizedText, pairs: list[Pair], batch_size: int, tokenizer: BertTokenizer, rng: random.Random
    ):
        self.text, self.tokenizer = text, tokenizer
        pairs = rng.sample(pairs, len(pairs))
        pool = POOL * batch_size
        self.batches = [
            bucket[i : i + batch_size]
            for start in range(0, len(pairs), pool)
            for bucket in [sorted(pairs[start : start + pool], key=len)]
            for i in range(0, len(bucket), batch_size)
        ]
        rng.shuffle(self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index):  # type: ignore[override]
        return collate(self.text, self.batches[index], self.tokenizer)

    def lengths(self, index: int) -> list[int]:
        """The real tokens of each pair of a batch."""
        return [len(pair) for pair in self.batches[index]]


def collate(text: TokenizedText, pairs: list[Pair], tokenizer: BertTokenizer) -> dict[str, Tensor]:
    """[CLS] first [SEP] second [SEP] for each pair, padded to the longest."""
    longest = max(len(pair) for pair in pairs)
    input_ids = np.full((len(pairs), longest), tokenizer.pad_token_id, dtype=np.int64)
    token_type_ids, attention_mask = np.zeros_like(input_ids), np.zeros_like(input_ids)
    for row, pair in enumerate(pairs):
        (a, b), (c, d) = pair.first, pair.second
        middle, end = 2 + b - a, len(pair)
        input_ids[row, 0] = tokenizer.cls_token_id
        input_ids[row, 1 : middle - 1] = text.tokens[a:b]
        input_ids[row, middle - 1] = input_ids[row, end - 1] = tokenizer.sep_token_id
        input_ids[row, middle : end - 1] = text.tokens[c:d]
        token_type_ids[row, middle:end] = 1
        attention_mask[row, :end] = 1
    return {
        "input_ids": torch.from_numpy(input_ids),
        "token_type_ids": torch.from_numpy(token_type_ids),
        "attention_mask": torch.from_numpy(attention_mask),
        "next_sentence_label": torch.tensor([pair.label for pair in pairs]),
    }
