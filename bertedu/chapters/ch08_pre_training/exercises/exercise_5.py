"""Exercise 8.5: Small batches that add up."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model import BertForPreTraining
from bertedu.model.heads import IGNORED


def small_model() -> BertForPreTraining:
    """A BERT small enough to compare all its gradients."""
    torch.manual_seed(1)
    config = BertConfig.preset("tiny", vocab_size=30, hidden_size=8, num_attention_heads=2, intermediate_size=16)
    return BertForPreTraining(config).eval()


def small_parts(case: Case, labels: tuple[int, ...]) -> list[dict[str, Tensor]]:
    """A text for each number, with that many labels."""
    parts = []
    for count in labels:
        input_ids = case.randint(5, 30, (1, 12))
        chosen = torch.arange(12)[None] < count
        parts.append({"input_ids": input_ids, "labels": torch.where(chosen, input_ids, IGNORED)})
    return parts


def part_gradients(model: BertForPreTraining, parts: list[dict[str, Tensor]], names: list[str]) -> list[Tensor]:
    """For each part the gradient of its summed loss, all parameters in one long vector."""
    parameters = [parameter for name, parameter in model.named_parameters() if name in names]
    rows = []
    for part in parts:
        scores = model(part["input_ids"]).prediction_logits.flatten(0, 1)
        loss = cross_entropy(scores, part["labels"].flatten(), reduction="sum")
        rows.append(torch.cat([gradient.flatten() for gradient in torch.autograd.grad(loss, parameters)]))
    return rows


def wrong_gradients(gradients: list[Tensor], counts: list[int], tokens: int) -> dict[str, Tensor]:
    """The gradients that known mistakes give, by the sentence that explains each."""
    means = [g / c for g, c in zip(gradients, counts, strict=True) if c]
    total, added, mean = sum(counts), torch.stack(gradients).sum(0), torch.stack(means).sum(0)
    return {
        "You took the mean of each part: a label in a part with few labels weighs more than one in a part with many. "
        "Divide every sum by the number of labels in all parts together.": mean / len(gradients),
        "You added the means of the parts and never divided: the gradient grows with the number of parts.": mean,
        "You never divided the sums. By how many labels is the loss of the whole batch divided?": added,
        "You divided by the number of labels and also by the number of parts. Leave out the second division.": added
        / total
        / len(gradients),
        "You divided each part by the labels counted so far. Count those of all parts first.": torch.stack(
            [g / max(1, sum(counts[: i + 1])) for i, g in enumerate(gradients)]
        ).sum(0),
        "You divided by the number of parts, or of sequences. Divide by the number of labels in all parts.": added
        / len(gradients),
        "You divided by the labels of the last part. Divide by those of all parts together.": added
        / max(1, counts[-1]),
        "You divided by the number of tokens. Only tokens with a label are in the sum.": added / tokens,
        "This is the gradient of the last part only: you cleared the others.": gradients[-1] / total,
        "This is the mean gradient of the last part only: you cleared the others.": gradients[-1] / max(1, counts[-1]),
    }


@exercise(
    "8.5",
    "Small batches that add up",
    difficulty=3,
    minutes=10,
    runs="beside",
    hints=(
        "You know the sum of nine numbers, and a tenth number. How do you get the mean of all ten?",
        "Count the labels of all parts before the first backward pass. Divide the sum of every part by that number.",
    ),
)
def accumulate(case: Case) -> None:
    """Unequal parts; what was there before; a part without a label; one part."""
    case.causes = {
        "'NoneType' and": "The next-sentence head isn't used, so its .grad is None. Leave out such parameters.",
        "positional argument": "It gets a third argument here: `def accumulate(model, parts, summed_loss)`.",
        "no attribute 'backward'": "A plain number has no gradient. Call backward on the tensor, without .item().",
    }
    model, calls = small_model(), []

    def summed_loss(model: BertForPreTraining, part: dict[str, Tensor]) -> tuple[Tensor, int]:
        calls.append(part)
        scores, labels = model(part["input_ids"]).prediction_logits.flatten(0, 1), part["labels"].flatten()
        return cross_entropy(scores, labels, reduction="sum"), int((labels != IGNORED).sum())

    names = [name for name, p in model.named_parameters() if "next_sentence" not in name and "pooler" not in name]

    def tried(labels: tuple[int, ...], words: str, left: bool = False) -> tuple[Tensor, list]:
        parts = small_parts(case, labels)
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter) if left else None
        case.begin(f"I called {case.name} on {words}.", words)
        case.protected(case.answer, model, parts, summed_loss)
        found = dict(model.named_parameters())
        missing = [name for name in names if found[name].grad is None]
        case.expect(
            not missing,
            f"But {missing[0] if missing else ''} has no gradient. Is there a backward pass?",
            "And do you clear the gradients before the first part, not at the end?",
        )
        return torch.cat([grad.flatten() for name in names if (grad := found[name].grad) is not None]), parts

    def compare(got: Tensor, parts: list, left: bool = False) -> None:
        case.expect(
            torch.isfinite(got).all(), "But the gradient is nan: you divided a part without a label by its 0 labels."
        )
        gradients = part_gradients(model, parts, names)
        counts = [int((part["labels"] != IGNORED).sum()) for part in parts]
        right = torch.stack(gradients).sum(0) / sum(counts)
        mistakes = wrong_gradients(gradients, counts, sum(part["labels"].numel() for part in parts))
        if left:
            old = "The gradient of an earlier step is still in .grad. Clear it before the first part."
            mistakes = {old: right + 1, **mistakes}
        advice = "It isn't the gradient of the mean loss over all labels."
        case.close("the gradient", got, right, advice, mistakes=mistakes, tolerance=1e-4)

    compare(*tried((9, 1, 4), "three parts with 9, 1 and 4 labels"))
    compare(*tried((4, 2), "two parts, with the gradient of an earlier step still there", left=True), left=True)
    compare(*tried((5, 0), "two parts, one of them without a label"))
    compare(*tried((6,), "a single part"))
    case.expect(
        calls,
        "But it never called the summed_loss that it was given.",
        "The caller decides which loss is meant: call the third argument, and no function of another cell.",
    )
    case.close_with("So you take the same step, however many parts you cut the batch into.")
