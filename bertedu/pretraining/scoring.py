"""Held-out text, and what can be asked of a model on it: masked words, pairs, and what counting knows of both."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.corpora.documents import Document
from bertedu.inference import LanguageModel, perplexity, pseudo_perplexity
from bertedu.model.evaluating import evaluating
from bertedu.model.heads import IGNORED
from bertedu.pretraining.baselines import NGramBaseline, UnigramBaseline
from bertedu.pretraining.sentence_pairs import IS_NEXT, NOT_NEXT, TokenizedText
from bertedu.tokenization import Tokenizer
from bertedu.training.feeding import to_device

Batch = dict[str, Tensor]
PSEUDO_SENTENCES = 50  # each of its tokens is a pass of its own


def score(model: LanguageModel, batches: Sequence[Batch]) -> dict[str, float]:
    """Masked-word accuracy and perplexity over masked batches, and of batches of pairs the balanced accuracy on them.

    Balanced: the mean of the accuracies on IsNext and on NotNext pairs, so that a guess is worth 50 %. Where a small
    text makes pairs of one kind only, it is the accuracy on these.
    """
    loss, hits, words = 0.0, 0, 0
    right, pairs = {IS_NEXT: 0, NOT_NEXT: 0}, {IS_NEXT: 0, NOT_NEXT: 0}
    with torch.no_grad(), evaluating(model) as device:
        for batch in (to_device(batch, device) for batch in batches):
            chosen = batch["labels"] != IGNORED
            inputs = (batch[name] for name in ("input_ids", "attention_mask", "token_type_ids"))
            output = model(*inputs, masked_positions=chosen)
            logits, ids = output.prediction_logits.float(), batch["labels"][chosen]
            loss += float(cross_entropy(logits, ids, reduction="sum"))
            hits, words = hits + int((logits.argmax(dim=-1) == ids).sum()), words + len(ids)
            if (labels := batch.get("next_sentence_label")) is not None:
                guesses = output.seq_relationship_logits.argmax(dim=-1)
                for label in pairs:
                    right[label] += int(((guesses == label) & (labels == label)).sum())
                    pairs[label] += int((labels == label).sum())
    found = {
        "masked_words": words,
        "mlm_accuracy": hits / max(1, words),
        "perplexity": perplexity(loss / max(1, words)),
    }
    kinds = [right[label] / pairs[label] for label in pairs if pairs[label]]
    of_pairs = {"pairs": sum(pairs.values()), "nsp_accuracy": sum(kinds) / max(1, len(kinds))}
    return {**found, **of_pairs} if kinds else found


def pad_together(batches: Sequence[Batch], name: str, value: int) -> np.ndarray:
    """One tensor of all batches under each other, filled up with `value` to the longest."""
    longest = max(batch[name].size(1) for batch in batches)
    return torch.cat(
        [torch.nn.functional.pad(batch[name], (0, longest - batch[name].size(1)), value=value) for batch in batches]
    ).numpy()


def mean_pseudo_perplexity(
    model: LanguageModel, tokenizer: Tokenizer, documents: Sequence[Document], most: int = PSEUDO_SENTENCES
) -> dict[str, float]:
    """The pseudo-perplexity of the first sentences of the documents that the model can read whole, all tokens of all
    sentences counting alike; nothing where there are none. Comparable among models with the same tokenizer.
    """
    room = model.config.max_tokens - tokenizer.layout.special_tokens(pair=False)
    lengths = ((text, len(tokenizer.encode(text))) for document in documents for text in document.sentences)
    chosen = list(islice(((text, length) for text, length in lengths if 0 < length <= room), most))
    if not (tokens := sum(length for _, length in chosen)):
        return {}
    nats = sum(length * math.log(pseudo_perplexity(model, tokenizer, text)) for text, length in chosen)
    return {"pseudo_sentences": len(chosen), "pseudo_perplexity": perplexity(nats / tokens)}


class Counting:
    """What counting in the training text, once, tells about other text."""

    def __init__(self, text: TokenizedText, tokenizer: Tokenizer):
        documents = np.split(text.tokens, [text.sentences[sentence] for sentence in text.documents[1:-1]])
        self.tokenizer = tokenizer
        self.unigram = UnigramBaseline.fit(documents, len(tokenizer))
        self.ngram = NGramBaseline.fit(documents, len(tokenizer))
        self.baselines: dict[str, UnigramBaseline | NGramBaseline] = {
            "unigram": self.unigram,
            "n-gram, both sides": self.ngram,
        }

    def words(self, batches: Sequence[Batch]) -> dict[str, dict[str, float]]:
        """The figures at the labelled words of masked batches."""
        seen = pad_together(batches, "input_ids", self.tokenizer.pad_token_id)
        labels = pad_together(batches, "labels", IGNORED)
        results = {"most frequent token": {"mlm_accuracy": self.unigram.constant_accuracy(labels)}}
        for kind, baseline in self.baselines.items():
            found = baseline.evaluate(seen, labels, self.tokenizer.mask_token_id)
            results[kind] = {"mlm_accuracy": found["accuracy"], "perplexity": found["perplexity"]}
        return results


@dataclass(frozen=True)
class HeldOut:
    """A held-out set: its documents, the same as ids, masked batches of it, and what counting knows."""

    documents: Sequence[Document]
    text: TokenizedText
    batches: list[Batch]
    counting: Counting
