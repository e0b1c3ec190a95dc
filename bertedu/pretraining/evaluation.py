"""What a pre-trained model can do on text that it never saw, each number beside what needs no network."""

import math
import random
from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.corpora.documents import Corpus, Document, FactProbe, SenseExample
from bertedu.inference import LanguageModel, perplexity, pseudo_perplexity
from bertedu.model.evaluating import evaluating
from bertedu.model.heads import IGNORED
from bertedu.pretraining.baselines import NGramBaseline, OverlapBaseline, UnigramBaseline
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.distillation import Distillation
from bertedu.pretraining.objectives.masked_words import MaskedWords
from bertedu.pretraining.objectives.permutation import PermutationLanguageModel
from bertedu.pretraining.objectives.replaced_tokens import ReplacedTokens
from bertedu.pretraining.objectives.sentence_pairs import MaskedWordsAndPairs
from bertedu.pretraining.objectives.spans import Spans
from bertedu.pretraining.probes import (
    fact_probe_accuracy,
    ngram_probe_accuracy,
    sense_accuracy,
    sense_baseline_accuracy,
)
from bertedu.pretraining.sentence_pairs import IS_NEXT, NOT_NEXT, PairMaker, TokenizedText
from bertedu.tokenization import Tokenizer
from bertedu.training.feeding import to_device

Batch = dict[str, Tensor]
OVERLAP_PAIRS = 4000  # training pairs from which the overlap baseline learns
PSEUDO_SENTENCES = 50  # each of its tokens is a pass of its own
Example = TypeVar("Example", FactProbe, SenseExample)


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


