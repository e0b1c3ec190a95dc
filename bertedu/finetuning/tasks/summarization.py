"""Extractive summaries: a score for each sentence from a [CLS] of its own, and the best without repeats. Notebook 13.

Liu & Lapata 2019 (BERTSUM, section 3.1): [CLS] before and [SEP] after every sentence, segments 0 and 1 in turns,
trigram blocking. Labels: Nallapati et al. 2017, section 3 (sentences added as long as ROUGE rises).
Shapes: B batch, T tokens, S sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from bertedu.config import TaskConfig
from bertedu.corpora.readers import Summary
from bertedu.corpora.task_data import read_summaries
from bertedu.finetuning.examples import Example, example_of
from bertedu.finetuning.explaining import Mistake, check_numbers, rounded, shortened
from bertedu.finetuning.head import TaskModel
from bertedu.finetuning.labels import MULTI_LABEL
from bertedu.finetuning.rouge import rouge, rouge_n, words_of
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.task import Batch, FinetuningTask, Pictures
from bertedu.model.architecture import Backbone
from bertedu.model.heads import IGNORED
from bertedu.segmentation import joined, split_sentences
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures, Measure

HELP = """
summarization: the sentences that say most
    {"text": "A long report.", "summary": "Its news."}
    bertedu finetune summarization --data data/tasks/summaries
"""
IN_THE_SUMMARY = "in the summary"  # the one score of a token, by which transformers opens the head


class SentenceChooser(TaskModel):
    """An encoder and one score for each token; those of the [CLS] of each sentence count."""

    kind = "ForSummarization"

    def __init__(self, encoder: Backbone, task_config: TaskConfig | None = None):
        super().__init__(encoder, task_config)
        self.dropout = nn.Dropout(self.config.head_dropout_prob)
        self.classifier = nn.Linear(self.config.hidden_size, 1)
        self.initialize()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """The scores [B, T]: the higher, the more a sentence that begins here belongs into the summary."""
        vectors = self.token_vectors(input_ids, attention_mask, token_type_ids)
        return self.classifier(self.dropout(vectors)).squeeze(-1)


BertForSummarization = SentenceChooser


@dataclass(frozen=True, slots=True)
class Chosen:
    """A text's sentences, and the numbers of those that make its summary, from 0 and in the text's order."""

    sentences: list[str]
    chosen: list[int]

    def text(self) -> str:
        """The summary."""
        return joined(self.sentences[number] for number in self.chosen)


class SummarizationTask(FinetuningTask[Summary]):
    """Learning which sentences make a summary of `sentences` sentences. Scored by ROUGE against the written one."""

    best_by = "rouge1"
    networks = (SentenceChooser,)
    defaults = MappingProxyType({"max_length": 512})
    measures = MappingProxyType({f"rouge{which}": Measure(f"ROUGE-{which}", form=".3f") for which in ("1", "2", "L")})
    ceilings = ("oracle",)
    row_types = MappingProxyType(
        {
            **{"sentences": list[str], "summary": str, "prediction": str, "chosen": list[int], "best": list[int]},
            **{"rouge1": float, "mistake": float},
        }
    )

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[Summary] = ()) -> list[Summary]:
        """Texts with their summaries; training rows say nothing of others."""
        return read_summaries(path, split)

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """Summaries of three sentences."""
        labels = {"labels": (IN_THE_SUMMARY,), "problem_type": MULTI_LABEL}  # each sentence is a yes or no of its own
        network = with_new_head(SentenceChooser, model, settings, **labels)
        return network, cls(train, validation, tokenizer, settings)

    @classmethod
    def baselines(cls, train: Sequence[Summary], test: Sequence[Summary]) -> Figures:
        """The first sentences, and the best that any chooser of sentences can do."""
        return lead_and_oracle(test)

    @classmethod
    def check_row(cls, row: Mapping[str, Any], place: str) -> None:
        """The sentences are there."""
        check_numbers((*row["chosen"], *row["best"]), len(row["sentences"]), "sentences", place)

    @classmethod
    def in_words(cls, row: Mapping[str, Any]) -> Mistake:
        """A text and two summaries of it."""
        said = f"{row['prediction']} (ROUGE-1 {row['rouge1']:.2f}, {row['mistake']:.2f} below the best choice)"
        return Mistake(shortened(joined(row["sentences"])), row["summary"], said)

    @classmethod
    def errors_shown(cls, rows: Sequence[Mapping[str, Any]], count: int) -> str:
        """A summary is more or less wrong."""
        return super().errors_shown(rows, count).replace("of which the model is surest", "in which most is lost")

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """From which positions sentences are taken."""
        picture = draw.chosen_places([row["chosen"] for row in rows], [row["best"] for row in rows])
        return {"places": (picture, "Which sentences are taken. Grey: those that share most with the written summary.")}

    def __init__(
        self,
        train: Sequence[Summary],
        validation: Sequence[Summary],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
        sentences: int = 3,
    ):
        self.sentences = sentences
        super().__init__(train, validation, tokenizer, settings)

    def encode(self, rows: Sequence[Summary]) -> list[Example]:
        """Texts, with a label at the [CLS] of each sentence: 1 where it belongs into the summary, else 0."""
        examples = []
        for row in rows:
            sentences = split_sentences(row.text)
            example = self.encode_sentences(sentences)
            chosen = oracle(sentences, row.summary, self.sentences)
            starts = [place for place, here in enumerate(example["starts"]) if here]
            labels = [IGNORED] * len(example["starts"])
            for number, place in enumerate(starts):
                labels[place] = int(number in chosen)
            examples.append({**example, "labels": labels})
        return examples

    def encode_sentences(self, sentences: Sequence[str]) -> Example:
        """[CLS] sentence [SEP] [CLS] sentence [SEP] …, as many whole sentences as fit, the first one cut if it must be.

        starts is 1 at the [CLS] of each sentence.
        """
        layout, room = self.tokenizer.layout, self.settings.max_length
        special = layout.special_tokens(pair=False)
        ids: list[int] = []
        types: list[int] = []
        starts: list[int] = []
        for number, pieces in enumerate(self.tokenizer.encode_lines(sentences)):
            if number == 0:
                pieces = pieces[: room - special]
            elif len(ids) + len(pieces) + special > room:
                break
            sequence, _ = layout.sequence(pieces)
            ids += sequence
            types += [number % 2] * len(sequence)
            cls = layout.position(self.tokenizer.cls_token_id, len(pieces))
            starts += [int(place == cls) for place in range(len(sequence))]
        return {**example_of(ids, types), "starts": starts}

    def counts(self, batch: Batch) -> dict[str, int]:
        """Sentences."""
        return {"sentence": int((batch["labels"] != IGNORED).sum())}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the sentences."""
        here = batch["labels"] != IGNORED
        scores = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])[here].float()
        labels = batch["labels"][here].float()
        return {"sentence_loss": binary_cross_entropy_with_logits(scores, labels, reduction="sum")}

    def read(self, model: nn.Module, batch: Batch) -> list[list[float]]:
        """The scores of each text's sentences, as far as they fitted."""
        scores = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"]).float()
        return [row[here.bool()].tolist() for row, here in zip(scores, batch["starts"], strict=True)]

    def choose(self, model: nn.Module, texts: Sequence[str]) -> list[Chosen]:
        """The sentences of each text and which of them the model takes."""
        of_each = [split_sentences(text) for text in texts]
        scores = self.outputs(model, [self.encode_sentences(sentences) for sentences in of_each])
        return [
            Chosen(sentences, select(sentences, found, self.sentences))
            for sentences, found in zip(of_each, scores, strict=True)
        ]

    def summarize(self, model: nn.Module, texts: Sequence[str]) -> list[str]:
        """The summary of each text: its best sentences, in their order."""
        return [chosen.text() for chosen in self.choose(model, texts)]

    def predictions(self, model: nn.Module, rows: Sequence[Summary]) -> list[Chosen]:
        """The sentences that the model takes of each text."""
        return self.choose(model, [row.text for row in rows])

    def figures(self, rows: Sequence[Summary], predictions: Sequence[Chosen]) -> dict[str, float]:
        """Mean ROUGE-1, ROUGE-2 and ROUGE-L."""
        return mean_rouge([chosen.text() for chosen in predictions], rows)

    def explain(self, rows: Sequence[Summary], predictions: Sequence[Chosen]) -> list[dict[str, Any]]:
        """The sentences, which of them were chosen and which a perfect chooser takes, and how much ROUGE-1 is lost."""
        explained = []
        for row, found in zip(rows, predictions, strict=True):
            best = Chosen(found.sentences, sorted(oracle(found.sentences, row.summary, self.sentences)))
            reached, possible = (rouge_n(one.text(), row.summary, 1) for one in (found, best))
            said = {"sentences": found.sentences, "summary": row.summary, "chosen": found.chosen, "best": best.chosen}
            lost = {"rouge1": rounded(reached), "mistake": rounded(max(0.0, possible - reached))}
            explained.append({**said, "prediction": found.text(), **lost})
        return explained


