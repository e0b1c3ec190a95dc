"""From documents to batches: all ids one after the other, and batches of passages or pairs of about one length."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from bertedu.corpora.documents import Document
from bertedu.pretraining.passages import Passage
from bertedu.pretraining.sentence_pairs import Pair, TokenizedText
from bertedu.tokenization import Tokenizer
from bertedu.tokenization.layout import FIRST, SECOND, Layout, Part
from bertedu.training.batching import bucketed

POOL = 64  # batches that are sorted by length together


def tokenize_documents(documents: Iterable[Document], tokenizer: Tokenizer) -> TokenizedText:
    """All documents as ids. Sentences without a token, and documents without a sentence, are left out."""
    rows, documents_at, sources = [], [0], []
    for document in documents:
        first, others = document.sentences[:1], document.sentences[1:]
        encoded = [ids for ids in (*map(tokenizer.encode, first), *map(tokenizer.encode_after_space, others)) if ids]
        if encoded:
            rows += [np.array(ids, dtype=np.int32) for ids in encoded]
            documents_at.append(len(rows))
            sources.append(document.source)
    sentences = list(accumulate((len(row) for row in rows), initial=0))
    tokens = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32)
    return TokenizedText(tokens, sentences, documents_at, sources)


class Batches(Sequence[dict[str, Tensor]]):
    """The batches of one pass, each made when it is asked for: input_ids, token_type_ids, attention_mask
    [B, T] and, of pairs, next_sentence_label [B]. Sequences of about one length share a batch, so little is padding.
    """

    def __init__(
        self,
        text: TokenizedText,
        sequences: Sequence[Passage | Pair],
        batch_size: int,
        tokenizer: Tokenizer,
        rng: random.Random,
    ):
        self.text, self.tokenizer = text, tokenizer
        mixed = rng.sample(sequences, len(sequences))
        self.batches = bucketed(mixed, len, batch_size, POOL * batch_size)
        rng.shuffle(self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index):  # type: ignore[override]
        return collate(self.text, self.batches[index], self.tokenizer)

    def lengths(self, index: int) -> list[int]:
        """The real tokens of each sequence of a batch, special ones included."""
        special = self.tokenizer.layout.special_tokens
        return [len(sequence) + special(sequence.second is not None) for sequence in self.batches[index]]


def collate(text: TokenizedText, sequences: Sequence[Passage | Pair], tokenizer: Tokenizer) -> dict[str, Tensor]:
    """Passages or pairs of a text with their special tokens, as the tokenizer lays them out, padded to the longest."""
    rows = [list(parts_of(sequence, tokenizer.layout)) for sequence in sequences]
    input_ids = np.full((len(rows), max(row[-1].stop for row in rows)), tokenizer.pad_token_id, dtype=np.int64)
    token_type_ids, attention_mask = np.zeros_like(input_ids), np.zeros_like(input_ids)
    for number, (sequence, row) in enumerate(zip(sequences, rows, strict=True)):
        stretches = {FIRST: sequence.first, SECOND: sequence.second}
        for what, segment, start, stop in row:
            stretch = stretches.get(what)
            input_ids[number, start:stop] = what if stretch is None else text.tokens[stretch[0] : stretch[1]]
            token_type_ids[number, start:stop] = segment
        attention_mask[number, : row[-1].stop] = 1
    batch = {
        "input_ids": torch.from_numpy(input_ids),
        "token_type_ids": torch.from_numpy(token_type_ids),
        "attention_mask": torch.from_numpy(attention_mask),
    }
    labels = [sequence.label for sequence in sequences if isinstance(sequence, Pair)]
    return {**batch, "next_sentence_label": torch.tensor(labels)} if labels else batch


def parts_of(sequence: Passage | Pair, layout: Layout) -> Iterator[Part]:
    """What stands where in a sequence."""
    (a, b), second = sequence.first, sequence.second
    return layout.parts(b - a, None if second is None else second[1] - second[0])