class Evaluation:
    """Scores a model on the held-out parts of a corpus. Baselines learn from the training text, once.

    What cannot be evaluated is left out, and `notes` says so: training is over, and its other figures are not lost.
    """

    def __init__(self, task: MaskedWords, corpus: Corpus):
        self.task, self.corpus, text = task, corpus, task.train_text
        self.notes: list[str] = []
        vocab_size = len(task.tokenizer)
        edges = [text.sentences[sentence] for sentence in text.documents[1:-1]]
        documents = np.split(text.tokens, edges)
        self.unigram = UnigramBaseline.fit(documents, vocab_size)
        self.ngram = NGramBaseline.fit(documents, vocab_size)
        self.counted: dict[str, UnigramBaseline | NGramBaseline] = {
            "unigram": self.unigram,
            "n-gram, both sides": self.ngram,
        }
        self.overlap = overlap_baseline(task) if isinstance(task, MaskedWordsAndPairs) else None

    def __call__(self, model: LanguageModel) -> dict[str, Any]:
        """All figures of what was trained: a table for each held-out set; facts and senses where the corpus asks.

        Masks are filled by the model that does so, and senses told apart by the one that is fine-tuned afterwards.
        """
        self.notes = self.task.notes(model) if isinstance(self.task, Distillation) else []
        results = {name: self._held_out(model, name, documents) for name, documents in self.corpus.heldout.items()}
        positions = model.config.max_tokens
        results["facts"] = self._facts(self.task.filler(model), positions)
        results["senses"] = self._senses(self.task.reader(model), positions)
        return {name: figures for name, figures in results.items() if figures}

    def _facts(self, model: LanguageModel, positions: int) -> dict[str, Any]:
        probes = self._readable(self.corpus.fact_probes, positions, "questions about facts")
        if not probes:
            return {}
        return {
            "probes": len(probes),
            "accuracy": fact_probe_accuracy(model, self.task.tokenizer, probes),
            "n-gram": ngram_probe_accuracy(self.ngram, self.task.tokenizer, probes),
        }

    def _senses(self, model: LanguageModel, positions: int) -> dict[str, Any]:
        reference = self._readable(self.corpus.sense_reference, positions, "sentences with known senses")
        heldout = self._readable(self.corpus.sense_heldout, positions, "sentences whose sense is asked for")
        asked = {(one.word, one.sense) for one in self.corpus.sense_heldout}
        lost = {word for word, _ in asked - {(one.word, one.sense) for one in reference}}
        lost |= {word for word, _ in asked - {(one.word, one.sense) for one in heldout}}
        if lost:
            self.notes.append(f"A sense without a sentence is left: {', '.join(sorted(lost))} could not be evaluated.")
        reference, heldout = ([one for one in part if one.word not in lost] for part in (reference, heldout))
        if not heldout:
            return {}
        senses = sense_accuracy(model, self.task.tokenizer, reference, heldout)
        words = sense_baseline_accuracy(reference, heldout)
        return {word: {"accuracy": accuracy, "bag of words": words[word]} for word, accuracy in senses.items()}

    def _readable(self, examples: Sequence[Example], positions: int, what: str) -> list[Example]:
        """Those whose sentence the model can read whole, with [CLS] and [SEP]."""
        tokenizer = self.task.tokenizer
        room = positions - tokenizer.layout.special_tokens(pair=False)
        kept = [one for one in examples if len(tokenizer.encode(tokenizer.with_mask(one.sentence))) <= room]
        if len(kept) < len(examples):
            self.notes.append(
                f"{len(examples) - len(kept):,} of {len(examples):,} {what} have more tokens than the model has "
                f"positions ({positions}): they were left out."
            )
        return kept

    def _held_out(self, model: LanguageModel, name: str, documents: list[Document]) -> dict[str, Any]:
        task = self.task
        text = tokenize_documents(documents, task.tokenizer)
        batches = task.fixed_batches(task.maker_of(text))
        if not any((batch["labels"] != IGNORED).any() for batch in batches):
            if documents:
                what = "pair" if task.of_pairs else "text"
                self.notes.append(f"The {name} make no {what} with a word to hide: they could not be evaluated.")
            return {}
        results: dict[str, Any] = score(task.filler(model), batches)
        results["baselines"] = self._counted(batches)
        if isinstance(task, Spans):
            results["boundary"] = self._boundary(task, model, batches)
        if isinstance(task, ReplacedTokens):
            results["detection"] = task.detection(model, batches)
        if isinstance(task, PermutationLanguageModel):
            if ordering := task.ordering(model, task.maker_of(text), self.counted):
                results["ordering"] = ordering
            results |= mean_pseudo_perplexity(model, task.tokenizer, documents)
        if isinstance(task, Distillation):
            teacher = {**score(task.teacher, batches), "parameters": task.parameters_of_teacher()}
            results["distillation"] = {**task.compared(model, batches), "teacher": teacher}
        if isinstance(task, MaskedWordsAndPairs):
            self._add_pairs(results, task, model, text)
        return results

    def _counted(self, batches: Sequence[Batch]) -> dict[str, dict[str, float]]:
        """What counting in the training text tells about the labelled words of masked batches."""
        seen, labels = (
            pad_together(batches, "input_ids", self.task.tokenizer.pad_token_id),
            pad_together(batches, "labels", IGNORED),
        )
        results = {"most frequent token": {"mlm_accuracy": self.unigram.constant_accuracy(labels)}}
        for kind, baseline in self.counted.items():
            found = baseline.evaluate(seen, labels, self.task.tokenizer.mask_token_id)
            results[kind] = {"mlm_accuracy": found["accuracy"], "perplexity": found["perplexity"]}
        return results

    def _boundary(self, task: Spans, model: LanguageModel, batches: list[Batch]) -> dict[str, Any]:
        """What the boundaries of spans tell about the words inside, beside counting in the training text."""
        figures: dict[str, Any] = task.by_boundary(model, batches)
        if figures["words"]:
            figures["baselines"] = self._counted(task.asked(batches))
        return figures

    def _add_pairs(
        self, results: dict[str, Any], task: MaskedWordsAndPairs, model: LanguageModel, text: TokenizedText
    ) -> None:
        """What word overlap tells about the pairs; of next sentences also the harder ones, from the same source."""
        makers = {"nsp_accuracy": task.maker_of(text)}
        if task.settings.pairs == "next":
            closer = makers["nsp_accuracy_same_source"] = task.maker_of(text, same_source=True)
            results["nsp_accuracy_same_source"] = score(model, task.fixed_batches(closer))["nsp_accuracy"]
        if self.overlap:
            results["baselines"]["word overlap"] = {
                name: overlap(self.overlap, task, maker) for name, maker in makers.items()
            }


def overlap_baseline(task: MaskedWordsAndPairs) -> OverlapBaseline | None:
    """What word overlap tells about training pairs; None where all are of one kind: documents of one sentence each."""
    pairs = task.sequences(task.pairs, random.Random("overlap"))
    pairs = random.Random("overlap").sample(pairs, min(len(pairs), OVERLAP_PAIRS))
    if len({pair.label for pair in pairs}) < 2:
        return None
    return OverlapBaseline.fit(*segments(task.train_text, pairs), len(task.tokenizer))


def overlap(baseline: OverlapBaseline, task: MaskedWordsAndPairs, maker: PairMaker) -> float:
    """What the words that two segments share tell about the held-out pairs."""
    return baseline.evaluate(*segments(maker.text, task.sequences(maker, random.Random("held out"))))


def segments(text: TokenizedText, pairs: Sequence) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """First segments, second segments and labels of pairs, as ids."""
    first = [text.tokens[slice(*pair.first)] for pair in pairs]
    second = [text.tokens[slice(*pair.second)] for pair in pairs]
    return first, second, np.array([pair.label for pair in pairs])