def oracle(sentences: Sequence[str], summary: str, most: int) -> set[int]:
    """The sentences that a perfect chooser would take: one after the other what lifts ROUGE-1 + ROUGE-2 most."""
    chosen: set[int] = set()
    best = 0.0
    while len(chosen) < most:
        scored = []
        for number in set(range(len(sentences))) - chosen:
            text = joined(sentences[i] for i in sorted(chosen | {number}))
            scored.append((rouge_n(text, summary, 1) + rouge_n(text, summary, 2), -number))
        if not scored or max(scored)[0] <= best:
            break
        best, number = max(scored)
        chosen.add(-number)
    return chosen


def select(sentences: Sequence[str], scores: Sequence[float], most: int) -> list[int]:
    """The sentences with the highest scores, by their numbers in the text's order; none that repeats three words of a
    chosen one.
    """
    chosen: list[int] = []
    seen: set[tuple[str, ...]] = set()
    for number in sorted(range(len(scores)), key=lambda number: -scores[number]):
        runs = trigrams(sentences[number])
        if len(chosen) < most and not runs & seen:
            chosen.append(number)
            seen |= runs
    return sorted(chosen)


def trigrams(sentence: str) -> set[tuple[str, ...]]:
    """The runs of three words."""
    words = words_of(sentence)
    return set(zip(words, words[1:], words[2:], strict=False))


def mean_rouge(summaries: Sequence[str], rows: Sequence[Summary]) -> dict[str, float]:
    """The means of ROUGE over summaries."""
    scores = [rouge(summary, row.summary) for summary, row in zip(summaries, rows, strict=True)]
    return {name: sum(score[name] for score in scores) / len(scores) for name in scores[0]}


def lead_and_oracle(rows: Sequence[Summary], sentences: int = 3) -> dict[str, dict[str, float]]:
    """The figures of the first sentences (lead), and of the oracle, which no chooser of sentences can pass by much."""
    of_each = [split_sentences(row.text) for row in rows]
    lead = [joined(found[:sentences]) for found in of_each]
    best = [
        joined(found[i] for i in sorted(oracle(found, row.summary, sentences)))
        for found, row in zip(of_each, rows, strict=True)
    ]
    return {f"lead-{sentences}": mean_rouge(lead, rows), "oracle": mean_rouge(best, rows)}


TASK = SummarizationTask
