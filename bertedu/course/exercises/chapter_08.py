"""Exercises of chapter 8: pre-training."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model import BertForPreTraining
from bertedu.model.heads import IGNORED


@exercise(
    "8.1",
    "Adam's first step",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "In the first step both averages have seen one gradient, g. What are they after the bias correction?",
        "g divided by the square root of g². How large is that, whatever g is?",
    ),
)
def first_step(case: Case) -> None:
    """The rate itself, for a small gradient as for a large one."""
    case.predicted(
        [0.01, 0.01],
        otherwise="Follow one gradient g through the first step: both averages are corrected to g and g². Then divide.",
        mistakes=[
            ([0.00001, 10.0], "Rate times gradient: that is plain gradient descent. What does Adam divide by?"),
            ([0.00001, 10], "Rate times gradient: that is plain gradient descent. What does Adam divide by?"),
            ([0.001, 1000.0], "Those are the gradients themselves. Adam divides each by its own size."),
            ([1.0, 1.0], "g divided by √g² is 1, that is right. Which number is it multiplied with?"),
            ([0.001, 0.001], "Without the correction the first average is 0.1 · g. The correction divides by 1 − 0.9."),
        ],
        tolerance=1e-6,
    )


def adamw(state: tuple[Tensor, ...], step: int, rate: float, decay: float, **change: bool) -> tuple[Tensor, ...]:
    """One step of AdamW, or of one of its misreadings. state: weight, gradient, mean, square."""
    weight, gradient, mean, square = state
    if change.get("l2"):
        gradient = gradient + decay * weight
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * (gradient.abs() if change.get("absolute") else gradient**2)
    first, second = (1.0, 1.0) if change.get("uncorrected") else (1 - 0.9**step, 1 - 0.98**step)
    root = (square / second + 1e-6).sqrt() if change.get("inside") else (square / second).sqrt() + 1e-6
    if change.get("no_root"):
        root = square / second + 1e-6
    move = mean / first / root
    if not change.get("l2") and not change.get("no_decay"):
        move = move + (decay / rate if change.get("full_decay") else decay) * weight
    return weight + rate * move if change.get("uphill") else weight - rate * move, mean, square


MISREADINGS = {
    "l2": "The decay went through Adam: it was added to the gradient, so that the division takes most of it back. "
    "Decoupled means: subtract rate · decay · weight from the weight itself.",
    "uncorrected": "Both averages start at zero and are too small at first. Divide them by 1 − beta ** step.",
    "inside": "Epsilon stands inside of the root. It is added after it.",
    "no_root": "You divide by the average of the squares. Where is the square root?",
    "no_decay": "The weight did not decay at all.",
    "full_decay": "The decay has forgotten the learning rate: it is rate · decay · weight.",
    "uphill": "The step goes up the slope. A step against the gradient is subtracted.",
    "absolute": "The second average is one of squares.",
}


@exercise(
    "8.2",
    "AdamW in five lines",
    difficulty=2,
    minutes=10,
    hints=(
        "Update both averages first: new = beta · old + (1 − beta) · what came. Then correct each by 1 − beta ** step.",
        "weight − rate · (corrected mean / (√corrected square + epsilon) + decay · weight), and return all three.",
    ),
)
def adamw_step(case: Case) -> None:
    """The averages, then the weight, against every well-known misreading; then many steps against torch."""
    for step, tried in ((7, "step 7, with averages of six steps before"), (1, "step 1, with averages of zero")):
        weight, gradient = case.randn(4, 3), case.randn(4, 3)
        old = (torch.zeros(4, 3), torch.zeros(4, 3)) if step == 1 else (case.randn(4, 3), case.randn(4, 3) ** 2)
        state = (weight, gradient, *old)
        result = case.call(*state, step, 0.1, tried=tried)
        names = ("the new weight", "the new mean", "the new square")
        got = case.parts(result, "weight", "mean", "square")
        right = adamw(state, step, 0.1, 0.01)
        for name, one in zip(names, got, strict=True):
            case.same_shape(name, one, weight)
        wrong = {words: adamw(state, step, 0.1, 0.01, **{key: True}) for key, words in MISREADINGS.items()}
        corrected = {
            "You return the corrected average. The next step goes on from the uncorrected one: return that.": right[1]
            / (1 - 0.9**step)
        }
        case.close(names[1], got[1], right[1], "It is 0.9 · old + 0.1 · gradient.", mistakes=corrected)
        squares = {MISREADINGS["absolute"]: wrong[MISREADINGS["absolute"]][2]}
        case.close(names[2], got[2], right[2], "It is 0.98 · old + 0.02 · gradient².", mistakes=squares)
        told = {words: answer[0] for words, answer in wrong.items()}
        case.close(names[0], got[0], right[0], "The averages are right. Look at what is made of them.", mistakes=told)
    still = case.call(torch.ones(2), torch.zeros(2), torch.zeros(2), torch.zeros(2), 1, 0.1, tried="a gradient of zero")
    case.close("the new weight", still[0], torch.full((2,), 0.999), "Epsilon keeps 0 / 0 from happening.")
    case.refuse_in_place()


RUNS = ("rate too high", "no warm-up", "labels unmasked", "frozen head", "NSP at chance")
DIAGNOSES = {"A": "labels unmasked", "B": "rate too high", "C": "NSP at chance", "D": "no warm-up", "E": "frozen head"}
LOOK_AT = {
    "A": "look at the distance between training and validation in A: what makes the question easier in training?",
    "B": "its words look like those of one other run. Compare the pairs: which is thrown about, and which lies still?",
    "C": "look at both panels of C: one of the two tasks is learned as in the healthy run.",
    "D": "its words look like those of one other run. What do both do with pairs, and what does the log say of rates?",
    "E": "compare E with the dotted line: to reach it, a bias for each word is enough. What if that cannot learn?",
}


@exercise(
    "8.3",
    "Five patients",
    difficulty=2,
    minutes=8,
    kind="value",
    hints=(
        "Begin with the two that give themselves away: training far below validation, and pairs that stay at a guess.",
        "The dotted line needs nothing but a bias for each word: which run cannot come down to it? For the last two, "
        "compare the pairs: one run is thrown about, and one lies still.",
    ),
)
def diagnose(case: Case) -> None:
    """All five letters; the first wrong one is told where to look."""
    case.doing = "You diagnosed five runs."
    case.is_a("the diagnosis", case.answer, dict, 'a dictionary like {"A": "no warm-up", "B": …}')
    given = {str(key).strip().upper(): value for key, value in case.answer.items()}
    missing = [letter for letter in DIAGNOSES if letter not in given]
    case.expect(not missing, f"But there is none for {', '.join(missing)}.")
    words = {name.lower(): name for name in RUNS}
    for letter, said in given.items():
        known = isinstance(said, str) and said.strip().lower() in words
        case.expect(known, f"But {letter} has {said!r}, and the diagnoses are: {', '.join(RUNS)}.")
    named = {letter: words[given[letter].strip().lower()] for letter in DIAGNOSES}
    right = [letter for letter, name in DIAGNOSES.items() if named[letter] == name]
    wrong = [letter for letter in DIAGNOSES if letter not in right]
    if wrong:
        count = f"{len(right)} of 5 are right." if right else "None is right yet."
        case.fail(f"{count} You said {named[wrong[0]]!r} for {wrong[0]}: {LOOK_AT[wrong[0]]}")
    case.close_with("All five are real runs, made by benchmarks/sick_runs.py.")


def flops(config: BertConfig, length: int, masked: float = 0.15, **change: bool) -> float:
    """Operations in training for each token, or what a known mistake counts."""
    D, L, inner = config.hidden_size, config.num_hidden_layers, config.intermediate_size
    multiplied = L * (4 * D * D + 2 * D * inner)
    attention = 0 if change.get("no_attention") else L * 2 * length * D * (0.5 if change.get("half_attention") else 1)
    share = 1.0 if change.get("everywhere") else masked
    head = 0 if change.get("no_head") else share * (D * D + D * config.vocab_size)
    forward = (1 if change.get("no_two") else 2) * (multiplied + attention + head)
    if change.get("heads"):
        forward += 2 * (config.num_attention_heads - 1) * L * 2 * length * D
    return forward * (1 if change.get("no_backward") else 2 if change.get("half_backward") else 3)


MISCOUNTS = {
    "no_backward": "That is the forward pass. The backward pass costs twice as much again.",
    "half_backward": "The backward pass has two products for each one of the forward pass: for inputs and for weights.",
    "no_two": "A multiplication and an addition are two operations.",
    "no_attention": "That leaves out the two products of attention, which grow with T.",
    "half_attention": "Attention has two products of the size T · D for each token: the scores, and mixing the values.",
    "everywhere": "The head scored every token. It is needed for the masked share only.",
    "no_head": "That leaves out the masked-word head: D² + D · V for each masked token.",
    "heads": "Attention's products were multiplied by H. All heads together are D wide.",
}


@exercise(
    "8.4",
    "The price of a token",
    difficulty=3,
    minutes=10,
    hints=(
        "Count multiplications of the forward pass for one token: in a layer 4 · D² + 2 · D · inner for the weights, "
        "2 · T · D for attention; for a masked token D² + D · V.",
        "Twice that, for the additions; three times that, for forward and backward.",
    ),
)
def flops_per_token(case: Case) -> None:
    """The formula on odd sizes; then Base."""
    odd = BertConfig.preset("tiny", hidden_size=24, num_attention_heads=3, intermediate_size=70, vocab_size=500)
    for config, length, tried in (
        (odd, 50, "2 layers, D = 24, inner size 70, V = 500, 50 tokens a text"),
        (BertConfig(), 128, "BERT-Base, 128 tokens a text"),
        (BertConfig(), 512, "BERT-Base, 512 tokens a text"),
    ):
        got = case.call(config, length, tried=tried)
        case.is_a("the count", got, int | float | Tensor, "a number")
        right = flops(config, length)
        if abs(float(got) / right - 1) < 0.002:
            continue
        for key, words in MISCOUNTS.items():
            if abs(float(got) / flops(config, length, **{key: True}) - 1) < 1e-4:
                case.fail(f"But it is {float(got):,.0f}, and should be {right:,.0f}.", words)
        more = f"{float(got) / right:.2f} times as much as it should be"
        case.fail(f"But it is {float(got):,.0f}, {more}.", "Count one layer alone first: the weights, then attention.")
    case.close_with("For long texts attention's part grows; for short ones 6 operations for each weight is close.")


def small_model() -> BertForPreTraining:
    """A BERT in which every gradient can be looked at."""
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
    """For each part the gradient of its summed loss, all parameters in one long row."""
    parameters = [parameter for name, parameter in model.named_parameters() if name in names]
    rows = []
    for part in parts:
        scores = model(part["input_ids"]).prediction_logits.flatten(0, 1)
        loss = cross_entropy(scores, part["labels"].flatten(), reduction="sum")
        rows.append(torch.cat([gradient.flatten() for gradient in torch.autograd.grad(loss, parameters)]))
    return rows


def wrong_gradients(gradients: list[Tensor], counts: list[int], tokens: int) -> dict[str, Tensor]:
    """What known mistakes make of the parts' gradients, by the sentence that explains each."""
    means = [g / c for g, c in zip(gradients, counts, strict=True) if c]
    total, added, mean = sum(counts), torch.stack(gradients).sum(0), torch.stack(means).sum(0)
    return {
        "Each part's own mean was taken: a label in a part with few weighs more than one in a part with many. "
        "Divide every sum by the labels of all parts together.": mean / len(gradients),
        "The means of the parts were added and never divided: the gradient grows with the number of parts.": mean,
        "The sums were never divided: by how many labels is the loss of the whole batch divided?": added,
        "You divided by the number of labels and by the number of parts. One of them is too much.": added
        / total
        / len(gradients),
        "You divided by the number of tokens. Only labelled ones are in the sum.": added / tokens,
        "This is the gradient of the last part alone: the ones before it were cleared away.": gradients[-1] / total,
    }


