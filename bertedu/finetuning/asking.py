"""Asking a model a question about a text of any length. Notebook 12."""

from pathlib import Path

import torch

from bertedu.checkpoints.folder import Trained, find_folder
from bertedu.errors import UserError
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.finetuning.windows import Answered, Candidate, asked_windows, best_over_windows, windows
from bertedu.model.architecture import tokenizer_in
from bertedu.model.evaluating import evaluating
from bertedu.tokenization import Tokenizer
from bertedu.training.feeding import to_device

FINDS = Trained("qa_outputs.", "answers questions")


def open_finder(name: str | Path) -> tuple[SpanFinder, Tokenizer]:
    """A model that finds answers, and its tokenizer, from a run folder, a saved folder or a hub id.

    Raises UserError for a model of another task: an untrained head would point anywhere.
    """
    folder = find_folder(name)
    return SpanFinder.from_pretrained(folder, FINDS), tokenizer_in(folder)


def read_context(model: SpanFinder, tokenizer: Tokenizer, question: str, context: str) -> tuple[list[Candidate], float]:
    """The best spans of a context of any length, read in windows that overlap, and the score of no answer.

    The windows are those of training as it is usual: for others the threshold of no answer was not chosen. Raises
    UserError for a question that is too long to be read whole.
    """
    length, stride = asked_windows(tokenizer, question, model.config.max_tokens)
    found = []
    with torch.no_grad(), evaluating(model) as device:
        for window in windows(tokenizer, question, context, length, stride):
            example = {name: torch.tensor([row]) for name, row in window.numbers().items()}
            output = model(**to_device(example, device))
            found.append((window, output.start_logits[0].cpu().numpy(), output.end_logits[0].cpu().numpy()))
    return best_over_windows(found)


def answer_question(
    model: SpanFinder, tokenizer: Tokenizer, question: str, context: str, top: int = 3
) -> tuple[list[tuple[str, float]], float]:
    """The `top` likeliest answers with their probabilities, and the probability that the context holds none.

    Probabilities are the softmax over the scores of the best spans and of no answer.
    """
    if top < 1:
        raise UserError(f"top is {top}: ask for at least 1 answer.")
    candidates, no_answer = read_context(model, tokenizer, question, context)
    scores = torch.tensor([*(candidate.score for candidate in candidates), no_answer]).softmax(dim=0).tolist()
    answers = [context[candidate.start : candidate.end] for candidate in candidates]
    return list(zip(answers, scores, strict=False))[:top], scores[-1]


def answer_or_none(model: SpanFinder, tokenizer: Tokenizer, question: str, context: str) -> str:
    """The answer, or "" where no answer is preferred by more than the threshold in the model's config."""
    candidates, no_answer = read_context(model, tokenizer, question, context)
    preferred = no_answer - candidates[0].score if candidates else 0.0
    return Answered(candidates, preferred).text(context, model.task_config.no_answer_threshold)
