"""The encoder: two streams through the same layers.

Yang et al. 2019, section 2.3 and figure 1. Shapes: B batch, T tokens, M predicted tokens, D hidden size, H heads,
L layers.
"""

import re
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertedu.errors import UserError
from bertedu.family.xlnet.attention import RelativeAttention, relative_sinusoids
from bertedu.family.xlnet.config import XLNetConfig
from bertedu.model.architecture import EncoderOutput
from bertedu.model.attention import hiding_bias
from bertedu.model.bert import check_shapes
from bertedu.model.embeddings import look_up
from bertedu.model.encoder import EncoderLayer, FeedForward
from bertedu.model.initialization import initialize_as_published
from bertedu.model.pretrained import PretrainedModel

LAYER = re.compile(r"layers\.(\d+)\.")


class Seen(NamedTuple):
    """What all layers are told about a batch: the sinusoids of the distances [2T, D]; which keys are in another segment
    than the query [B, T, T], None without segments; and what to add to the scores of the two streams so that nothing
    sees what it may not, [B, 1, T, T] each, None for nothing.
    """

    sinusoids: Tensor
    different: Tensor | None
    by_content: Tensor | None
    by_queries: Tensor | None


class XLNetFeedForward(FeedForward):
    """BERT's, with dropout after the activation, too."""

    def __init__(self, config: XLNetConfig):
        super().__init__(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.shrink(self.dropout(self.activation(self.expand(hidden_states))))


class XLNetLayer(EncoderLayer):
    """BERT's layer with relative attention, for one stream or two."""

    attention: RelativeAttention  # type: ignore[assignment]

    def __init__(self, config: XLNetConfig):
        super().__init__(config)
        self.attention = RelativeAttention(config)
        self.feed_forward = XLNetFeedForward(config)

    def forward(  # type: ignore[override]
        self, content: Tensor, queries: Tensor | None, seen: Seen, target_mapping: Tensor | None
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """The new vectors of the content stream [B, T, D] and of the query stream [B, M, D], where there is one, and
        the content stream's attention weights [B, H, T, T].

        Keys and values are those of the content stream for both: a token that is predicted looks for words.
        """
        keys = self.attention.keys(content, seen.sinusoids)
        if queries is not None:
            mixed, _ = self.attention(queries, keys, seen.different, seen.by_queries, target_mapping)
            queries = self.after_attention(queries, mixed)
        mixed, weights = self.attention(content, keys, seen.different, seen.by_content)
        return self.after_attention(content, mixed), queries, weights


class XLNetModel(PretrainedModel):
    """XLNet without a head. It has no pooler, whatever add_pooling_layer says: see `SequenceSummary`."""

    def __init__(self, config: XLNetConfig, add_pooling_layer: bool = True):
        super().__init__(config)
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.mask_embedding = nn.Parameter(torch.empty(1, 1, config.hidden_size))  # where the query stream starts
        self.layers = nn.ModuleList(XLNetLayer(config) for _ in range(config.num_hidden_layers))
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.initialize()

    @torch.no_grad()
    def initialize(self) -> None:
        """As `initialize` below; the vector of the query stream is normal, too."""
        super().initialize()
        nn.init.normal_(self.mask_embedding, std=self.config.initializer_range)

    def depth(self, name: str) -> int:
        """How deep a weight lies: 0 embeddings, 1 to L the layers."""
        return 1 + int(match[1]) if (match := LAYER.match(name)) else 0

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
        perm_mask: Tensor | None = None,
        target_mapping: Tensor | None = None,
    ) -> EncoderOutput:
        """perm_mask [B, T, T]: 1 where token i may not see token j. target_mapping [B, M, T]: row m has a 1 at the
        position that is predicted m-th. With it, last_hidden_state is the query stream's, [B, M, D]; hidden_states and
        attentions are always the content stream's.

        Let every predicted token see at least one other: where all is hidden the weights are equal, and the token
        sees all (in `transformers` and the authors' code, too). Segments are only compared, so any numbers will do:
        the tokenizer gives 0 and 1 to the texts and 2 to [CLS].
        """
        check_shapes(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        check_order(input_ids, perm_mask, target_mapping)
        content = self.dropout(look_up(self.token_embeddings, input_ids))  # [B, T, D]
        seen = self.seen(content, attention_mask, token_type_ids, perm_mask)
        queries = None
        if target_mapping is not None:
            target_mapping = target_mapping.to(content.dtype)
            queries = self.dropout(self.mask_embedding.expand(*target_mapping.shape[:2], -1))  # [B, M, D]
        hidden_states, attentions = [content], []
        for layer in self.layers:
            content, queries, weights = layer(content, queries, seen, target_mapping)
            hidden_states.append(content)
            attentions.append(weights)
        return EncoderOutput(
            last_hidden_state=self.dropout(content if queries is None else queries),
            pooler_output=None,
            hidden_states=tuple(hidden_states) if output_hidden_states else None,
            attentions=tuple(attentions) if output_attentions else None,
        )

    def seen(
        self, content: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None, perm_mask: Tensor | None
    ) -> Seen:
        """What is the same in all layers."""
        length, size = content.shape[1:]
        # The authors draw a dropout mask for each text. One for the batch spares B - 1 of B projections in each layer.
        sinusoids = self.dropout(relative_sinusoids(length, size, content.device).to(content.dtype))
        # Without segments nothing is added: one segment for all adds the same to all scores of a query, and softmax
        # takes that away again.
        different = None if token_type_ids is None else token_type_ids[:, :, None] != token_type_ids[:, None]
        return Seen(sinusoids, different, *hiding_biases(content, attention_mask, perm_mask))


def check_order(input_ids: Tensor, perm_mask: Tensor | None, target_mapping: Tensor | None) -> None:
    """Raise UserError where the order of prediction does not fit the texts."""
    batch, length = input_ids.shape
    if perm_mask is not None and perm_mask.shape != (batch, length, length):
        raise UserError(
            f"perm_mask has the shape {list(perm_mask.shape)}, and the texts {batch} times {length} tokens: give "
            f"{[batch, length, length]}."
        )
    if target_mapping is not None and (target_mapping.dim() != 3 or target_mapping.shape[::2] != (batch, length)):
        raise UserError(
            f"target_mapping has the shape {list(target_mapping.shape)}, and the texts {batch} times {length} tokens: "
            f"give [{batch}, predictions, {length}]."
        )


def hiding_biases(
    content: Tensor, attention_mask: Tensor | None, perm_mask: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """What to add to the scores of the content and of the query stream, [B, 1, T, T] each, or None for nothing.

    No token sees padding or what comes later in the order. The content stream may always see the token itself, since
    its word is what it carries; the query stream may not, since that word is what it is to predict.
    """
    if attention_mask is None and perm_mask is None:
        return None, None
    batch, length, _ = content.shape
    hidden = torch.zeros(batch, length, length, dtype=torch.bool, device=content.device)
    if attention_mask is not None:
        hidden = hidden | (attention_mask == 0)[:, None]
    if perm_mask is not None:
        hidden = hidden | (perm_mask != 0)
    others = ~torch.eye(length, dtype=torch.bool, device=content.device)
    return hiding_bias(hidden & others, content.dtype)[:, None], hiding_bias(hidden, content.dtype)[:, None]


@torch.no_grad()
def initialize(part: nn.Module, config: XLNetConfig) -> None:
    """Every weight normal and not truncated, biases of attention as well (the authors' code); else as BERT's."""
    initialize_as_published(part, config.initializer_range)
    for module in part.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=config.initializer_range)
        if isinstance(module, RelativeAttention):
            for tensor in module.parameters():
                nn.init.normal_(tensor, std=config.initializer_range)
