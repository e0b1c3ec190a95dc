"""Exercises of chapter 8: what training costs, and batches in parts."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model import BertForPreTraining
from bertedu.model.heads import IGNORED
from bertedu.training.costs import training_flops


def miscounts(config: BertConfig, length: int) -> dict[str, float]:
    """What known mistakes count, by the sentence that explains each."""
    D, L, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    right, head = training_flops(config, length), 6 * 0.15 * (D * D + D * config.vocab_size)
    product = 6 * L * length * D  # one of attention's two
    return {
        "That is the forward pass only. The backward pass costs twice as much again.": right / 3,
        "The backward pass has two products for each one of the forward pass: for inputs and for weights.": right
        * 2
        / 3,
        "A multiplication and an addition are two operations.": right / 2,
        "Those are the multiplications of the forward pass. Each comes with an addition, and the backward pass costs "
        "twice as much again.": right / 6,
        "You left out the two products of attention, which grow with T.": right - 2 * product,
        "Attention has two products of T · D for each token: the scores, and mixing the values.": right - product,
        "You counted T² · D for attention. That is for all T tokens; one token has one query.": right
        + 2 * product * (length - 1),
        "You multiplied attention's products by H. All heads together are D wide.": right
        + 2 * product * (config.num_attention_heads - 1),
        "You counted attention's products once. Every layer has them.": right - 2 * product * (L - 1) / L,
        "You multiplied the masked-word head by the number of layers. There is one head.": right + head * (L - 1),
        "You counted the embeddings. Looking up a row multiplies nothing.": right + 6 * D * config.vocab_size,
        "You counted attention's products for one head. All heads together are D wide, so each product is T · D.": right
        - 2 * product * (1 - 1 / config.num_attention_heads),
        "You counted 3 · D² for attention. There are four matrices: query, key, value and output.": right
        - 6 * L * D * D,
        "The feed-forward network has two matrices: D to inner size, and back.": right - 6 * L * D * inner,
        "You took 4 · D as the inner size. Read it from the config: `config.intermediate_size`.": right
        + 12 * L * D * (4 * D - inner),
        "That is one layer. Multiply its weights and its attention by the number of layers.": (right - head) / L + head,
        "The head scored every token. It is needed for the masked 15 % only.": right + head * 0.85 / 0.15,
        "Both matrices of the head work for 15 % of the tokens only, the second one (D to V) too.": right
        + 6 * 0.85 * D * config.vocab_size,
        "Both matrices of the head work for 15 % of the tokens only, the first one (D to D) too.": right
        + 6 * 0.85 * D * D,
        "You left out the masked-word head: D² + D · V for each masked token.": right - head,
        "The head has two matrices: D to D, then D to V. You left out the first one.": right - 6 * 0.15 * D * D,
        "That is for all tokens of the sequence. One token was asked for.": right * length,
    }


@exercise(
    "8.4",
    "The price of a token",
    difficulty=3,
    minutes=12,
    runs="with package",
    hints=(
        "Count the multiplications of the forward pass for one token. A layer has 4 · D² + 2 · D · inner for the "
        "weights and 2 · T · D for attention. The head has 0.15 · (D² + D · V).",
        "Times 2, because each multiplication comes with an addition. Times 3, for the forward and the backward pass.",
    ),
)
def flops_per_token(case: Case) -> None:
    """The formula on odd sizes; then Base."""
    sizes = {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 70, "vocab_size": 500}
    odd = BertConfig.preset("tiny", num_hidden_layers=5, **sizes)
    for config, length, tried in (
        (odd, 50, "5 layers, D = 24, inner size 70, V = 500, sequences of 50 tokens"),
        (BertConfig(), 128, "BERT-Base, sequences of 128 tokens"),
        (BertConfig(), 512, "BERT-Base, sequences of 512 tokens"),
    ):
        got = case.call(config, length, tried=tried)
        case.is_a("the count", got, int | float | Tensor, "a number")
        right = training_flops(config, length)
        if abs(float(got) / right - 1) < 0.002:
            continue
        for words, wrong in miscounts(config, length).items():
            if abs(float(got) / wrong - 1) < 1e-4:
                case.fail(f"But it is {float(got):,.0f}, and should be {right:,.0f}.", words)
        more = f"{float(got) / right:.2f} times the right number"
        case.fail(f"But it is {float(got):,.0f}, {more}.", "Count one layer first: its weights, then attention.")
    case.close_with(
        "The share of attention grows with the length. For short sequences 6 operations for each weight is close."
    )


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
        "no attribute 'backward'": "A plain number has no gradient. Call backward on the tensor, without .item().",
    }
    model = small_model()
    names = [name for name, p in model.named_parameters() if "next_sentence" not in name and "pooler" not in name]

    def tried(labels: tuple[int, ...], words: str, left: bool = False) -> tuple[Tensor, list]:
        parts = small_parts(case, labels)
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter) if left else None
        case.begin(f"I called {case.name} on {words}.", words)
        case.protected(case.answer, model, parts)
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
    case.close_with("So you take the same step, however many parts you cut the batch into.")
