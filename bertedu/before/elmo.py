"""ELMo: two LSTM language models, one from each side, whose layers are mixed into a vector for each word in context.

Peters et al. 2018, "Deep contextualized word representations", sections 3.1 and 3.2. ELMo reads letters through a
convolution; here each word has a vector in a table, as in the other models of this folder. As there, both directions
share the words' vectors and the softmax, the LSTMs have weights of their own, and from the second layer on the input is
added to the output. Left out: the LSTM of 4,096 cells that is projected down to 512.
Shapes: B batch, T tokens, D size of the vectors, L layers of each LSTM, V vocabulary.
"""

import math

import torch
from torch import Tensor, nn

from bertedu.model.heads import mean_cross_entropy


class Lstm(nn.Module):
    """One layer of a long short-term memory (Hochreiter & Schmidhuber 1997; Gers et al. 2000), [B, T, D] to [B, T, D].

    Weights are named and stacked as in torch.nn.LSTM: input gate, forget gate, candidate, output gate.
    """

    def __init__(self, size: int):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.empty(4 * size, size))
        self.weight_hh = nn.Parameter(torch.empty(4 * size, size))
        self.bias = nn.Parameter(torch.zeros(4 * size))
        for weight in (self.weight_ih, self.weight_hh):
            nn.init.uniform_(weight, -1 / math.sqrt(size), 1 / math.sqrt(size))

    def forward(self, inputs: Tensor) -> Tensor:
        from_inputs = nn.functional.linear(inputs, self.weight_ih, self.bias)  # [B, T, 4 D], for all tokens at once
        hidden = cell = inputs.new_zeros(inputs.size(0), inputs.size(2))
        outputs = []
        for gates in from_inputs.unbind(dim=1):
            gates = torch.addmm(gates, hidden, self.weight_hh.T)
            enter, keep, candidate, leave = gates.chunk(4, dim=-1)
            cell = keep.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
            hidden = leave.sigmoid() * cell.tanh()
            outputs.append(hidden)
        return torch.stack(outputs, dim=1)


class LanguageModel(nn.Module):
    """L layers of LSTM over word vectors [B, T, D]; gives the output of each layer."""

    def __init__(self, size: int, layers: int, dropout: float = 0.0):
        super().__init__()
        self.layers = nn.ModuleList(Lstm(size) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor) -> list[Tensor]:
        states: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            output = layer(self.dropout(vectors))
            vectors = output + vectors if number else output
            states.append(vectors)
        return states


def reversed_texts(x: Tensor, lengths: Tensor) -> Tensor:
    """Each text from its last word to its first, the padding still on the right. x [B, T, …], lengths [B]."""
    positions = torch.arange(x.size(1), device=x.device)
    order = lengths[:, None] - 1 - positions  # negative for padding
    order = torch.where(order >= 0, order, positions)
    return x[torch.arange(len(x), device=x.device)[:, None], order]


class Elmo(nn.Module):
    """Both language models over one table of word vectors, [V, D]. Id 0 is padding."""

    def __init__(self, vocab_size: int, size: int, layers: int = 2, dropout: float = 0.0):
        super().__init__()
        self.token = nn.Embedding(vocab_size, size, padding_idx=0)
        self.forward_lm = LanguageModel(size, layers, dropout)
        self.backward_lm = LanguageModel(size, layers, dropout)
        self.decoder = nn.Linear(size, vocab_size)  # the softmax, shared by both
        nn.init.normal_(self.token.weight, std=0.1)
        nn.init.normal_(self.decoder.weight, std=0.1)

    def directions(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """For each layer the states of the forward and of the backward model, in the order of the text: [B, T, D].

        input_ids, attention_mask: [B, T], padding on the right. The forward state at t has read the words up to t, the
        backward state those from t on.
        """
        vectors, lengths = self.token(input_ids), attention_mask.sum(dim=1)
        backward = self.backward_lm(reversed_texts(vectors, lengths))
        return self.forward_lm(vectors), [reversed_texts(states, lengths) for states in backward]

    def layer_vectors(self, input_ids: Tensor, attention_mask: Tensor) -> list[Tensor]:
        """L + 1 vectors for each token, [B, T, 2 D]: the word's own vector twice, then both directions side by side."""
        word = self.token(input_ids)
        both = zip(*self.directions(input_ids, attention_mask), strict=True)
        return [torch.cat([word, word], dim=-1), *(torch.cat(states, dim=-1) for states in both)]

    def loss(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """The mean of -log p over both directions: each word from those before it, and from those after it.

        The first word has none before it that it could be told from, the last none after it.
        """
        ahead, back = (states[-1] for states in self.directions(input_ids, attention_mask))
        follows = (attention_mask[:, :-1] * attention_mask[:, 1:]).bool()  # pairs of neighbours without padding
        states = torch.cat([ahead[:, :-1][follows], back[:, 1:][follows]])
        targets = torch.cat([input_ids[:, 1:][follows], input_ids[:, :-1][follows]])
        return mean_cross_entropy(self.decoder(states), targets)


class ScalarMix(nn.Module):
    """γ · Σ s_j h_j: the layers weighted by a softmax, learned with the task (equation 1). Each [..., E]."""

    def __init__(self, layers: int):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: list[Tensor]) -> Tensor:
        weights = self.scores.softmax(dim=0)
        return self.scale * sum(weight * layer for weight, layer in zip(weights, layers, strict=True))
