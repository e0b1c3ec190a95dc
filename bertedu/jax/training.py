"""The loss of masked words, and one training step, compiled as a whole.

AdamW as in bertedu/training/optimization.py. Shapes: B batch, T tokens, V vocabulary.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from bertedu.errors import UserError
from bertedu.jax.embeddings import check_ids
from bertedu.jax.heads import BertForMaskedLM
from bertedu.model.heads import IGNORED


def masked_lm_loss(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """The mean of -log p(label) over the tokens that have one: [B, T, V] and [B, T] to a number.

    labels are -100 where nothing is to be predicted. Their losses are computed too, and left out of the sum, since
    shapes may not depend on numbers. Without any label the loss is nan, the mean of no numbers, as in PyTorch.
    """
    counted = labels != IGNORED
    words = jnp.where(counted, labels, 0)
    check_ids("labels", words, logits.shape[-1])
    losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(jnp.float32), words)  # [B, T]
    return jnp.where(counted, losses, 0.0).sum() / counted.sum()


def loss_of_batch(model: BertForMaskedLM, batch: Mapping[str, jax.Array], key: jax.Array | None = None) -> jax.Array:
    """The loss on a batch of input_ids, labels and, if given, attention_mask and token_type_ids, each [B, T].

    A key decides the dropout, all of it: Rngs counts its draws and folds the count into the key, so that each layer
    gets a key of its own. Without a key there is no dropout.
    """
    if "labels" not in batch:
        raise UserError(f"a batch has {', '.join(batch)}, and a loss needs labels: give the right ids, -100 elsewhere.")
    inputs = {name: array for name, array in batch.items() if name != "labels"}
    rngs = None if key is None else nnx.Rngs(dropout=key)
    return masked_lm_loss(model(**inputs, rngs=rngs), batch["labels"])


def decays(weights: Any) -> Any:
    """True for matrices, False for biases and LayerNorm: the weights that weight decay shrinks (appendix A.2)."""
    return jax.tree.map(lambda weight: weight.ndim > 1, weights)


def build_optimizer(
    model: nnx.Module,
    learning_rate: float | optax.Schedule,
    weight_decay: float = 0.01,
    betas: tuple[float, float] = (0.9, 0.999),
) -> nnx.Optimizer:
    """AdamW; epsilon 1e-6 as in Google's code (optax: 1e-8, and a weight decay of 1e-4).

    learning_rate is a number, or a function of the number of steps made so far.
    """
    b1, b2 = betas
    adamw = optax.adamw(learning_rate, b1=b1, b2=b2, eps=1e-6, weight_decay=weight_decay, mask=decays)
    return nnx.Optimizer(model, adamw, wrt=nnx.Param)


@nnx.jit
def train_step(
    model: BertForMaskedLM, optimizer: nnx.Optimizer, batch: Mapping[str, jax.Array], key: jax.Array | None = None
) -> jax.Array:
    """Loss, gradient and update for one batch (see `loss_of_batch`); returns the loss before the update.

    Give each step a key of its own, jax.random.fold_in(key, step), or none for no dropout. Compiled once for each shape
    of the batch.
    """
    loss, gradients = nnx.value_and_grad(loss_of_batch)(model, batch, key)
    optimizer.update(model, gradients)
    return loss
