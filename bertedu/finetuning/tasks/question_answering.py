"""Extractive question answering: the answer is a span of the context, or there is none. Notebook 12.

Devlin et al. 2019, sections 4.2 and 4.3. Shapes: B batch, T tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.config import TaskConfig
from bertedu.corpora.readers import Question
from bertedu.corpora.task_data import read_questions
from bertedu.finetuning.examples import Example
from bertedu.finetuning.explaining import Mistake, mistake, rounded, shortened
from bertedu.finetuning.head import HeadOutput, TaskModel
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.squad_metrics import (
    ALWAYS,
    answer_scores,
    best_threshold,
    longest_word_overlap,
    squad_figures,
)
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.task import ANSWERS, Batch, FinetuningTask, Pictures
from bertedu.finetuning.windows import Answered, Window, best_over_windows, label_of, on_tokens, windows
from bertedu.model.architecture import Backbone
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures, Measure

HELP = """
question-answering: a span of a text, or that there is no answer             SQuAD's .json, or .jsonl
    bertedu finetune question-answering --data data/tasks/questions
    bertedu answer "Who sings?" --text "At night the cat sings." --model runs/question-answering-questions
"""
OF_THRESHOLDS = (
    "F1 for each threshold. To the left nothing is answered, to the right always something. The dotted line is "
    "the threshold in use, which was chosen on validation; the figures above are those at it. The best one of "
    "these rows (the dot) flatters where these rows are the test."
)


@dataclass
class SpanOutput(HeadOutput):
    """start_logits and end_logits [B, T], and the loss when positions were given."""

    start_logits: Tensor
    end_logits: Tensor


class SpanFinder(TaskModel):
    """An encoder and a linear layer: how likely the answer starts, and ends, at each token. Of BERT:
    BertForQuestionAnswering, the same as in `transformers`.
    """

    kind = "ForQuestionAnswering"

    def __init__(self, encoder: Backbone, task_config: TaskConfig | None = None):
        super().__init__(encoder, task_config)
        self.qa_outputs = nn.Linear(self.config.hidden_size, 2)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
    ) -> SpanOutput:
        """positions [B]: the answer's first and last token, that of [CLS] (for BERT 0) for none. A window's loss is the
        mean of both.
        """
        vectors = self.token_vectors(input_ids, attention_mask, token_type_ids)
        start_logits, end_logits = self.qa_outputs(vectors).unbind(dim=-1)
        if start_positions is None or end_positions is None:
            return SpanOutput(start_logits, end_logits)
        of_starts = cross_entropy(start_logits.float(), start_positions, reduction="sum")
        of_ends = cross_entropy(end_logits.float(), end_positions, reduction="sum")
        summed = (of_starts + of_ends) / 2
        return SpanOutput(start_logits, end_logits, summed_loss=summed, counted=len(start_positions))


BertForQuestionAnswering = SpanFinder


class QuestionAnsweringTask(FinetuningTask[Question]):
    """Learning to find answers. stride is how far the windows of a long context lie apart, in tokens; longest is how
    many tokens an answer may have.

    Every window of every question is learned; one that does not hold the (first) answer points to [CLS].
    """

    best_by = "f1"  # with the threshold that is best on validation
    networks = (SpanFinder,)
    defaults = MappingProxyType({"max_length": 256})
    use = ANSWERS
    measures = MappingProxyType(
        {
            "f1": Measure("F1", form=".3f"),
            "exact_match": Measure("exact match", form=".3f"),
            "has_answer_exact_match": Measure("exact match, where there is an answer", form=".3f"),
            "has_answer_f1": Measure("F1, where there is an answer", form=".3f"),
            "no_answer_exact_match": Measure("right that there is no answer", form=".3f"),
            "f1_at_best_threshold": Measure("F1, with the threshold best for these rows", form=".3f"),
            "best_threshold": None,  # no measure of quality
            "no_answer_f1": None,  # the same as no_answer_exact_match
        }
    )
    row_types = MappingProxyType(
        {
            **{"question": str, "context": str, "answers": list[str], "prediction": str},
            **{"probability": float, "mistake": float, "span": str, "span_f1": float, "no_answer_score": float},
        }
    )

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[Question] = ()) -> list[Question]:
        """Questions with their contexts; training rows say nothing of others."""
        return read_questions(path, split)

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """Spans as answers; windows begin a third of max_length apart, so that they overlap by more than half."""
        network = with_new_head(SpanFinder, model, settings)
        return network, cls(train, validation, tokenizer, settings, stride=settings.max_length // 3)

    @classmethod
    def baselines(cls, train: Sequence[Question], test: Sequence[Question]) -> Figures:
        """Answers that need no network and learn nothing from training."""
        return longest_word_overlap(test)

    @classmethod
    def unit(cls, row: Question) -> str:
        """The text that questions ask about."""
        return row.context

    @classmethod
    def in_words(cls, row: Mapping[str, Any]) -> Mistake:
        """A question, and the part of its context in which the answers stand."""
        context, spans = row["context"], [*row["answers"], row["span"]]
        places = [place for place in (context.find(span) for span in spans if span) if place >= 0]
        middle = sum(places) // len(places) if places else 0
        right = " / ".join(dict.fromkeys(row["answers"])) or "no answer"
        said = f"{row['prediction'] or 'no answer'} ({row['probability']:.0%})"
        return Mistake(f"{row['question']} ‖ {shortened(context, middle)}", right, said)

    @classmethod
    def pictures(
        cls, rows: Sequence[Mapping[str, Any]], draw: Any, no_answer_threshold: float = 0.0, **decided: float
    ) -> Pictures:
        """When to say that there is no answer, where some have none; and how sure the model is."""
        pictures = super().pictures(rows, draw)
        if len({bool(row["answers"]) for row in rows}) == 2:
            pictures = {"threshold": (draw.no_answer_curve(rows, no_answer_threshold), OF_THRESHOLDS), **pictures}
        return pictures

    def __init__(
        self,
        train: Sequence[Question],
        validation: Sequence[Question],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
        stride: int = 64,
        longest: int = 30,
    ):
        self.stride, self.longest = stride, longest
        self.always_answered = all(row.answers for row in train)
        super().__init__(train, validation, tokenizer, settings)

    def windows(self, question: Question) -> list[Window]:
        """The windows of a question's context."""
        return windows(self.tokenizer, question.question, question.context, self.settings.max_length, self.stride)

    def encode(self, rows: Sequence[Question]) -> list[Example]:
        """All windows of all questions, with the first and last token of the answer."""
        examples = []
        for row in rows:
            found, answer = self.windows(row), None
            if row.answers:
                first = row.answers[0]
                answer = on_tokens((first.start, first.start + len(first.text)), found)
            for window in found:
                start, end = label_of(window, answer)
                examples.append({**window.numbers(), "start_positions": start, "end_positions": end})
        return examples

    def counts(self, batch: Batch) -> dict[str, int]:
        """Windows."""
        return {"window": len(batch["start_positions"])}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the windows."""
        return {"window_loss": model(**batch).summed_loss}

    def read(self, model: nn.Module, batch: Batch) -> list[tuple[np.ndarray, np.ndarray]]:
        """Start and end logits of each window, [T] each."""
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        starts, ends = (logits.float().cpu().numpy() for logits in (output.start_logits, output.end_logits))
        return list(zip(starts, ends, strict=True))

    def predictions(self, model: nn.Module, rows: Sequence[Question]) -> list[Answered]:
        """What the model says to each question."""
        of_each = [self.windows(row) for row in rows]
        logits = iter(self.outputs(model, [window.numbers() for found in of_each for window in found]))
        answered = []
        for found in of_each:
            candidates, no_answer = best_over_windows([(window, *next(logits)) for window in found], self.longest)
            best = candidates[0].score if candidates else no_answer
            answered.append(Answered(candidates, no_answer - best))
        return answered

    def decide(self, rows: Sequence[Question], predictions: Sequence[Answered]) -> dict[str, float]:
        """The threshold that gives the best F1 on these rows. Rows that all have an answer cannot tell: it is 0 then,
        or an answer is always given, where each question of training has one, too.
        """
        if all(row.answers for row in rows):
            return {"no_answer_threshold": ALWAYS if self.always_answered else 0.0}
        return {"no_answer_threshold": threshold_of(rows, predictions)[0]}

    def score(
        self, model: nn.Module, rows: Sequence[Question], no_answer_threshold: float | None = None
    ) -> dict[str, float]:
        """The figures of a model on questions with their answers."""
        return self.figures(rows, self.predictions(model, rows), no_answer_threshold)

    def figures(
        self, rows: Sequence[Question], predictions: Sequence[Answered], no_answer_threshold: float | None = None
    ) -> dict[str, float]:
        """Exact match and F1; where questions without an answer are among them, for both parts, and the best threshold
        on these rows: choose it on validation (`decide`), use it on the test. Without a threshold it is 0, or each
        question gets an answer where each has one.
        """
        limit = usual_threshold(rows) if no_answer_threshold is None else no_answer_threshold
        pairs = zip(rows, predictions, strict=True)
        figures = squad_figures(rows, {row.id: found.text(row.context, limit) for row, found in pairs})
        if any(not row.answers for row in rows):
            figures["best_threshold"], figures["f1_at_best_threshold"] = threshold_of(rows, predictions)
        return figures

    def explain(
        self, rows: Sequence[Question], predictions: Sequence[Answered], no_answer_threshold: float | None = None
    ) -> list[dict[str, Any]]:
        """The right answers and the model's ("" for none), how likely it holds it, and for each threshold's sake the
        best span, its F1 and the score of no answer. The mistake: 1 - F1, times the probability.
        """
        limit = usual_threshold(rows) if no_answer_threshold is None else no_answer_threshold
        explained = []
        for row, found in zip(rows, predictions, strict=True):
            prediction, span = found.text(row.context, limit), found.text(row.context, ALWAYS)
            sure, f1 = rounded(found.probability(bool(prediction))), answer_scores(row, prediction)[1]
            asked = {"id": row.id, "question": row.question, "context": row.context}
            said = {"answers": [one.text for one in row.answers], "prediction": prediction, "probability": sure}
            scores: dict[str, Any] = {"span": span, "span_f1": rounded(answer_scores(row, span)[1])}
            scores["no_answer_score"] = found.no_answer_score  # as it is: the threshold is one of these
            explained.append({**asked, **said, "f1": rounded(f1), **scores, "mistake": mistake(sure, 1 - f1)})
        return explained


def usual_threshold(rows: Sequence[Question]) -> float:
    """0 where questions without an answer are among the rows; else each question gets an answer."""
    return 0.0 if any(not row.answers for row in rows) else ALWAYS


def threshold_of(rows: Sequence[Question], predictions: Sequence[Answered]) -> tuple[float, float]:
    """The threshold that gives the best F1 on these rows, and that F1."""
    pairs = list(zip(rows, predictions, strict=True))
    texts = {row.id: found.text(row.context, ALWAYS) for row, found in pairs}
    return best_threshold(rows, texts, {row.id: found.no_answer_score for row, found in pairs})


TASK = QuestionAnsweringTask
