"""Permutation language modeling: which word comes next in a random order? (XLNet's.)

Yang et al. 2019, sections 2.2, 2.3 and 3.1; zihangdai/xlnet. The sequences are full passages, as for masked words
alone. The authors join two segments of half the length, half of the time from different texts, but do not ask whether
they belong together: that did not help them (section 2.5, table 6), and without the question Liu et al. 2019 found one
passage to be better than two segments. It is also what makes the figures comparable with those of masked words on the
same text. The price: that two texts are different segments is first seen in fine-tuning. Padding is on the right, as
everywhere here: XLNet knows distances alone, so the side makes no difference to any figure.
"""

import math
import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.errors import UserError
from bertedu.family.xlnet.heads import XLNetLMHeadModel, target_mapping_of
from bertedu.inference import perplexity
from bertedu.json_values import whole
from bertedu.model.architecture import Architecture
from bertedu.model.heads import IGNORED
from bertedu.pretraining.baselines import NGramBaseline, UnigramBaseline
from bertedu.pretraining.factorization import OrderDraws, WithOrders, choose_predicted, draw_orders, hidden_by_order
from bertedu.pretraining.objectives.words import MOST_VALIDATION_BATCHES, MaskedWords
from bertedu.pretraining.scoring import HeldOut, mean_pseudo_perplexity
from bertedu.pretraining.sentence_pairs import TokenizedText
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures, Measure, Result
from bertedu.training.loop import evaluate
from bertedu.training.seeds import derive_seed

HELP = "some words, each predicted from the visible words and from those before it in a random order"
PREDICTED_RATE = 1 / 6  # the published one (K = 6), by which every run is validated
OF_SENTENCES = {"pseudo_sentences": int, "pseudo_perplexity": float}
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MASKS = ("perm_mask", "target_mapping")
# Where the authors let a span begin, besides at "▁": their `_is_start_piece`.
PUNCTUATION = frozenset(string.punctuation) - frozenset("'<=>")


