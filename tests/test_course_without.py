"""What an answer may not use is seen under every name; what the package uses for the answer does not count."""

import functools
import re
import sys

import pytest
import torch
from support.proofs import PROOFS, all_of_them, verdict_of
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import CheckpointFunction, checkpoint

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.checking import check, examine
from bertedu.course.exercise import Exercise
from bertedu.course.without import Watch
from bertedu.model.encoder import Encoder, EncoderLayer

CONFIG = BertConfig(20, 8, 1, 2, 12, max_position_embeddings=8)
alias = functional.layer_norm


class OwnNorm(nn.LayerNorm):
    """A module of the learner's that adds nothing."""


def last(x):
    return x.shape[-1:]


LAYER_NORMS = {
    "functional": lambda x, w, b, eps: functional.layer_norm(x, last(x), w, b, eps),
    "alias": lambda x, w, b, eps: alias(x, last(x), w, b, eps),
    "torch": lambda x, w, b, eps: torch.layer_norm(x, last(x), w, b, eps),
    "native": lambda x, w, b, eps: torch.native_layer_norm(x, last(x), w, b, eps)[0],
    "getattr": lambda x, w, b, eps: getattr(functional, "layer" + "_norm")(x, last(x), w, b, eps),
    "partial": lambda x, w, b, eps: functools.partial(torch.layer_norm, weight=w, bias=b, eps=eps)(x, last(x)),
    "map": lambda x, w, b, eps: next(map(torch.layer_norm, [x], [last(x)], [w], [b], [eps])),
    "ops": lambda x, w, b, eps: torch.ops.aten.layer_norm(x, last(x), w, b, eps),
    "overload": lambda x, w, b, eps: torch.ops.aten.native_layer_norm.default(x, last(x), w, b, eps)[0],
    "module": lambda x, w, b, eps: nn.LayerNorm(last(x), eps, elementwise_affine=False)(x) * w + b,
    "subclass": lambda x, w, b, eps: OwnNorm(last(x), eps, elementwise_affine=False)(x) * w + b,
    "vmap": lambda x, w, b, eps: torch.vmap(lambda y: functional.layer_norm(y, last(y), w, b, eps))(x),
    "group norm": lambda x, w, b, eps: functional.group_norm(x.flatten(0, 1), 1, eps=eps).view(x.shape) * w + b,
    "RMS norm": lambda x, w, b, eps: functional.rms_norm(x - x.mean(-1, keepdim=True), last(x), eps=eps) * w + b,
}


@pytest.fixture(autouse=True)
def no_ticks(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")


@pytest.mark.parametrize("form", LAYER_NORMS)
def test_torchs_own_is_noticed_in_every_form(form):
    verdict = check("2.3", LAYER_NORMS[form])
    assert verdict.status == "not yet" and "asks you to write yourself" in repr(verdict), verdict


def swallows(x, weight, bias, eps):
    try:
        return functional.layer_norm(x, last(x), weight, bias, eps)
    except BaseException:
        return x


def raises(x, weight, bias, eps):
    functional.layer_norm(x, last(x), weight, bias, eps)
    raise ValueError("afterwards")


@pytest.mark.parametrize("answer", [swallows, raises])
def test_an_exception_does_not_hide_what_was_used(answer):
    assert "uses `layer_norm`" in repr(check("2.3", answer))


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / ((centred**2).mean(dim=-1, keepdim=True) + eps).sqrt() * weight + bias


def test_a_function_of_the_learners_with_torchs_name_is_accepted():
    assert check("2.3", layer_norm).passed
    assert check("2.3", lambda x, weight, bias, eps: layer_norm(x, weight, bias, eps)).passed


def watched(without, work):
    with Watch(without) as watch:
        work()
    return watch.used


def test_what_the_package_uses_is_not_held_against_the_answer():
    x, layer = torch.randn(1, 3, 8), EncoderLayer(CONFIG).eval()
    without = ("scaled_dot_product", "softmax", "layer_norm")
    assert not watched(without, lambda: layer(x))
    assert watched(without, lambda: functional.scaled_dot_product_attention(x, x, x))
    assert watched(without, lambda: nn.MultiheadAttention(8, 2)(x, x, x)), "inside a function of torch"


class Mine(Encoder):
    def forward(self, *inputs):
        return super().forward(*inputs)


def test_a_subclass_of_the_packages_is_not_the_learners():
    assert watched(("Encoder",), lambda: Mine(CONFIG)) == "the package's `Encoder`"
    assert not watched(("Encoder",), lambda: EncoderLayer(CONFIG)), "another class whose name begins alike"


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, layer: checkpoint(layer, x, use_reentrant=False),
        lambda x, layer: torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=True),
        lambda x, layer: CheckpointFunction.apply(layer, True, x),
    ],
)
def test_a_module_of_torch_is_noticed_by_every_door(answer):
    assert "uses `torch.utils.checkpoint`" in repr(check("22.5", answer))


