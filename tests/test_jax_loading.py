"""Weights from PyTorch into JAX, and what is said where they do not fit."""

import subprocess
import sys

import jax.numpy as jnp
import pytest
import torch
from flax import nnx
from support.jax_models import CONFIGS, difference, pair

import bertedu.jax as in_jax_package
from bertedu import BertConfig, BertForMaskedLM, BertModel, UserError
from bertedu.course import data_path
from bertedu.family.roberta import RobertaConfig, RobertaModel

SMALL = CONFIGS["small"]


def test_a_square_kernel_is_transposed():
    ours, theirs = pair(BertModel, in_jax_package.BertModel, SMALL)
    weight = ours.encoder.layers[1].attention.query.weight  # [D, D]: fits either way
    kernel = theirs.encoder.layers[1].attention.query.kernel[...]
    assert difference(weight.T, kernel) == 0 and difference(weight, kernel) > 0.1


def test_a_shipped_checkpoint_reads_the_same_in_jax():
    folder = data_path("checkpoints/mixed-mini")
    ours, theirs = BertForMaskedLM.from_pretrained(folder), in_jax_package.BertForMaskedLM.from_pretrained(folder)
    ids = torch.randint(5, ours.config.vocab_size, (2, 20), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, 11:] = 0
    with torch.no_grad():
        wanted = ours(ids, mask).prediction_logits
    got = theirs(*map(in_jax_package.to_jax, (ids, mask)))
    assert difference(wanted, got) < 1e-4  # logits of up to 20
    assert (wanted.argmax(-1).numpy() == got.argmax(-1)).all()


def test_a_pooler_that_is_left_untrained_is_told():
    ours, theirs = pair(BertModel, in_jax_package.BertModel, SMALL)
    tensors = ours.state_dict()
    del tensors["pooler.dense.bias"]
    with pytest.raises(UserError, match=r"lacks pooler\.dense\.bias"):
        in_jax_package.copy_weights(theirs, tensors)
    with pytest.raises(UserError, match=r"no place for extra\.weight"):
        in_jax_package.copy_weights(theirs, {**ours.state_dict(), "extra.weight": torch.zeros(1)})


def test_a_table_of_another_size_is_refused():
    _, theirs = pair(BertModel, in_jax_package.BertModel, SMALL)
    larger = BertModel(BertConfig(60, 16, 2, 2, 32, max_position_embeddings=12))
    with pytest.raises(UserError, match=r"token\.weight becomes \[60, 16\], and the JAX model has \[50, 16\]"):
        in_jax_package.copy_weights(theirs, larger.state_dict())


def test_another_member_of_the_family_is_not_taken_for_bert():
    roberta = RobertaModel(RobertaConfig(50, 16, 1, 2, 32, max_position_embeddings=12))
    with pytest.raises(UserError, match="'roberta'"):
        in_jax_package.from_torch(roberta, in_jax_package.BertModel)


def test_half_precision_becomes_full():
    ours, _ = pair(BertModel, in_jax_package.BertModel, SMALL)
    half = in_jax_package.from_torch(ours.half(), in_jax_package.BertModel)
    assert all(weight.dtype == jnp.float32 for _, weight in nnx.to_flat_state(nnx.state(half, nnx.Param)))


def test_a_copy_shares_no_memory_with_pytorch():
    tensor = torch.arange(4)
    array = in_jax_package.to_jax(tensor)
    tensor += 1
    assert array.tolist() == [0, 1, 2, 3] and array.dtype == jnp.int32
    assert in_jax_package.to_jax(torch.ones(2, dtype=torch.float64)).dtype == jnp.float32


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("missing", ["jax", "flax", "optax"])
def test_a_missing_extra_is_told_with_a_remedy(missing):
    said = run(f"import sys; sys.modules[{missing!r}] = None\nimport bertedu.jax")
    last = said.stderr.splitlines()[-1]
    assert f"UserError: {missing} is not installed: python -m pip install 'bertedu[jax]'" in last


def test_the_rest_of_the_package_does_not_need_jax():
    names = (
        "bertedu, bertedu.cli, bertedu.model, bertedu.training.loop, bertedu.pretraining.run, bertedu.finetuning.run"
    )
    said = run(f"import {names}, bertedu.course, sys\nprint({{'jax', 'flax', 'optax'}} & {{*sys.modules}})")
    assert said.stdout.strip() == "set()", said.stderr
