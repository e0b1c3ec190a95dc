"""Variant 4.12: a stack of layers with dropout, in a program with two bugs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertedu.chapters.ch04_transformer_encoder.variants.layer import parts
from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import agree
from bertedu.course.variant import Draws, Variant

PROGRAM = """\
import torch


def drop(x, p, training):  # p: the probability that a number is {kept}
    kept = torch.rand({shape}) {sign} p
    return {result}


def run_layers(x, layers, p, training):  # x: [B, T, D]
    states = {states}
    for attention, attention_norm, feed_forward, feed_forward_norm in layers:
        {first}
        {second}
        {store}
    return states"""
IN_DROP = ("unscaled", "inverse", "share", "always", "shared")
IN_LAYERS = {  # what is said to somebody who leaves the bug
    "residual": "The second addition takes the layer's input. It should take what the first addition made.",
    "reads": "The feed-forward network reads the layer's input. It should read what the first addition made.",
    "norm": "The attention's norm is used twice. The feed-forward network has its own.",
    "in place": "A state that is already stored changes: += writes into it, and into the caller's x.",
    "input": "The input is missing among the states.",
}


@dataclass(frozen=True)
class Stack:
    """The program: what it should do, and which bugs are in it."""

    pre_norm: bool
    p_keeps: bool
    newest_first: bool
    in_drop: str = ""
    in_layers: str = ""

    def program(self) -> str:
        """The program as Python."""
        first, second = self.halves()
        share, rest = ("p", "(1 - p)") if self.p_keeps else ("(1 - p)", "p")
        scale = {"unscaled": "", "inverse": f" / {rest}"}.get(self.in_drop, f" / {share}")
        return PROGRAM.format(
            kept="kept" if self.p_keeps else "dropped",
            shape="x.shape[-1]" if self.in_drop == "shared" else "x.shape",
            sign="<" if self.p_keeps != (self.in_drop == "share") else ">=",
            result=f"x * kept{scale}" + ("" if self.in_drop == "always" else " if training else x"),
            states="[]" if self.in_layers == "input" else "[x]",
            first=first,
            second=second,
            store="states.insert(0, x)" if self.newest_first else "states.append(x)",
        )

    def halves(self) -> tuple[str, str]:
        """The lines of attention and of the feed-forward network."""
        before = "states[0]" if self.newest_first else "states[-1]"
        base = before if self.in_layers == "residual" else "x"
        read = before if self.in_layers == "reads" else "x"
        norm = "attention_norm" if self.in_layers == "norm" else "feed_forward_norm"
        in_place = self.in_layers == "in place"
        if self.pre_norm:
            update = "drop(attention(attention_norm(x)), p, training)"
            first = f"x += {update}" if in_place else f"x = x + {update}"
            return first, f"x = {base} + drop(feed_forward({norm}({read})), p, training)"
        update = "drop(attention(x), p, training)"
        first = f"x += {update}\n        x = attention_norm(x)" if in_place else f"x = attention_norm(x + {update})"
        return first, f"x = {norm}({base} + drop(feed_forward({read}), p, training))"

    def run(self, x: Tensor, layers: list) -> tuple:
        """The states that the program returns after training."""
        names: dict = {}
        exec(self.program(), names)
        return tuple(names["run_layers"](x.clone(), layers, 0.25, training=False))


def examine_states(case: Case, rule: Stack, given: Stack) -> None:
    """The states while nothing is dropped: the order, the number and the layers."""
    x, layers = case.randn(2, 4, 6), [parts(case) for _ in range(3)]
    tried = "3 layers with training=False"
    got = case.call(x, layers, 0.25, False, tried=tried)
    case.is_a("the result", got, list | tuple, "a list of hidden states")
    if agree(got, rule.run(x, layers)):
        return
    if agree(got, given.run(x, layers)):
        case.fail("But that is what the program gives as it was.", IN_LAYERS[given.in_layers])
    for bug, sentence in IN_LAYERS.items():
        if agree(got, replace(rule, in_layers=bug).run(x, layers)):
            case.fail("But the states are wrong.", sentence)
    if agree(got, rule.run(x, layers)[::-1]):
        wanted = "the last layer's first" if rule.newest_first else "the input first"
        case.fail(f"But the states come in the wrong order: {wanted}.")
    if agree(got, replace(rule, pre_norm=not rule.pre_norm).run(x, layers)):
        case.fail(f"But the layers should be {'pre' if rule.pre_norm else 'post'}-norm.")
    if len(got) == 4 and not agree(case.call(x, layers, 0.25, False, tried=tried), got):
        case.fail("But a second call gives other states: something is dropped though training is False.")
    case.expect(len(got) == 4, f"But {len(got)} states came back. Three layers have 4: the input is one of them.")
    for place, (one, wanted) in enumerate(zip(got, rule.run(x, layers), strict=True)):
        case.close(f"states[{place}]", one, wanted, "Nothing is dropped here. Check the layers themselves.")


def examine_drops(case: Case, rule: Stack, p: float, sublayer: str) -> None:
    """What becomes of an update of ones in training: 0 or 1 / (the probability that it is kept)."""
    ones, zeros = torch.ones_like, torch.zeros_like
    layer = (ones if sublayer == "attention" else zeros, same, zeros if sublayer == "attention" else ones, same)
    x = torch.full((20, 30, 40), 10.0)
    tried = f"{sublayer} that returns only ones, in training with p = {p:g}"
    got = case.call(x, [layer], p, True, tried=tried)
    case.is_a("the result", got, list | tuple, "a list of hidden states")
    case.expect(len(got) == 2, f"But {len(got)} states came back for one layer, and there are 2.")
    case.same_shape("the last state", got[0 if rule.newest_first else 1], x)
    update = got[0 if rule.newest_first else 1].detach() - 10
    keeps = p if rule.p_keeps else 1 - p
    values = sorted({round(value, 2) for value in update.unique().tolist()})
    if values == [1.0]:
        case.fail("But nothing is dropped in training.")
    if values == [0.0, 1.0]:
        case.fail(f"But what is kept is not scaled: divide it by {keeps:g}, the probability that a number is kept.")
    if values == [0.0, round(1 / (1 - keeps), 2)]:
        case.fail(f"But the ones became 0 or {values[1]:g}. Divide by the probability that a number is kept.")
    expected = [0.0, round(1 / keeps, 2)]
    case.expect(values == expected, f"But the ones became {said(values)}, and should become 0 or {expected[1]:g}.")
    share = float((update > 0.5).float().mean())
    meaning = "kept" if rule.p_keeps else "dropped"
    if torch.equal(update, update[:1, :1].expand_as(update)):
        case.fail("But every token loses the same numbers. Draw for each number of each token.")
    case.expect(
        abs(share - keeps) < 0.03, f"But {share:.0%} of the numbers are kept. p is the probability of being {meaning}."
    )


def same(x: Tensor) -> Tensor:
    """A norm that changes nothing."""
    return x


def said(values: list[float]) -> str:
    """At most four numbers."""
    return ", ".join(f"{value:g}" for value in values[:4]) + (", …" if len(values) > 4 else "")


def repairing(draws: Draws) -> Variant:
    """A stack with dropout, by drawn conventions, with a bug in each of its two functions."""
    flags = (True, False)
    rule = Stack(draws.pick(flags), draws.pick(flags), draws.pick(flags))
    given = replace(rule, in_drop=draws.pick(IN_DROP), in_layers=draws.pick(tuple(IN_LAYERS)))

    def examine(case: Case) -> None:
        examine_states(case, rule, given)
        for p in (0.25, 0.4):
            for sublayer in ("attention", "feed-forward"):
                examine_drops(case, rule, p, sublayer)

    order = "the last layer's state first, the input last" if rule.newest_first else "the input first"
    norms = (
        "**pre-norm**: the norm stands before the sublayer, and there is none at the end"
        if rule.pre_norm
        else "**post-norm**: the norm stands after the addition"
    )
    text = (
        "The program above should run a list of encoder layers and return all L + 1 hidden states, "
        f"**{order}**. The layers are {norms}. While `training` is true, dropout acts on each sublayer's output before "
        f"it is added: `p` is the probability that a number is **{'kept' if rule.p_keeps else 'dropped'}**, and the "
        "expected value of each number stays what it was. The program has **two bugs**, one in each function. Write it "
        "again, repaired, as `run_layers_repaired(x, layers, p, training)`, with a `drop` of its own. `x` must not "
        "change."
    )
    hints = (
        "Try drop alone, on a tensor of ones, with training true and false. What should come, and what does?",
        "In run_layers, follow one layer with a pencil: what does each line read, and what does it add?",
    )
    exercise = Exercise("4.12", "Two bugs in a stack", 3, 15, hints, examine)
    return Variant(exercise, text, "def run_layers_repaired(x, layers, p, training):", given.program())


MAKERS: dict[str, Callable[[Draws], Variant]] = {"4.12": repairing}
