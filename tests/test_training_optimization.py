"""The optimizer: what decays, and the learning rate over a run."""

import pytest
import torch
from support.tiny_run import tiny_model

from bertedu.errors import UserError
from bertedu.family.xlnet import XLNetConfig, XLNetModel
from bertedu.training.muon import Muon
from bertedu.training.optimization import (
    EMBEDDING_RATE,
    build_optimizer,
    build_optimizers,
    check_warmup,
    parameter_groups,
    rate_factor,
    set_rates,
    tokens_alone_faster,
)

MAPS = ("query", "key", "value", "output", "distance")  # of XLNet's attention


def test_no_decay_on_biases_and_layer_norm():
    model = tiny_model()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    decayed, free = ({names[id(p)] for p in group["params"]} for group in parameter_groups(model, 0.01))
    assert decayed | free == set(names.values()) and not decayed & free
    assert free == {name for name in names.values() if name.endswith(".bias") or "norm." in name}
    assert [group["weight_decay"] for group in parameter_groups(model, 0.01)] == [0.01, 0.0]


def test_frozen_weights_are_left_out():
    model = tiny_model()
    model.bert.requires_grad_(False)
    left = {id(p) for group in parameter_groups(model, 0.01) for p in group["params"]}
    assert left and not left & {id(p) for p in model.bert.parameters()}


def test_a_step_with_no_gradient_shrinks_weights_and_leaves_biases():
    """Decoupled: the weight loses rate · decay of itself, whatever the gradient."""
    linear = torch.nn.Linear(3, 2)
    weight, bias = linear.weight.detach().clone(), linear.bias.detach().clone()
    optimizer = build_optimizer(linear, learning_rate=0.1, weight_decay=0.5, betas=(0.9, 0.98))
    for parameter in linear.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert torch.allclose(linear.weight, 0.95 * weight) and torch.equal(linear.bias, bias)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_adams_epsilon_is_that_of_googles_code(optimizer):
    """A first step moves a weight by rate · g / (|g| + epsilon): half the rate where the gradient is epsilon, 1e-6.

    With torch's 1e-8 it would be 0.99 of the rate: gradients that are nothing but noise would count in full.
    """
    model = tiny_model()
    bias = model.next_sentence.bias
    before = bias.detach().clone()
    adamw, *_ = build_optimizers(optimizer, model, 0.01, 0.01, (0.9, 0.999))
    assert all(group["betas"] == (0.9, 0.999) for group in adamw.param_groups)
    bias.grad = torch.full_like(bias, 1e-6)
    adamw.step()
    assert torch.allclose(before - bias, torch.full_like(bias, 0.005), rtol=1e-3)


def test_every_weight_has_one_optimizer_and_embeddings_and_heads_are_not_muons():
    """A weight in both would take two steps, one in neither would never move."""
    model = tiny_model()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    adamw, muon = build_optimizers("muon", model, 1e-3, 0.01, (0.9, 0.98))
    of_adamw, of_muon = ([names[id(p)] for group in o.param_groups for p in group["params"]] for o in (adamw, muon))
    assert sorted(of_adamw + of_muon) == sorted(names.values())
    layers = model.config.num_hidden_layers
    assert len(of_muon) == 6 * layers and all(".encoder.layers." in name for name in of_muon)
    assert [group["weight_decay"] for group in muon.param_groups] == [0.01]


def test_a_bias_with_two_axes_does_not_decay_and_is_not_muons():
    """XLNet's are [H, d]: a bias, not a map."""
    model = XLNetModel(XLNetConfig(30, 8, 1, 2, 12))
    biases = {id(parameter) for name, parameter in model.named_parameters() if name.endswith("bias")}
    assert any(parameter.dim() == 2 for parameter in model.parameters() if id(parameter) in biases)
    for optimizer in build_optimizers("muon", model, 1e-3, 0.01, (0.9, 0.98)):
        for group in optimizer.param_groups:
            found = [id(parameter) in biases for parameter in group["params"]]
            assert not any(found) or (group["weight_decay"] == 0.0 and not isinstance(optimizer, Muon))


