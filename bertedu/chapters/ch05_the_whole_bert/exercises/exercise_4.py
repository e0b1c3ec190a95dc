"""Exercise 5.4: Where two models start to differ."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.model import BertModel

IDS = torch.tensor([[2, 7, 8, 9, 3], [2, 5, 6, 3, 0]])  # [B, T]


def twins(changed: str | None = None, factor: float = 1.5) -> tuple[BertModel, BertModel]:
    """Two models with the same weights, except for one tensor that is multiplied."""
    sizes = {"vocab_size": 20, "hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 9}
    config = BertConfig.preset("tiny", **sizes)
    torch.manual_seed(5)
    one, other = BertModel(config).eval(), BertModel(config).eval()
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        other.load_state_dict(one.state_dict())
        if changed:
            other.get_parameter(changed).mul_(factor)
    return one, other


def pooler_twins(shift: float, entries: int) -> tuple[BertModel, BertModel]:
    """Two models that differ in the first entries of the pooler's bias only."""
    one, other = twins()
    with torch.no_grad():
        other.get_parameter("pooler.dense.bias")[:entries] += shift
    return one, other


def listening(model: nn.Module) -> int:
    """How many modules still have a hook."""
    return sum(bool(module._forward_hooks) for module in model.modules())


@exercise(
    "5.4",
    "Where two models start to differ",
    difficulty=3,
    minutes=12,
    runs="beside",
    hints=(
        "trace returns (name, output) of each module in the order of the calls. Go through the two lists together.",
        "zip the two traces. At the first pair whose largest absolute difference is above 1e-5, return the name. After "
        'the loop comes the answer for models that do not differ: "nowhere".',
    ),
)
def first_difference(case: Case) -> None:
    """Faults in several modules, large and small ones, then whether the hooks are removed."""
    skipped = "`trace` is made in the section *Watch every shape of a forward pass*: run its cells first."
    case.causes["name 'trace' is not defined"] = skipped
    one, other = twins("encoder.layers.1.attention.key.weight")
    got = case.call(
        one, other, IDS, tried="two models that differ in layer 1's key weights", function=told_in_words(case)
    )
    if isinstance(got, tuple | list) and len(got) > 1:
        case.fail(f"But it returned {said(got)}. Return only the name, as a text.")
    case.is_a("the result", got, str, "the name of a module, as a text")
    here = "encoder.layers.1.attention.key"
    if got.startswith("pooler"):
        case.fail(
            f"But it returned {got!r}. That is the last module that differs: the fault has reached it from below.",
            "Which one is the first? Or do all of your hooks have the same name, the last one?",
        )
    if got == f"{here}.weight":
        case.fail(f"But it returned {got!r}, which is a weight. Compare the outputs of modules, and return its name.")
    if got in ("encoder.layers.1", "encoder", "encoder.layers.1.attention"):
        case.fail(
            f"But it returned {got!r}. That module has submodules. Go down to the smallest ones, as `trace` does."
        )
    if got == "nowhere":
        case.fail(
            "But it returned 'nowhere', and some outputs differ.",
            'Do you compare the two models with each other? And all modules before you return "nowhere"?',
        )
    if got not in dict(one.named_modules()):
        case.fail(f"But it returned {got!r}, and no module has that name. Return the name that `trace` gives it.")
    case.equal("the name", got, here, "That module's output is the same in both models, or an earlier one differs.")

    case.begin(f"I called {case.name} on two equal models.", "two equal models")
    got = case.protected(case.answer, *twins(), IDS.clone())
    case.equal("the result", got, "nowhere", 'Nothing differs here: return "nowhere".')
    rounding = "Rounding does not count: no entry differs by more than 1e-5. Do you use `==`, or add differences up?"
    got = case.call(*twins("embeddings.norm.weight", 1 + 1e-7), IDS, tried="two models that differ by rounding")
    case.equal("the result", got, "nowhere", rounding)
    got = case.call(*twins("embeddings.token.weight", -1.0), IDS, tried="two models with opposite token vectors")
    first = "Do you return the module that differs most? Return the first. Or is the absolute value missing?"
    case.equal("the name", got, "embeddings.token", first)
    got = case.call(*twins("embeddings.position.weight"), IDS, tried="two models that differ in the position table")
    mistakes = [("embeddings.position", "The position table is never called. Compare outputs, not weights.")]
    case.equal("the name", got, "embeddings.norm", "The difference shows in the next module.", mistakes=mistakes)
    _check_that_it_takes_the_largest(case)
    if listening(one) + listening(other):
        case.almost(
            f"The name is right, but {listening(one) + listening(other)} modules still have your hooks.",
            "They would run at every later call, and keep what they saw. Remove them, also when the model fails.",
        )


def told_in_words(case: Case) -> Callable:
    """The answer, with torch's sentence about a tensor in an `if` replaced."""

    def run(*inputs: Any) -> Any:
        try:
            return case.answer(*inputs)
        except RuntimeError as error:
            if "Boolean value of Tensor" in str(error):
                case.fail(
                    f"But {case.name} stopped, because `if` needs one truth and got a tensor with many.",
                    "Make one number of all differences before you compare it with 1e-5: the largest one.",
                )
            raise

    return run


def _check_that_it_takes_the_largest(case: Case) -> None:
    """A mean hides one wrong entry among many right ones; a norm or a sum adds roundings up."""
    words = "two models that differ in one entry of the pooler, by 1e-4"
    names = [case.call(*pooler_twins(shift, 1), IDS, tried=words) for shift in (1e-4, -1e-4)]
    advice = (
        "One entry differs by 1e-4, more than the limit, and a mean over all entries hides it. Look at the largest."
    )
    if names.count("pooler.dense") == 1:
        advice = (
            "A difference has a sign, and you find it in one direction only. Take the absolute value, then the largest."
        )
    for got in names:
        case.equal("the name", got, "pooler.dense", advice)
    got = case.call(*pooler_twins(5e-6, 16), IDS, tried="two models that differ in all entries of the pooler, by 5e-6")
    norm = "No entry differs by more than 1e-5. A sum or a norm adds small differences up: look at the largest one."
    case.equal("the result", got, "nowhere", norm)
