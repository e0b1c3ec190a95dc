"""The model in JAX against the one in PyTorch, which equals that of `transformers`."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx
from support.jax_models import CONFIGS, batch_for, difference, in_jax, pair

import bertedu.jax as in_jax_package
from bertedu import BertForMaskedLM, BertModel, UserError
from bertedu.jax.attention import attend
from bertedu.jax.layers import layer_norm
from bertedu.model.attention import attend as attend_in_torch

SMALL = CONFIGS["small"]


@pytest.mark.parametrize("name", CONFIGS)
def test_hidden_states_attentions_and_the_pooler_are_pytorchs(name):
    ours, theirs = pair(BertModel, in_jax_package.BertModel, CONFIGS[name])
    batch = batch_for(CONFIGS[name])
    del batch["labels"]
    wanted = ours(**batch, output_attentions=True, output_hidden_states=True)
    got = jax.jit(lambda batch: theirs(**batch, output_attentions=True, output_hidden_states=True))(in_jax(batch))
    assert len(got.hidden_states) == len(wanted.hidden_states) and len(got.attentions) == len(wanted.attentions)
    for part in ("hidden_states", "attentions"):
        for layer, (one, other) in enumerate(zip(getattr(wanted, part), getattr(got, part), strict=True)):
            assert difference(one, other) < 1e-5, f"{part} {layer}"
    assert difference(wanted.last_hidden_state, got.last_hidden_state) < 1e-5
    assert difference(wanted.pooler_output, got.pooler_output) < 1e-5


@pytest.mark.parametrize("name", CONFIGS)
def test_scores_of_words_are_pytorchs(name):
    ours, theirs = pair(BertForMaskedLM, in_jax_package.BertForMaskedLM, CONFIGS[name])
    batch = batch_for(CONFIGS[name], texts=2, seed=1)
    del batch["labels"]
    assert difference(ours(**batch).prediction_logits, jax.jit(lambda b: theirs(**b))(in_jax(batch))) < 1e-5


def test_padding_changes_no_text_and_a_text_of_padding_is_a_number():
    ours, theirs = pair(BertModel, in_jax_package.BertModel, SMALL)
    ids = torch.tensor([[5, 6, 7, 0, 0], [0, 0, 0, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0]])
    got = theirs(*map(in_jax_package.to_jax, (ids, mask))).last_hidden_state
    assert difference(ours(ids, mask).last_hidden_state, got) < 1e-5 and jnp.isfinite(got).all()
    alone = theirs(in_jax_package.to_jax(ids[:1, :3])).last_hidden_state
    assert difference(alone, got[:1, :3]) < 1e-5


def test_segments_left_out_are_zeros():
    _, theirs = pair(BertModel, in_jax_package.BertModel, SMALL)
    ids = jnp.array([[5, 6, 7]])
    left_out, zeros = theirs(ids), theirs(ids, jnp.ones_like(ids), jnp.zeros_like(ids))
    assert difference(left_out.last_hidden_state, zeros.last_hidden_state) < 1e-6
    assert left_out.hidden_states is None and left_out.attentions is None


def test_attention_of_one_head_needs_no_batch():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(2, 3, 5, 4, generator=generator) for _ in range(3))
    wanted = attend_in_torch(query, key, value)
    mapped = jax.vmap(jax.vmap(attend))(*map(in_jax_package.to_jax, (query, key, value)))
    for one, other in zip(wanted, mapped, strict=True):
        assert difference(one, other) < 1e-6


def test_layer_norm_keeps_its_digits_where_the_mean_is_large():
    x = 1000 + np.random.default_rng(0).normal(size=(4, SMALL.hidden_size)).astype(np.float32)
    norm = layer_norm(SMALL, nnx.Rngs(0))
    wanted = torch.nn.functional.layer_norm(torch.tensor(x), (SMALL.hidden_size,), eps=SMALL.layer_norm_eps)
    assert difference(wanted, norm(jnp.array(x))) < 1e-3
    assert difference(wanted, nnx.LayerNorm(SMALL.hidden_size, rngs=nnx.Rngs(0))(jnp.array(x))) > 1e-2


def test_weights_start_as_published():
    config = replace(SMALL, vocab_size=3000, hidden_size=64, initializer_range=0.02)
    model = in_jax_package.BertForMaskedLM(config, rngs=nnx.Rngs(0))
    for path, weight in nnx.to_flat_state(nnx.state(model, nnx.Param)):
        if path[-1] == "scale":
            assert (weight[...] == 1).all(), path
        elif path[-1] == "bias":
            assert (weight[...] == 0).all(), path
        else:
            assert jnp.abs(weight[...]).max() <= 2 * 0.02, path
    table = model.encoder.embeddings.token.embedding[...]
    assert float(table.std()) == pytest.approx(0.8796 * 0.02, rel=0.02)
    assert (table[0] == 0).all() and (table[1:] != 0).any(axis=1).all()
    again = in_jax_package.BertForMaskedLM(config, rngs=nnx.Rngs(0)).encoder.embeddings.token.embedding[...]
    other = in_jax_package.BertForMaskedLM(config, rngs=nnx.Rngs(1)).encoder.embeddings.token.embedding[...]
    assert (table == again).all() and not (table == other).all()


def test_dropout_differs_in_each_layer_and_needs_a_key():
    config = replace(SMALL, hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5)
    _, model = pair(BertModel, in_jax_package.BertModel, config)
    ids = jnp.arange(1, 9)[None]
    run = jax.jit(lambda key: model(ids, rngs=nnx.Rngs(dropout=key), output_attentions=True).attentions)
    first, second = (weights == 0 for weights in run(jax.random.key(0)))
    assert 0.3 < first.mean() < 0.7 and not (first == second).all()
    assert all((one == other).all() for one, other in zip(run(jax.random.key(0)), run(jax.random.key(0)), strict=True))
    assert not (run(jax.random.key(0))[0] == run(jax.random.key(1))[0]).all()
    without = jax.jit(lambda: model(ids).last_hidden_state)
    assert (without() == without()).all() and not (model(ids, output_attentions=True).attentions[0] == 0).any()


def test_dropout_keeps_the_size_of_what_passes():
    config = replace(SMALL, hidden_dropout_prob=0.25)
    norm_only = in_jax_package.BertModel(config, rngs=nnx.Rngs(0)).embeddings
    ids = jnp.ones((40, 12), dtype=jnp.int32)
    dropped, kept = norm_only(ids, rngs=nnx.Rngs(dropout=1)), norm_only(ids)
    assert float((dropped == 0).mean()) == pytest.approx(0.25, abs=0.02)
    assert difference(dropped, jnp.where(dropped == 0, 0, kept / 0.75)) < 1e-5


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"input_ids": jnp.array([5, 6])}, r"input_ids\[None\]"),
        ({"input_ids": jnp.zeros((2, 0), dtype=jnp.int32)}, "at least one token"),
        ({"input_ids": jnp.zeros((1, 13), dtype=jnp.int32)}, "13 tokens and this model 12 positions"),
        ({"input_ids": jnp.array([[5, 50]])}, "input_ids hold 50, and this model knows 0 to 49"),
        ({"input_ids": jnp.array([[5, -1]])}, "input_ids hold -1"),
        ({"input_ids": jnp.array([[5]]), "token_type_ids": jnp.array([[2]])}, "token_type_ids hold 2"),
        ({"input_ids": jnp.array([[5, 6]]), "attention_mask": jnp.array([[1]])}, "attention_mask has the shape"),
    ],
)
def test_a_wrong_input_is_refused(inputs, words):
    model = in_jax_package.BertModel(SMALL, rngs=nnx.Rngs(0))
    with pytest.raises(UserError, match=words):
        model(**inputs)


def test_a_wrong_shape_is_found_inside_of_jit():
    model = in_jax_package.BertModel(SMALL, rngs=nnx.Rngs(0))
    with pytest.raises(UserError, match="13 tokens"):
        jax.jit(lambda ids: model(ids).last_hidden_state)(jnp.zeros((1, 13), dtype=jnp.int32))
    beyond = jax.jit(lambda ids: model(ids).last_hidden_state)(jnp.array([[5, 50]]))
    assert jnp.isnan(beyond).any()  # jit cannot look at numbers; at least nothing plausible comes out