def test_xlnets_attention_is_muons_and_its_heads_are_evened_out_together():
    """Its matrices have an axis for the heads, [D, H, d]: a map to all heads, and one update of that map."""
    torch.manual_seed(0)
    model = XLNetModel(XLNetConfig(30, 8, 1, 2, 12))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    _, muon = build_optimizers("muon", model, 1e-3, 0.0, (0.9, 0.98))
    found = {names[id(weight)] for group in muon.param_groups for weight in group["params"]}
    attention = {name for name in names.values() if ".attention." in name and name.endswith(MAPS)}
    assert attention <= found and not [name for name in found if name.endswith(("segments", "bias"))]
    weight = next(weight for weight in model.parameters() if weight.shape == (8, 2, 4))
    before = weight.detach().clone()
    weight.grad = torch.randn(8, 2, 4)
    muon.step()
    update = (before - weight).detach().reshape(8, 8) / (1e-3 * 0.2 * 8**0.5)
    left, _, right = torch.linalg.svd(weight.grad.reshape(8, 8))
    assert torch.linalg.matrix_norm(update - left @ right) < 0.35 * torch.linalg.matrix_norm(left @ right)


def test_embeddings_alone_are_faster_and_beside_muon_alone():
    """A factor that reached a head, or AdamW without Muon, would be another optimizer than the one measured."""
    model = tiny_model()
    names = {id(parameter): name for name, parameter in model.named_parameters()}

    def scales(optimizer: str) -> dict[str, float]:
        groups = [
            group for o in build_optimizers(optimizer, model, 1e-3, 0.01, (0.9, 0.98)) for group in o.param_groups
        ]
        return {names[id(p)]: group["scale"] for group in groups for p in group["params"]}

    assert set(scales("adamw").values()) == {1.0}
    for name, scale in scales("muon").items():
        assert scale == (EMBEDDING_RATE if name.startswith("bert.embeddings.") else 1.0), name


def test_positions_and_segments_lose_the_factor_where_it_is_taken_from_them():
    model = tiny_model()
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    pace = tokens_alone_faster(model)
    groups = [group for o in build_optimizers("muon", model, 1e-3, 0.01, (0.9, 0.98), pace) for group in o.param_groups]
    for group in groups:
        for weight in group["params"]:
            name = names[id(weight)]
            assert group["scale"] == (EMBEDDING_RATE if name == "bert.embeddings.token.weight" else 1.0), name


def test_muons_step_turns_every_direction_alike():
    """Of a gradient with one strong and many weak directions, the update has all about equally strong."""
    torch.manual_seed(0)
    model = tiny_model()
    weight = model.bert.encoder.layers[0].feed_forward.expand.weight
    before = weight.detach().clone()
    rows, columns = weight.shape
    _, muon = build_optimizers("muon", model, 1e-3, 0.0, (0.9, 0.98))
    weight.grad = torch.randn(rows, columns) + 50 * torch.outer(torch.randn(rows), torch.randn(columns))
    assert torch.linalg.cond(weight.grad) > 100
    muon.step()
    update = (weight - before).detach() / (1e-3 * 0.2 * max(rows, columns) ** 0.5)  # the size of one of AdamW's
    strengths = torch.linalg.svdvals(update)
    assert strengths.min() > 0.5 and strengths.max() < 1.5


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(UserError, match="no optimizer 'sgd': choose one of adamw, muon"):
        build_optimizers("sgd", tiny_model(), 1e-3, 0.01, (0.9, 0.98))


@pytest.mark.parametrize(
    ("progress", "warmup", "factor"),
    [
        (0, 0.1, 0),
        (0.05, 0.1, 0.5),
        (0.1, 0.1, 1),
        (0.55, 0.1, 0.5),
        (1, 0.1, 0),
        (1.5, 0.1, 0),
        (0, 0, 1),
        (0.25, 0, 0.75),
    ],
)
def test_the_rate_warms_up_and_decays(progress, warmup, factor):
    assert rate_factor(progress, warmup) == pytest.approx(factor)


@pytest.mark.parametrize("warmup", [-0.1, 1, 2, float("nan")])
def test_a_warmup_that_is_no_share_is_refused(warmup):
    with pytest.raises(UserError, match=f"warmup is {warmup}"):
        check_warmup(warmup)


def test_a_weight_learns_from_its_start_on():
    """Starts lie at 0, a half and one: at a share of the run those are learned that have come."""
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(3)]
    starts = zip(weights, (0.0, 0.5, 1.0), strict=True)
    groups = [{"params": [weight], "scale": 2.0, "start": start} for weight, start in starts]
    optimizer = torch.optim.SGD(groups, lr=1.0)
    for share, right in ((0.0, [0.2, 0.0, 0.0]), (0.49, [0.2, 0.0, 0.0]), (0.5, [0.2, 0.2, 0.0]), (1.0, [0.2] * 3)):
        set_rates(optimizer, 0.1, share)
        assert [group["lr"] for group in optimizer.param_groups] == right