def test_a_profiler_of_the_notebook_is_put_back():
    def profiler(*_):
        pass

    sys.setprofile(profiler)
    try:
        watched(("softmax",), lambda: torch.ones(2).softmax(0))
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert check("2.3", layer_norm).passed and sys.getprofile() is None


FORBIDDING = [exercise.number for exercise in all_of_them() if exercise.without]


@pytest.mark.parametrize("number", FORBIDDING)
def test_an_answer_may_not_use_what_the_exercise_forbids(number):
    """One of the proven mistakes of each such exercise, or an answer here, hears it."""
    known = [answer for answer, phrase in PROOFS[number]["wrong"] if re.search(r"uses (the )?(\w+'s )?`", phrase)]
    answers = [*known, *OTHERS.get(number, [])]
    assert answers, f"{number}: prove with an answer that it sees what may not be used"
    for answer in answers:
        assert "asks you to write yourself" in repr(verdict_of(number, answer))


def of_the_package(module, name):
    """An answer that only calls the package's function."""

    def answer(*inputs, **named):
        from importlib import import_module

        return getattr(import_module(f"bertedu.{module}"), name)(*inputs, **named)

    return answer


def optax_step(loss, weights, velocity, batch, learning_rate):
    import jax
    import optax

    before, gradients = jax.value_and_grad(loss)(weights, batch)
    updates, _ = optax.sgd(learning_rate).update(gradients, optax.sgd(learning_rate).init(weights))
    return optax.apply_updates(weights, updates), velocity, before


def jax_attention(query, key, value, mask):
    import jax

    query, key, value = (one.swapaxes(1, 2) for one in (query, key, value))
    return jax.nn.dot_product_attention(query, key, value, mask=mask[:, None, None, :]).swapaxes(1, 2)


def masked_by_torch(scores, keep):
    return torch.masked.softmax(scores, -1, mask=keep.expand_as(scores))


def with_a_hook(model, layer, head):
    from bertedu.interpretation.heads import without_heads

    with without_heads(model, [(layer, head)]):
        return model


def rotated_by_the_package(vectors, positions, theta):
    from bertedu.family.modernbert.rope import rotation

    return rotation(positions, vectors.size(-1), theta)


OTHERS = {
    "1.2": [of_the_package("tokenization.wordpiece", "split_word")],
    "3.4": [masked_by_torch],
    "3.5": [of_the_package("model.attention", "padding_bias")],
    "9.2": [of_the_package("interpretation.rollout", "attention_rollout")],
    "9.3": [with_a_hook],
    "9.4": [of_the_package("interpretation.probing", "control_labels")],
    "11.2": [of_the_package("finetuning.spans", "tag_spans")],
    "14.3": [of_the_package("before.fasttext", "pieces")],
    "15.2": [of_the_package("tokenization.byte_pair", "merge_word")],
    "15.3": [of_the_package("pretraining.span_masking", "spans_of_row")],
    "16.4": [of_the_package("family.distilbert", "copied_layers")],
    "19.1": [rotated_by_the_package],
    "21.1": [of_the_package("family.comparison", "welch_test")],
    "21.3": [of_the_package("family.comparison", "bits_per_character")],
    "21.5": [of_the_package("family.comparison", "fair_comparison")],
    "24.2": [jax_attention],
    "24.3": [optax_step],
}


def test_an_answer_to_a_class_is_watched_only_while_it_is_made():
    def look(case: Case) -> None:
        made = case.call(tried="nothing")
        case.call(torch.randn(2, 4), tried="a matrix", function=made)

    class Later(nn.Module):
        def forward(self, x):
            return functional.layer_norm(x, last(x))

    toy = Exercise("98.5", "A class", 1, 5, ("a", "b"), look, "class", without=("layer_norm",))
    assert "uses `layer_norm`" in repr(examine(toy, Later))
