"""GPT: the Transformer of BERT with a causal mask. A token attends to itself and to what stands to its left.

Radford et al. 2018 (GPT-1, section 3.1) and 2019 (GPT-2, section 2.3). This is GPT-2. GPT-1 normalizes after each
addition, as BERT does, and has no last LayerNorm; GPT-2 normalizes what goes into each part (pre-norm), so that the sum
runs through all layers untouched, and once more at the end. Its matrices that write into that sum start smaller by
√(2 L). What both have and BERT has not: no segments, no LayerNorm on the embeddings, a decoder without a bias or a
layer before it. Parts of BERT do the rest.
Shapes: B batch, T tokens, D hidden size, H heads, L layers, V vocabulary.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from bertedu.config import EncoderConfig
from bertedu.errors import UserError
from bertedu.model.attention import SelfAttention, hiding_bias
from bertedu.model.bert import check_shapes
from bertedu.model.embeddings import look_up
from bertedu.model.encoder import FeedForward, run_layers
from bertedu.model.heads import IGNORED, mean_cross_entropy


@dataclass(frozen=True)
class GptConfig(EncoderConfig):
    """What a GPT is made of; the defaults are the smallest GPT-2. It has no padding of its own, and no segments."""

    model_type: ClassVar[str] = "gpt2"

    vocab_size: int = 50257
    hidden_act: str = "gelu_new"
    max_position_embeddings: int = 1024
    layer_norm_eps: float = 1e-5


@dataclass
class GptOutput:
    """Scores for the next word at each token [B, T, V], the loss when labels were given, and the hidden states."""

    logits: Tensor
    last_hidden_state: Tensor  # [B, T, D]
    hidden_states: tuple[Tensor, ...]  # L + 1 times [B, T, D], the embeddings first, the last one normalized
    attentions: tuple[Tensor, ...]  # L times [B, H, T, T] when they were asked for
    loss: Tensor | None = None


def causal_bias(length: int, attention_mask: Tensor | None, dtype: torch.dtype, device: torch.device) -> Tensor:
    """What to add to the scores so that no token attends to a later one or to padding: [1 or B, 1, T, T]."""
    hidden = torch.ones(length, length, dtype=torch.bool, device=device).triu(diagonal=1)[None, None]
    if attention_mask is not None:
        hidden = hidden | (attention_mask == 0)[:, None, None, :]
    return hiding_bias(hidden, dtype)


class GptLayer(nn.Module):
    """Normalize, attend, add; normalize, feed-forward, add: [B, T, D] to [B, T, D]."""

    def __init__(self, config: GptConfig):
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.attention = SelfAttention(config)
        self.feed_forward_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.feed_forward = FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, hidden_states: Tensor, bias: Tensor, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        mixed, weights = self.attention(self.attention_norm(hidden_states), bias, output_attentions)
        hidden_states = hidden_states + self.dropout(mixed)
        changed = self.feed_forward(self.feed_forward_norm(hidden_states))
        return hidden_states + self.dropout(changed), weights


class Gpt(nn.Module):
    """GPT-2 with its head, whose weight is the table of token embeddings."""

    def __init__(self, config: GptConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        layers = [GptLayer(config) for _ in range(config.num_hidden_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.apply(self.initialize)
        for layer in layers:  # section 2.3: together they add to the sum 2 L times
            for part in (layer.attention.output, layer.feed_forward.shrink):
                nn.init.normal_(part.weight, std=config.initializer_range / math.sqrt(2 * len(layers)))

    def initialize(self, part: nn.Module) -> None:
        """Normal with standard deviation 0.02, biases zero."""
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=self.config.initializer_range)
        if isinstance(part, nn.Linear):
            nn.init.zeros_(part.bias)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        output_attentions: bool = False,
    ) -> GptOutput:
        """input_ids, attention_mask (1 text, 0 padding): [B, T]. labels [B, T] are the input_ids once more, -100 where
        nothing is to be predicted: the shift by one position happens here, as in `transformers`.
        """
        check_shapes(input_ids, attention_mask=attention_mask, labels=labels)
        length, most = input_ids.size(1), self.config.max_position_embeddings
        if length > most:
            raise UserError(f"a text has {length} tokens and this model {most} positions: shorten it.")
        vectors = self.dropout(look_up(self.token, input_ids) + self.position.weight[:length])  # [B, T, D]
        bias = causal_bias(length, attention_mask, vectors.dtype, vectors.device)
        hidden_states, attentions = run_layers(self.layers, vectors, bias, output_attentions)
        hidden_states = (*hidden_states[:-1], self.norm(hidden_states[-1]))
        logits = linear(hidden_states[-1], self.token.weight)
        loss = None if labels is None else next_word_loss(logits, labels)
        return GptOutput(logits, hidden_states[-1], hidden_states, attentions, loss)


def next_word_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean of -log p(next word): the scores at token t are for token t + 1. [B, T, V] and [B, T]"""
    following = torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], IGNORED)], dim=1)  # nothing after the last
    return mean_cross_entropy(logits.flatten(0, 1), following.flatten())


def from_transformers(state: Mapping[str, Tensor], config: GptConfig) -> Gpt:
    """A GPT with the weights of a GPT2Model or GPT2LMHeadModel, in evaluation mode.

    They hold query, key and value in one matrix, and every matrix as [in, out]: transposed, as against nn.Linear.
    """
    theirs = {name.removeprefix("transformer."): tensor for name, tensor in state.items()}
    ours = {
        "token.weight": theirs["wte.weight"],
        "position.weight": theirs["wpe.weight"],
        "norm.weight": theirs["ln_f.weight"],
        "norm.bias": theirs["ln_f.bias"],
    }
    for n in range(config.num_hidden_layers):
        for kind in ("weight", "bias"):
            query, key, value = theirs[f"h.{n}.attn.c_attn.{kind}"].chunk(3, dim=-1)
            parts = {
                "attention.query": query,
                "attention.key": key,
                "attention.value": value,
                "attention.output": theirs[f"h.{n}.attn.c_proj.{kind}"],
                "feed_forward.expand": theirs[f"h.{n}.mlp.c_fc.{kind}"],
                "feed_forward.shrink": theirs[f"h.{n}.mlp.c_proj.{kind}"],
            }
            ours |= {
                f"layers.{n}.{name}.{kind}": tensor.T if kind == "weight" else tensor for name, tensor in parts.items()
            }
            ours[f"layers.{n}.attention_norm.{kind}"] = theirs[f"h.{n}.ln_1.{kind}"]
            ours[f"layers.{n}.feed_forward_norm.{kind}"] = theirs[f"h.{n}.ln_2.{kind}"]
    model = Gpt(config)
    model.load_state_dict(ours)
    return model.eval()
