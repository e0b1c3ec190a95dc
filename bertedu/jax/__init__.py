"""The same BERT in JAX: Flax (NNX) modules, a loader for PyTorch's weights, and a train step with optax.

Written in chapter 24. Files, classes and attributes are called as in bertedu/model, so that the two can be read side
by side. What differs is what JAX is about: functions without hidden state, random keys that are handed in, shapes that
are fixed. Needs the extra `jax`.
"""

from bertedu.extras import needs_extra

with needs_extra("jax"):
    import flax  # noqa: F401
    import jax  # noqa: F401
    import optax  # noqa: F401

from bertedu.jax.bert import BertModel, BertOutput
from bertedu.jax.heads import BertForMaskedLM
from bertedu.jax.loading import copy_weights, from_torch, to_jax
from bertedu.jax.masking import mask_tokens
from bertedu.jax.training import build_optimizer, masked_lm_loss, train_step

__all__ = [
    "BertForMaskedLM",
    "BertModel",
    "BertOutput",
    "build_optimizer",
    "copy_weights",
    "from_torch",
    "mask_tokens",
    "masked_lm_loss",
    "to_jax",
    "train_step",
]
