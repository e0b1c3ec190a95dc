"""The same questions for every model: which vectors has a sentence, and which word fits into its gap?

Every sentence is [CLS] words [SEP], with [MASK] at the gap. A model is asked where its weights are; questions and
answers are on the CPU. Shapes: B batch, T tokens, D size of the vectors, V vocabulary, C candidates.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.before.elmo import Elmo
from bertedu.before.glove import Glove
from bertedu.before.gpt import Gpt
from bertedu.before.training import FIRST_WORD, WINDOW, device_of
from bertedu.before.word2vec import SkipGram
from bertedu.model.heads import IGNORED, MaskedLM

RESCORED = 50  # candidates that GPT tries in the whole sentence


def moved(model: nn.Module, *tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors on the device of the model."""
    return tuple(tensor.to(device_of(model)) for tensor in tensors)


class Asked(ABC):
    """A model that can be asked. Its answers need no gradients."""

    @abstractmethod
    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        """The vectors of every token, layer by layer, the word's own vector first: [B, T, …] each."""

    @abstractmethod
    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        """How well each word fits into each sentence's gap, which stands at the positions `at` [B]: [B, V]."""


class AskedWords(Asked):
    """word2vec, GloVe or fastText: one vector for each word. A gap is filled by the words around it, as a bag.

    fits [V, V] is how much more often than by chance a word (row) stands near another (column), as a logarithm.
    """

    def __init__(self, model: SkipGram | Glove, counts: Tensor):
        self.vectors = model.word_vectors().cpu()
        with torch.no_grad():
            if isinstance(model, Glove):
                products = (model.first.weight @ model.second.weight.T + model.first_bias.weight).cpu()
                self.fits = products - products.mean(dim=1, keepdim=True)  # log counts, less the word's own frequency
            else:
                self.fits = self.vectors @ model.contexts.weight.T.cpu()
        self.frequency = ((counts + 1) / (counts.sum() + len(counts))).log()

    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        return [self.vectors[ids]]

    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        positions = torch.arange(ids.size(1))
        near = ((positions - at[:, None]).abs() <= WINDOW) & (ids >= FIRST_WORD)  # the gap and [CLS] are no words
        bags = torch.zeros(len(ids), len(self.frequency)).scatter_add(1, ids, near.float())
        return self.frequency + bags @ self.fits.T


class AskedElmo(Asked):
    """ELMo: both language models side by side."""

    def __init__(self, model: Elmo, counts: Tensor):
        self.model = model.eval()
        self.frequency = ((counts + 1) / (counts.sum() + len(counts))).log()

    @torch.no_grad()
    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        return [states.cpu() for states in self.model.layer_vectors(*moved(self.model, ids, mask))]

    @torch.no_grad()
    def sides(self, ids: Tensor, mask: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """What fits after the words on the left, and what fits before those on the right: log p, [B, V] each."""
        ids, mask, at, rows = moved(self.model, ids, mask, at, torch.arange(len(ids)))
        ahead, back = (states[-1] for states in self.model.directions(ids, mask))
        left, right = (self.model.decoder(x) for x in (ahead[rows, at - 1], back[rows, at + 1]))
        return left.log_softmax(dim=-1).cpu(), right.log_softmax(dim=-1).cpu()

    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        """p(w | left) · p(w | right) / p(w): right if both sides knew nothing of each other."""
        left, right = self.sides(ids, mask, at)
        return left + right - self.frequency


class AskedGpt(Asked):
    """GPT: it fills a gap from the words on its left."""

    def __init__(self, model: Gpt):
        self.model = model.eval()

    @torch.no_grad()
    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        return [states.cpu() for states in self.model(*moved(self.model, ids, mask)).hidden_states]

    @torch.no_grad()
    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        logits = self.model(*moved(self.model, ids, mask)).logits.cpu()
        return logits[torch.arange(len(ids)), at - 1].log_softmax(dim=-1)

    @torch.no_grad()
    def rescored(self, ids: Tensor, mask: Tensor, at: Tensor, candidates: Tensor) -> Tensor:
        """log p of the whole sentence with each of the candidates [B, C] in its gap: C times the work. [B, C]"""
        rows, scores = torch.arange(len(ids)), []
        for words in candidates.T:
            filled = ids.clone()
            filled[rows, at] = words
            labels = filled.masked_fill(mask == 0, IGNORED)[:, 1:]
            logits = self.model(*moved(self.model, filled, mask)).logits.cpu()[:, :-1].transpose(1, 2)  # [B, V, T - 1]
            scores.append(-cross_entropy(logits, labels, reduction="none").sum(dim=1))
        return torch.stack(scores, dim=1)

    def rescored_gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        """As `gap`, but the 50 words that the left side likes best are ordered by the whole sentence."""
        first = self.gap(ids, mask, at)
        candidates = first.topk(min(RESCORED, first.size(1)), dim=-1).indices
        whole = self.rescored(ids, mask, at, candidates)
        return (first - 1e6).scatter(1, candidates, whole)


class AskedBert(Asked):
    """BERT: it fills a gap from both sides at once."""

    def __init__(self, model: MaskedLM):
        self.model = model.eval()

    @torch.no_grad()
    def layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        states = self.model.encoder(*moved(self.model, ids, mask), output_hidden_states=True).hidden_states or ()
        return [layer.cpu() for layer in states]

    @torch.no_grad()
    def gap(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        positions = torch.arange(ids.size(1)) == at[:, None]
        ids, mask, positions = moved(self.model, ids, mask, positions)
        return self.model(ids, mask, masked_positions=positions).prediction_logits.log_softmax(dim=-1).cpu()
