"""SpanBERT: a BERT that learns from hidden spans of words (Joshi et al. 2020, section 3; facebookresearch/SpanBERT).

What changes against BERT is what it is trained for, not the encoder: whole spans are masked, the sequence is one text,
there is no next sentence, and a second head learns the **span boundary objective** (SBO). That head sees the vectors of
the two visible tokens around a span, and which token of the span is asked for, and predicts that token:

    y_k = f([x_{s-1}; x_{e+1}; p_k]),    f = LayerNorm(GELU(dense(LayerNorm(GELU(dense(·))))))

So the vectors at the two ends of a span must tell what is inside, which is what question answering reads answers from.
The loss is MLM + SBO. Afterwards the boundary head is not needed: what is saved is a plain BERT.

`pair_bert.py` there has 15 vectors p_k (`--max-pair-targets 15`) of 200 numbers each, so that the boundary is asked for
the first 15 tokens of a span; a decoder tied to the word embeddings, with a bias of its own; and two means that are
added, MLM's over the masked tokens and SBO's over those that it was asked for (the latter divided by one more there).

Shapes: B batch, T tokens, D hidden size, N masked tokens, M of them that the boundary is asked for, V vocabulary.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from bertedu.checkpoints.folder import Trained, find_folder, save_tensors
from bertedu.checkpoints.weights import check_weights, read_tensors
from bertedu.config import EncoderConfig, TaskConfig
from bertedu.errors import UserError
from bertedu.model.encoder import activation
from bertedu.model.heads import IGNORED, MaskedLM, TiedDecoder, mean_cross_entropy
from bertedu.model.pretrained import PretrainedModel

MOST_TARGETS = 15  # tokens of a span that its boundary is asked for
POSITION_SIZE = 200
NO_BOUNDARY = -1
BOUNDARY_HEAD = "boundary_head.safetensors"  # the file beside a BERT's that holds the head it was trained with


class SpanBoundaryHead(nn.Module):
    """From the two visible tokens around a span to a score for every word at each position inside it."""

    def __init__(self, config: EncoderConfig, token_embeddings: nn.Embedding):
        super().__init__()
        size, embedding_size = config.hidden_size, token_embeddings.embedding_dim
        self.positions = nn.Embedding(MOST_TARGETS, POSITION_SIZE)
        self.activation = activation(config.hidden_act)
        self.first_dense = nn.Linear(2 * size + POSITION_SIZE, size)
        self.first_norm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.second_dense = nn.Linear(size, embedding_size)  # the decoder's size: D, where embeddings have that
        self.second_norm = nn.LayerNorm(embedding_size, eps=config.layer_norm_eps)
        self.decoder = TiedDecoder(token_embeddings)

    def forward(self, hidden_states: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """hidden_states [B, T, D] to scores [M, V], a row for each token that is asked for, in reading order.

        left, right [B, T]: for such a token where the visible tokens around its span stand, elsewhere NO_BOUNDARY.
        The token's own vector is not among what the head sees.
        """
        row, place = (left != NO_BOUNDARY).nonzero(as_tuple=True)  # [M] each
        before, after = left[row, place], right[row, place]
        position = self.positions(place - before - 1)  # p_k: the first token of a span is number 0
        vectors = torch.cat([hidden_states[row, before], hidden_states[row, after], position], dim=-1)
        vectors = self.first_norm(self.activation(self.first_dense(vectors)))
        return self.decoder(self.second_norm(self.activation(self.second_dense(vectors))))


@dataclass
class SpanOutput:
    """What both heads said: prediction_logits [N, V] about the masked tokens, labels [N] the right ids;
    boundary_logits [M, V] and boundary_labels [M] the same for those that the boundary is asked for. asked [N] says
    which of the masked tokens these are.
    """

    prediction_logits: Tensor
    labels: Tensor
    boundary_logits: Tensor
    boundary_labels: Tensor
    asked: Tensor

    @property
    def loss(self) -> Tensor:
        """MLM + SBO, each the mean over its tokens."""
        words = mean_cross_entropy(self.prediction_logits, self.labels)
        return words + mean_cross_entropy(self.boundary_logits, self.boundary_labels)


class SpanBert(PretrainedModel):
    """What is trained: a BERT (or another member) that fills masks, and the boundary head on the same encoder."""

    kind = MaskedLM.kind

    def __init__(self, words: MaskedLM):
        super().__init__(words.config)
        self.words = words
        self.boundary = SpanBoundaryHead(words.config, words.encoder.token_embeddings)
        self.initialize()  # of the boundary head alone

    @classmethod
    def from_config(cls, config: EncoderConfig, task_config: TaskConfig | None = None) -> Self:
        """A new model."""
        return cls(MaskedLM(config))

    def depth(self, name: str) -> int:
        """As the masked-word model says; the boundary head lies above the layers."""
        part, _, inside = name.partition(".")
        return self.words.depth(inside) if part == "words" else self.config.num_hidden_layers + 1

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor,
        labels: Tensor,
        left: Tensor,
        right: Tensor,
    ) -> SpanOutput:
        """All [B, T]. labels hold the right ids where a token is masked and -100 elsewhere; left and right as the
        boundary head has them.
        """
        chosen, inside = labels != IGNORED, left != NO_BOUNDARY
        output = self.words(input_ids, attention_mask, token_type_ids, masked_positions=chosen)
        boundary_logits = self.boundary(output.bert.last_hidden_state, left, right)
        return SpanOutput(output.prediction_logits, labels[chosen], boundary_logits, labels[inside], inside[chosen])

    @classmethod
    def from_pretrained(cls, name: str | Path, trained: Trained | None = None, **changes: Any) -> Self:
        """Load what save_pretrained wrote, or any BERT to go on from: a boundary head that is not there starts
        untrained, which a warning says.
        """
        folder = find_folder(name)
        model = cls(MaskedLM.from_pretrained(folder, trained, **changes))
        if (folder / BOUNDARY_HEAD).is_file():
            model.load_boundary_head(folder / BOUNDARY_HEAD)
        else:
            warnings.warn(f"{folder} has no {BOUNDARY_HEAD}: the boundary head starts untrained.", stacklevel=2)
        return model.eval()

    def load_boundary_head(self, path: Path) -> None:
        """Fill the boundary head from its file. Raises UserError where the file is damaged or of another model."""
        saved, places = read_tensors(path), self.boundary_weights()
        check_weights(saved, path)
        shapes, wanted = ({name: list(tensor.shape) for name, tensor in of.items()} for of in (saved, places))
        if shapes != wanted:
            name = min(name for name in shapes.keys() | wanted.keys() if shapes.get(name) != wanted.get(name))
            raise UserError(
                f"{path}: {name} has the shape {shapes.get(name)}, and this model's has {wanted.get(name)}: give the "
                "file that was saved with this model, or remove it to start with a new head."
            )
        with torch.no_grad():
            for name, tensor in saved.items():
                places[name].copy_(tensor)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a plain BERT with its masked-word head, which opens in `transformers`, and the boundary head beside."""
        save_tensors(Path(folder) / BOUNDARY_HEAD, self.boundary_weights(), {"format": "pt"})
        self.words.save_pretrained(folder)

    def boundary_weights(self) -> dict[str, Tensor]:
        """The boundary head's own weights by their names; its decoder's are the embeddings of the BERT."""
        return {name: tensor for name, tensor in self.boundary.state_dict().items() if name != "decoder.weight"}
