"""Random models in PyTorch and their copies in JAX, and how far apart two results are: what the tests of JAX share."""

import jax
import numpy as np
import torch

from bertedu import BertConfig
from bertedu.jax import from_torch, to_jax

WITHOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
CONFIGS = {
    "small": BertConfig(50, 16, 2, 2, 32, max_position_embeddings=12, initializer_range=0.2),
    "one head": BertConfig(37, 24, 1, 1, 40, max_position_embeddings=9, initializer_range=0.3, layer_norm_eps=1e-2),
    "tanh": BertConfig(64, 32, 3, 4, 64, max_position_embeddings=16, initializer_range=0.1, hidden_act="gelu_new"),
    "padding is 7": BertConfig(41, 12, 1, 3, 20, max_position_embeddings=10, initializer_range=0.3, pad_token_id=7),
}


def pair(torch_class, jax_class, config):
    """A PyTorch model with random biases and scales too, without dropout, and the same in JAX."""
    torch.manual_seed(config.vocab_size)
    model = torch_class(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model, from_torch(model, jax_class)


def batch_for(config, texts=3, seed=0):
    """Texts of several lengths, two segments, some words hidden: PyTorch's tensors."""
    generator = torch.Generator().manual_seed(seed)
    shape = (texts, config.max_position_embeddings - 1)
    lengths = torch.randint(3, shape[1] + 1, (texts, 1), generator=generator)
    lengths[0] = shape[1]
    attention_mask = (torch.arange(shape[1]) < lengths).long()
    ids = torch.randint(0, config.vocab_size, shape, generator=generator).masked_fill(
        attention_mask == 0, config.pad_token_id
    )
    labelled = (torch.rand(shape, generator=generator) < 0.4) & (attention_mask == 1)
    labelled[:, 1] = True
    return {
        "input_ids": ids,
        "attention_mask": attention_mask,
        "token_type_ids": (torch.arange(shape[1]) > lengths // 2).long(),
        "labels": ids.masked_fill(~labelled, -100),
    }


def in_jax(batch) -> dict[str, jax.Array]:
    return {name: to_jax(tensor) for name, tensor in batch.items()}


def difference(one, other) -> float:
    """The largest difference of two arrays of the same shape, whichever library's."""
    one, other = (np.asarray(x.detach() if isinstance(x, torch.Tensor) else x) for x in (one, other))
    assert one.shape == other.shape, f"{one.shape} and {other.shape}"
    return float(np.abs(one - other).max())