@exercise(
    "8.5",
    "Small batches that add up",
    difficulty=3,
    minutes=8,
    hints=(
        "What is the mean of 10 numbers, if you know the sum of 9 of them and the sum of 1 of them?",
        "Count the labels of all parts before the first backward pass, and divide every part's sum by that.",
    ),
)
def accumulate(case: Case) -> None:
    """Unequal parts; what was there before; a part without a label; one part."""
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
        case.expect(not missing, f"But {missing[:1]} has no gradient: is there a backward pass?")
        return torch.cat([grad.flatten() for name in names if (grad := found[name].grad) is not None]), parts

    def compare(got: Tensor, parts: list, left: bool = False) -> None:
        case.expect(
            torch.isfinite(got).all(), "But the gradient is nan: the part without a label was divided by its 0 labels."
        )
        gradients = part_gradients(model, parts, names)
        counts = [int((part["labels"] != IGNORED).sum()) for part in parts]
        right = torch.stack(gradients).sum(0) / sum(counts)
        mistakes = wrong_gradients(gradients, counts, sum(part["labels"].numel() for part in parts))
        if left:
            old = "What a step before had left in .grad is still in it. Clear it before the first part."
            mistakes = {old: right + 1, **mistakes}
        advice = "It is not the gradient of the whole batch's mean loss."
        case.close("the gradient", got, right, advice, mistakes=mistakes, tolerance=1e-4)

    compare(*tried((9, 1, 3), "three parts with 9, 1 and 3 labels"))
    compare(*tried((4, 2), "two parts, with the gradient of a step before still there", left=True), left=True)
    compare(*tried((5, 0), "two parts, one of them without a label"))
    compare(*tried((6,), "a single part"))
    case.close_with("So any number of parts takes the same step as the whole batch.")
