"""What a pre-trained model can do on text that it never saw, each number beside what needs no network."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.corpora.documents import Corpus, Document
from bertedu.model import BertForPreTraining
from bertedu.model.heads import IGNORED
from bertedu.pretraining.baselines import NGramBaseline, OverlapBaseline, UnigramBaseline
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objective import PretrainingTask
from bertedu.pretraining.probes import (
    fact_probe_accuracy,
    ngram_probe_accuracy,
    sense_accuracy,
    sense_baseline_accuracy,
)
from bertedu.pretraining.sentence_pairs import IS_NEXT, NOT_NEXT, PairMaker, TokenizedText
from bertedu.training.feeding import to_device

Batch = dict[str, Tensor]
OVERLAP_PAIRS = 4000  # training pairs from which the overlap baseline learns


@torch.no_grad()
def score(model: BertForPreTraining, batches: Sequence[Batch]) -> dict[str, float]:
    """Masked-word accuracy and perplexity over masked batches, and the balanced accuracy on their pairs.

    Balanced: the mean of the accuracies on IsNext and on NotNext pairs, so that a guess is worth 50 %. Where a small
    text makes pairs of one kind only, it is the accuracy on these.
    """
    model.eval()
    device = model.next_sentence.weight.device
    loss, hits, words = 0.0, 0, 0
    right, pairs = {IS_NEXT: 0, NOT_NEXT: 0}, {IS_NEXT: 0, NOT_NEXT: 0}
    for batch in batches:
        batch = to_device(batch, device)
        chosen = batch["labels"] != IGNORED
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"], masked_positions=chosen)
        logits, ids = output.prediction_logits.float(), batch["labels"][chosen]
        loss += float(cross_entropy(logits, ids, reduction="sum"))
        hits, words = hits + int((logits.argmax(dim=-1) == ids).sum()), words + len(ids)
        guesses, labels = output.seq_relationship_logits.argmax(dim=-1), batch["next_sentence_label"]
        for label in pairs:
            right[label] += int(((guesses == label) & (labels == label)).sum())
            pairs[label] += int((labels == label).sum())
    kinds = [right[label] / pairs[label] for label in pairs if pairs[label]]
    return {
        "masked_words": words,
        "mlm_accuracy": hits / max(1, words),
        "perplexity": math.exp(loss / max(1, words)),
        "pairs": sum(pairs.values()),
        "nsp_accuracy": sum(kinds) / max(1, len(kinds)),
    }


def pad_together(batches: Sequence[Batch], name: str, value: int) -> np.ndarray:
    """One tensor of all batches under each other, filled up with `value` to the longest."""
    longest = max(batch[name].size(1) for batch in batches)
    return torch.cat(
        [torch.nn.functional.pad(batch[name], (0, longest - batch[name].size(1)), value=value) for batch in batches]
    ).numpy()


class Evaluation:
    """Scores a model on the held-out parts of a corpus. Baselines learn from the training text, once."""

    def __init__(self, task: PretrainingTask, corpus: Corpus):
        self.task, self.corpus, text = task, corpus, task.train_text
        vocab_size = len(task.tokenizer)
        edges = [text.sentences[sentence] for sentence in text.documents[1:-1]]
        documents = np.split(text.tokens, edges)
        self.unigram = UnigramBaseline.fit(documents, vocab_size)
        self.ngram = NGramBaseline.fit(documents, vocab_size)
        pairs = task.pair_list(task.pairs, random.Random("overlap"))
        pairs = random.Random("overlap").sample(pairs, min(len(pairs), OVERLAP_PAIRS))
        self.overlap = OverlapBaseline.fit(*segments(text, pairs), vocab_size)

    def __call__(self, model: BertForPreTraining) -> dict[str, Any]:
        """All figures of one model: a table for each held-out set; facts and senses where the corpus asks."""
        results: dict[str, Any] = {
            name: self._held_out(model, documents) for name, documents in self.corpus.heldout.items() if documents
        }
        corpus, tokenizer = self.corpus, self.task.tokenizer
        if corpus.fact_probes:
            results["facts"] = {
                "probes": len(corpus.fact_probes),
                "accuracy": fact_probe_accuracy(model, tokenizer, corpus.fact_probes),
                "n-gram": ngram_probe_accuracy(self.ngram, tokenizer, corpus.fact_probes),
            }
        if corpus.sense_heldout:
            senses = sense_accuracy(model, tokenizer, corpus.sense_reference, corpus.sense_heldout)
            words = sense_baseline_accuracy(corpus.sense_reference, corpus.sense_heldout)
            results["senses"] = {
                word: {"accuracy": accuracy, "bag of words": words[word]} for word, accuracy in senses.items()
            }
        return results

    def _held_out(self, model: BertForPreTraining, documents: list[Document]) -> dict[str, Any]:
        task = self.task
        text = tokenize_documents(documents, task.tokenizer)
        maker = PairMaker(text, task.settings.max_length)
        batches = task.fixed_batches(maker)
        results: dict[str, Any] = score(model, batches)
        seen, labels = pad_together(batches, "input_ids", 0), pad_together(batches, "labels", IGNORED)
        mask = task.tokenizer.mask_token_id
        unigram = self.unigram.evaluate(seen, labels, mask)
        results["baselines"] = {
            "most frequent token": {"mlm_accuracy": unigram["accuracy"]},
            "unigram": {"perplexity": unigram["perplexity"]},
            "n-gram, both sides": {
                f"mlm_{name}" if name == "accuracy" else name: value
                for name, value in self.ngram.evaluate(seen, labels, mask).items()
            },
            "shared words": {"nsp_accuracy": self._overlap(text, maker)},
        }
        if task.settings.pairs == "next":
            closer = PairMaker(text, task.settings.max_length, same_source=True)
            results["nsp_accuracy_same_source"] = score(model, task.fixed_batches(closer))["nsp_accuracy"]
            results["baselines"]["shared words"]["nsp_accuracy_same_source"] = self._overlap(text, closer)
        return results

    def _overlap(self, text: TokenizedText, maker: PairMaker) -> float:
        return self.overlap.evaluate(*segments(text, self.task.pair_list(maker, random.Random("held out"))))


def segments(text: TokenizedText, pairs: Sequence) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """First segments, second segments and labels of pairs, as ids."""
    first = [text.tokens[slice(*pair.first)] for pair in pairs]
    second = [text.tokens[slice(*pair.second)] for pair in pairs]
    return first, second, np.array([pair.label for pair in pairs])