class PermutationLanguageModel(MaskedWords):
    """Some tokens of each passage are predicted, one after the other in an order drawn for that passage and pass.

    mask_rates are the share of tokens that are predicted. The figures: plm_loss and plm_accuracy, over the predicted
    tokens. Validation has those of masked words, too: the words that a masked model is asked for, each predicted by the
    query stream while all of them are hidden.
    """

    model_class = XLNetLMHeadModel
    few_shapes = False
    why_alone = (
        "it takes a second stream of vectors, which know where a word stands and not which, and XLNet alone has that"
    )
    defaults = MappingProxyType({"mask_rates": (PREDICTED_RATE, PREDICTED_RATE)})  # one of six tokens is predicted
    section = "ordering"
    of_baselines = ("plm_accuracy", "perplexity")
    section_types = MappingProxyType({"tokens": int, **dict.fromkeys(of_baselines, float), "baselines": Figures})
    measures = MappingProxyType(
        {
            "plm_accuracy": Measure("words in a random order, accuracy"),
            "perplexity": Measure("words in a random order, perplexity", True, ",.1f"),
        }
    )
    chosen_are = "predicted"
    panels = MappingProxyType(
        {
            "plm_loss": "Words in a random order: loss (nats)",
            "plm_accuracy": "Words in a random order: accuracy",
            "mlm_accuracy": MaskedWords.panels["mlm_accuracy"],
        }
    )
    about_curves = (
        "Some words are predicted, each from those that are not and from those that come before it in a random "
        "order. The words that a masked model would be asked for are asked for on the validation text alone, all "
        "hidden at once: compare these, not the words in a random order, with the figures of another model."
    )

    @classmethod
    def fits(cls, member: Architecture) -> bool:
        """None but XLNet."""
        return False

    @classmethod
    def check(cls, settings: PretrainingSettings) -> None:
        """There are neither pairs nor whole words."""
        super().check(settings)
        if settings.whole_words:
            raise UserError(
                "whole_words is set, and the objective 'permutation' predicts tokens: leave one of both out."
            )

    @classmethod
    def check_figures(cls, figures: dict[str, Any], place: str) -> None:
        """Pseudo-perplexity stands among the figures of masked words."""
        super().check_figures(figures, place)
        if any(name in figures for name in OF_SENTENCES):
            whole(figures, OF_SENTENCES, place)

    @classmethod
    def results(cls, text: str, figures: Mapping[str, Any]) -> list[Result]:
        """Words in a random order, and the pseudo-perplexity of sentences."""
        rows = super().results(text, figures)
        if "pseudo_perplexity" in figures:
            counted, found = f"{figures['pseudo_sentences']:,} sentences", figures["pseudo_perplexity"]
            rows.append(Result(text, "pseudo-perplexity", found, (), counted, True, ",.1f"))
        return rows

    @classmethod
    def panel_baselines(cls, figures: Mapping[str, Any]) -> Figures:
        """What counting knows where it sees as much of the neighbours as the order allows."""
        of = figures[cls.section]["baselines"].items()
        return {
            "plm_loss": {name: math.log(found["perplexity"]) for name, found in of},
            "plm_accuracy": {name: found["plm_accuracy"] for name, found in of},
        }

    def __init__(
        self, train: TokenizedText, validation: TokenizedText, tokenizer: Tokenizer, settings: PretrainingSettings
    ):
        super().__init__(train, validation, tokenizer, settings)
        starts = torch.tensor([token in PUNCTUATION for token in tokenizer.vocab])
        self.goes_on = self.continuation & ~starts  # [V]: no span begins here
        self.ordered_batches = self.fixed_orders(self.maker_of(validation))[:MOST_VALIDATION_BATCHES]

    def epoch(self, number: int) -> WithOrders:
        """The batches of one pass over the text, with the random numbers for spans and orders."""
        drawn = super().epoch(number)
        return WithOrders(drawn.batches, drawn.vocab_size, self.settings.seed, "orders", number)

    def fixed_orders(self, maker: Any) -> list[dict[str, Tensor]]:
        """The batches of `fixed_batches` before masking, with spans and orders that are always the same."""
        return [self.ordered(batch, PREDICTED_RATE, seed=i) for i, batch in enumerate(self.fixed_sequences(maker))]

    def prepare(self, batch: dict[str, Tensor], step: int, share: float) -> dict[str, Tensor]:
        """Choose what rows of a batch predict, and hide it; the share goes linearly from its start to its end."""
        start, end = self.settings.mask_rates
        rest = {name: tensor for name, tensor in batch.items() if name not in OrderDraws._fields}
        draws = OrderDraws(*(batch[name] for name in OrderDraws._fields))
        return self.permuted(rest, start + (end - start) * share, draws)

    def ordered(self, batch: dict[str, Tensor], rate: float, seed: int) -> dict[str, Tensor]:
        """The same with the random numbers of a seed."""
        generator = torch.Generator().manual_seed(derive_seed(seed, "orders"))
        return self.permuted(batch, rate, draw_orders(batch["input_ids"].shape, generator))

    def permuted(self, batch: dict[str, Tensor], rate: float, draws: OrderDraws) -> dict[str, Tensor]:
        """The batch with perm_mask [B, T, T], target_mapping [B, M, T] and labels [B, M], the right ids of the
        predicted tokens in reading order, IGNORED where a row has fewer than M. input_ids stay as they are.
        """
        input_ids, tokenizer = batch["input_ids"], self.tokenizer
        special = (input_ids == tokenizer.cls_token_id) | (input_ids == tokenizer.sep_token_id)
        candidates = batch["attention_mask"].bool() & ~special
        predicted = choose_predicted(candidates, self.goes_on[input_ids], rate, draws, self.special_tokens)
        mapping = target_mapping_of(predicted)
        labels = (mapping * input_ids[:, None]).sum(dim=-1)  # [B, M]
        return {
            **batch,
            "perm_mask": hidden_by_order(predicted, draws.order),
            "target_mapping": mapping,
            "labels": labels.masked_fill(~mapping.any(dim=-1), IGNORED),
        }

    def validation(self) -> Sequence[dict[str, Tensor]]:
        """The validation text with fixed orders, and once more with masked words."""
        return [*self.ordered_batches, *self.validation_batches]

    def quality(self, figures: dict[str, float]) -> float:
        """Minus the loss of what is trained."""
        return -figures["plm_loss"]

    def counts(self, batch: dict[str, Tensor]) -> dict[str, int]:
        """Predicted tokens; of a batch with masked words, those."""
        if "perm_mask" not in batch:
            return super().counts(batch)
        return {"plm": int((batch["labels"] != IGNORED).sum())}

    def sums(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Summed losses and hits; of a batch with masked words, each is hidden from all and predicted on its own."""
        if "perm_mask" not in batch:
            return super().sums(model, batch)
        chosen = batch["labels"] != IGNORED  # [B, M]
        output = model(**{name: batch[name] for name in (*INPUTS, *MASKS)}, masked_positions=chosen)
        words, right = output.prediction_logits.float(), batch["labels"][chosen]  # [N, V] and [N]
        return {
            "plm_loss": cross_entropy(words, right, reduction="sum"),
            "plm_accuracy": (words.argmax(dim=-1) == right).sum(),
        }

    def evaluate(self, model: nn.Module, held_out: HeldOut) -> dict[str, Any]:
        """Words in a random order, and the pseudo-perplexity of sentences."""
        ordering = self.ordering(model, self.maker_of(held_out.text), held_out.counting.baselines)
        sentences = mean_pseudo_perplexity(self.filler(model), self.tokenizer, held_out.documents)
        return {**({self.section: ordering} if ordering else {}), **sentences}

    def ordering(
        self, model: nn.Module, maker: Any, baselines: Mapping[str, UnigramBaseline | NGramBaseline]
    ) -> dict[str, Any]:
        """The figures of prediction in fixed orders, beside baselines that see as much of a token's two neighbours as
        the order allows. Nothing where the text is too small to predict a token of it.
        """
        batches = self.fixed_orders(maker)
        if not (tokens := sum(self.counts(batch)["plm"] for batch in batches)):
            return {}
        figures = evaluate(model, self, batches, next(model.parameters()).device)
        mask = self.tokenizer.mask_token_id
        asked = [visible_neighbours(batch, mask) for batch in batches]
        seen, labels = (np.concatenate(parts) for parts in zip(*asked, strict=True))
        found = {name: baseline.evaluate(seen, labels, mask) for name, baseline in baselines.items()}
        return {
            "tokens": tokens,
            "plm_accuracy": figures["plm_accuracy"],
            "perplexity": perplexity(figures["plm_loss"]),
            "baselines": {
                name: {"plm_accuracy": of["accuracy"], "perplexity": of["perplexity"]} for name, of in found.items()
            },
        }


def visible_neighbours(batch: dict[str, Tensor], mask_token_id: int) -> tuple[np.ndarray, np.ndarray]:
    """Each predicted token between its two neighbours, as a masked text of three tokens: what is seen, and labels,
    both [N, 3]. A neighbour that comes later in the order is masked, too, and so is what lies beyond the sequence.
    """
    rows, _, places = batch["target_mapping"].nonzero(as_tuple=True)  # [N] each
    input_ids, length = batch["input_ids"], batch["input_ids"].size(1)
    seen = torch.full((len(rows), 3), mask_token_id)
    for column, step in ((0, -1), (2, 1)):
        beside = (places + step).clamp(0, length - 1)
        known = (beside == places + step) & ~batch["perm_mask"][rows, places, beside]
        seen[:, column] = torch.where(known, input_ids[rows, beside], mask_token_id)
    labels = torch.full_like(seen, IGNORED)
    labels[:, 1] = input_ids[rows, places]
    return seen.numpy(), labels.numpy()


OBJECTIVE = PermutationLanguageModel
