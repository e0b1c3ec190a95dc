"""What a pre-trained model can do on text that it never saw, each number beside what needs no network."""

from collections.abc import Sequence
from typing import Any, TypeVar

from bertedu.corpora.documents import Corpus, Document, FactProbe, SenseExample
from bertedu.inference import LanguageModel
from bertedu.model.heads import IGNORED
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.probes import (
    fact_probe_accuracy,
    ngram_probe_accuracy,
    sense_accuracy,
    sense_baseline_accuracy,
)
from bertedu.pretraining.scoring import Counting, HeldOut, score

Example = TypeVar("Example", FactProbe, SenseExample)


class Evaluation:
    """Scores a model on the held-out parts of a corpus. Baselines learn from the training text, once.

    What cannot be evaluated is left out, and `notes` says so: training is over, and its other figures are not lost.
    """

    def __init__(self, task: MaskedWords, corpus: Corpus):
        self.task, self.corpus = task, corpus
        self.notes: list[str] = []
        self.counting = Counting(task.train_text, task.tokenizer)

    def __call__(self, model: LanguageModel) -> dict[str, Any]:
        """All figures of what was trained: a table for each held-out set; facts and senses where the corpus asks.

        Masks are filled by the model that does so, and senses told apart by the one that is fine-tuned afterwards.
        """
        self.notes = self.task.notes(model)
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
            "n-gram": ngram_probe_accuracy(self.counting.ngram, self.task.tokenizer, probes),
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
        found = task.evaluate(model, HeldOut(documents, text, batches, self.counting))
        baselines = {**self.counting.words(batches), **found.pop("baselines", {})}
        return {**score(task.filler(model), batches), "baselines": baselines, **found}
