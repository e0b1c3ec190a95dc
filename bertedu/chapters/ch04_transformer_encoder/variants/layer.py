"""Variants of chapter 4: an encoder layer in another arrangement. The program with two bugs: stack.py."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor
from torch.nn.functional import gelu, layer_norm

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, Row, compare
from bertedu.course.variant import COPIED, Draws, Variant

Part = Callable[[Tensor], Tensor]
KINDS = {
    "pre": (
        "The layer is **pre-norm**: each sublayer reads the normalized hidden states, and its output is added to the "
        "hidden states as they were before the norm. There is no norm at the end."
    ),
    "post": "The layer is **post-norm**: each sublayer's output is added to what it read, and then comes its norm.",
    "update": (
        "The **update is normalized**: each sublayer reads the hidden states as they are, its output goes through its "
        "norm, and then it is added to them."
    ),
    "parallel": (
        "The sublayers are **parallel**: each reads the same `x` through its own norm, and one sum adds both outputs "
        "to `x`. There is no norm at the end."
    ),
}
NAMES = {"pre": "pre-norm", "post": "post-norm", "update": "a layer that normalizes its updates"}
NAMES |= {"parallel": "a layer with parallel sublayers"}


@dataclass(frozen=True)
class Arrangement:
    """How an encoder layer is put together. The last ones are for mistakes."""

    kind: str
    factor: float  # of the residual connection
    feed_forward_first: bool = False
    of_update: bool = False  # the factor is the update's
    residual: bool = True
    original: bool = False  # the second addition takes the layer's input
    swapped: bool = False  # each sublayer has the other's norm
    last: bool = True  # whether there is a second sublayer

    def add(self, x: Tensor, update: Tensor) -> Tensor:
        """The residual connection."""
        return x + self.factor * update if self.of_update else self.factor * self.residual * x + update

    def __call__(self, x: Tensor, attention: Part, attention_norm: Part, feed_forward: Part, norm: Part) -> Tensor:
        norms = (norm, attention_norm) if self.swapped else (attention_norm, norm)
        halves = [(attention, norms[0]), (feed_forward, norms[1])]
        halves = (halves[::-1] if self.feed_forward_first else halves)[: 1 + self.last]
        if self.kind == "parallel":
            return self.add(x, sum((part(norm_of(x)) for part, norm_of in halves), start=x * 0))
        now = x
        for place, (part, norm_of) in enumerate(halves):
            base = x if self.original and place else now
            if self.kind == "pre":
                now = self.add(base, part(norm_of(now)))
            elif self.kind == "post":
                now = norm_of(self.add(base, part(now)))
            else:
                now = self.add(base, norm_of(part(now)))
        return now


def parts(case: Case) -> tuple[Part, Part, Part, Part]:
    """Attention, its norm, a feed-forward network and its norm, with drawn weights, for D = 6."""
    mixed, up, down = case.randn(6, 6), case.randn(6, 9), case.randn(9, 6)
    (weight_1, bias_1), (weight_2, bias_2) = case.randn(2, 6), case.randn(2, 6)
    return (
        lambda x: (x @ x.mT).softmax(-1) @ x @ mixed,
        lambda x: layer_norm(x, [6], weight_1, bias_1),
        lambda x: gelu(x @ up) @ down,
        lambda x: layer_norm(x, [6], weight_2, bias_2),
    )


def wrong_layers(rule: Arrangement) -> Mistakes:
    """The known mistakes, by the sentence that explains them."""
    first = "the feed-forward network" if rule.feed_forward_first else "attention"
    own = rule.kind
    mistakes: Mistakes = {
        COPIED.format(number="4.3"): Arrangement("post", 1.0),
        f"The residual connection lacks its factor {rule.factor:g}.": replace(rule, factor=1.0),
        f"You multiply the update by {rule.factor:g}. Multiply the hidden states that it is added to.": (
            replace(rule, of_update=True)
        ),
        "There is no residual connection.": replace(rule, residual=False),
        "The two norms are swapped.": replace(rule, swapped=True),
        "The second sublayer is missing.": replace(rule, last=False),
    }
    for kind, name in NAMES.items():
        if kind != own:
            mistakes[f"That is {name}, and {NAMES[own]} is asked for."] = replace(rule, kind=kind)
            mistakes[f"That is {name} without a factor, and {NAMES[own]} is asked for."] = replace(
                rule, kind=kind, factor=1.0
            )
    if own != "parallel":
        other = replace(rule, feed_forward_first=not rule.feed_forward_first)
        mistakes[f"The order is wrong: {first} comes first here."] = other
        mistakes["The second addition takes the layer's input. It should take what the first half made."] = replace(
            rule, original=True
        )
    return mistakes


def arranging(draws: Draws) -> Variant:
    """An encoder layer with its norms elsewhere, a factor at the residual connection, and perhaps another order."""
    kind, factor = draws.pick(tuple(KINDS)), draws.pick((0.5, 2.0, 3.0))
    rule = Arrangement(kind, factor, feed_forward_first=draws.pick((True, False)) and kind != "parallel")
    first, second = (
        ("the feed-forward network", "attention")
        if rule.feed_forward_first
        else ("attention", "the feed-forward network")
    )

    def examine(case: Case) -> None:
        rows: list[Row] = [
            (tried, case.randn(*size), *parts(case))
            for size, tried in (((2, 5, 6), "2 texts of 5 tokens"), ((1, 1, 6), "a single token"))
        ]
        advice = "Write down what each sublayer reads, and what its output is added to."
        compare(case, rows, rule, wrong_layers(rule), advice)
        names = ("attention", "attention_norm", "feed_forward", "feed_forward_norm")
        tried, x, *functions = rows[0]
        case.gradient_flows(x, names=("x",), tried=tried, **dict(zip(names, functions, strict=True)))

    order = "" if kind == "parallel" else f" **{first.capitalize()}** comes first, then {second}."
    text = (
        "Write one encoder layer as a function, `encoder_layer(x, attention, attention_norm, feed_forward, "
        "feed_forward_norm)`, without dropout. The last four are functions from `[B, T, D]` to `[B, T, D]`: two "
        f"sublayers with their norms. {KINDS[kind]}{order} In every addition, the hidden states are multiplied by "
        f"**{factor:g}** before the update is added to them; the update itself is not multiplied. Return `[B, T, D]`."
    )
    hints = (
        "Write one line for each addition: on its left the hidden states with their factor, on its right the update.",
        "Where does the norm belong: around what the sublayer reads, around its output, or around the sum?",
    )
    exercise = Exercise("4.11", "Another encoder layer", 2, 10, hints, examine)
    signature = "def encoder_layer(x, attention, attention_norm, feed_forward, feed_forward_norm):"
    return Variant(exercise, text, signature)


MAKERS = {"4.11": arranging}
