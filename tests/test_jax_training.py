"""Loss, gradients, training steps and masks in JAX against those in PyTorch."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx
from support.jax_models import CONFIGS, WITHOUT, batch_for, difference, in_jax, pair

import bertedu.jax as in_jax_package
from bertedu import BertForMaskedLM, UserError
from bertedu.jax.loading import torch_name
from bertedu.jax.masking import draw
from bertedu.jax.training import loss_of_batch
from bertedu.pretraining.masking import Draws, apply_masks
from bertedu.training.optimization import build_optimizer

SMALL = replace(CONFIGS["small"], **WITHOUT)


def compare_weights(weights, model, within, skipped=()):
    """Hold every array of a tree like the model's weights against the PyTorch tensor that `model` has for its name."""
    for path, array in nnx.to_flat_state(weights):
        name = torch_name(path)
        if not name.endswith(skipped):
            found = np.asarray(array[...])
            gap = difference(model[name], found.T if path[-1] == "kernel" else found)
            assert gap < within, f"{name}: {gap}"


@pytest.mark.parametrize("name", CONFIGS)
def test_the_loss_and_its_gradients_are_pytorchs(name):
    ours, theirs = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, CONFIGS[name])
    batch = batch_for(CONFIGS[name], texts=4)
    wanted = ours(**batch).loss
    wanted.backward()
    loss, gradients = nnx.jit(nnx.value_and_grad(loss_of_batch))(theirs, in_jax(batch))
    assert difference(wanted, loss) < 1e-5
    compare_weights(gradients, {name: weight.grad for name, weight in ours.named_parameters()}, 1e-5)


def test_padding_gets_no_gradient():
    ours, theirs = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, SMALL)
    ids = torch.tensor([[5, 0, 7, 0]])  # no mask: the vectors of padding do take part
    labels = torch.tensor([[-100, -100, 9, -100]])
    ours(ids, labels=labels).loss.backward()
    batch = in_jax({"input_ids": ids, "labels": labels})
    gradients = nnx.jit(nnx.grad(loss_of_batch))(theirs, batch)
    wanted = ours.encoder.embeddings.token.weight.grad
    assert difference(wanted, gradients["encoder"]["embeddings"]["token"]["embedding"][...]) < 1e-5
    assert wanted[0].abs().max() > 0  # from the tied decoder alone


def test_steps_of_adamw_are_pytorchs():
    ours, theirs = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, SMALL)
    one = build_optimizer(ours, 1e-3, 0.1, (0.9, 0.98))
    other = in_jax_package.build_optimizer(theirs, 1e-3, weight_decay=0.1, betas=(0.9, 0.98))
    for step in range(6):
        batch = batch_for(SMALL, texts=4, seed=step)
        wanted = ours(**batch).loss
        one.zero_grad()
        wanted.backward()
        one.step()
        assert difference(wanted, in_jax_package.train_step(theirs, other, in_jax(batch))) < 1e-4, step
    # A key's bias shifts all scores of a query alike: its true gradient is 0, and Adam scales up rounding errors.
    compare_weights(nnx.state(theirs, nnx.Param), ours.state_dict(), 1e-4, skipped=("key.bias",))


def test_a_learning_rate_that_changes_is_followed():
    _, model = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, SMALL)
    optimizer = in_jax_package.build_optimizer(model, lambda step: jnp.where(step == 0, 0.0, 1e-3))
    before = nnx.state(model, nnx.Param)
    batch = in_jax(batch_for(SMALL))
    first = in_jax_package.train_step(model, optimizer, batch)
    still = jax.tree.map(lambda one, two: bool((one == two).all()), before, nnx.state(model, nnx.Param))
    assert all(jax.tree.leaves(still))
    again = in_jax_package.train_step(model, optimizer, batch)
    assert float(first) == float(again) and float(in_jax_package.train_step(model, optimizer, batch)) < float(first)


def test_a_step_is_compiled_once_and_uses_its_key():
    config = replace(SMALL, hidden_dropout_prob=0.5)
    _, model = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, config)
    optimizer = in_jax_package.build_optimizer(model, 0.0)  # the weights stay
    compiled = in_jax_package.train_step.jitted_fn._cache_size()
    keys = [jax.random.fold_in(jax.random.key(0), step) for step in (0, 0, 1)]
    batches = [in_jax(batch_for(config, seed=3)) for _ in range(3)]
    losses = [
        float(in_jax_package.train_step(model, optimizer, batch, key)) for batch, key in zip(batches, keys, strict=True)
    ]
    assert losses[0] == losses[1] != losses[2]
    assert in_jax_package.train_step.jitted_fn._cache_size() == compiled + 1


def test_the_mean_of_the_loss_counts_only_tokens_with_a_label():
    logits = torch.randn(3, 5, 11, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([[1, -100, 4, -100, -100], [-100] * 5, [10, 0, -100, -100, 3]])
    wanted = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    got = in_jax_package.masked_lm_loss(*map(in_jax_package.to_jax, (logits, labels)))
    assert difference(wanted, got) < 1e-6
    nothing = jnp.full((3, 5), -100)
    assert jnp.isnan(in_jax_package.masked_lm_loss(in_jax_package.to_jax(logits), nothing))


def test_a_batch_without_labels_or_with_a_label_beyond_the_words_is_refused():
    _, model = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, SMALL)
    batch = in_jax(batch_for(SMALL))
    with pytest.raises(UserError, match="a loss needs labels"):
        loss_of_batch(model, {"input_ids": batch["input_ids"]})
    with pytest.raises(UserError, match="labels hold 50"):
        loss_of_batch(model, {**batch, "labels": batch["labels"].at[0, 0].set(50)})


@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_masks_are_those_of_pytorch_with_the_same_random_numbers(rate):
    key = jax.random.key(3)
    ids = torch.randint(5, 60, (6, 190), generator=torch.Generator().manual_seed(0))
    candidates = torch.arange(190) < torch.tensor([190, 187, 60, 13, 1, 0])[:, None]
    draws = Draws(*(torch.tensor(np.asarray(part)) for part in draw(key, (6, 190), 60)))
    wanted = apply_masks(ids, candidates, rate, 4, draws)
    got = in_jax_package.mask_tokens(key, *map(in_jax_package.to_jax, (ids, candidates)), rate, 4, 60)
    for one, other in zip(wanted, got, strict=True):
        assert difference(one, other) == 0
    assert (wanted[1] != -100).sum() > 20


def test_one_key_decides_order_and_fate_independently():
    shape = (200, 50)
    order, fate, words = draw(jax.random.key(0), shape, 100)
    for one, other in ((order, fate), (order, words), (fate, words)):
        assert abs(np.corrcoef(np.ravel(one), np.ravel(other))[0, 1]) < 0.05
