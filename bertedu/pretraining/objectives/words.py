"""Masked words alone: which words were hidden? RoBERTa's objective, and what all others here begin with.

Liu et al. 2019, section 4.2. Masking: Devlin et al. 2019, section 3.1.
"""

import hashlib
import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.config import EncoderConfig
from bertedu.errors import UserError, shown
from bertedu.json_values import whole
from bertedu.model.architecture import Architecture
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.examples import Batches
from bertedu.pretraining.few_shapes import positions_of, rounded_up, widened, without_idle_mask
from bertedu.pretraining.masking import Draws, WithDraws, apply_masks, draw
from bertedu.pretraining.passages import Passage, PassageMaker
from bertedu.pretraining.scoring import HeldOut
from bertedu.pretraining.sentence_pairs import Pair, TokenizedText
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import Tokenizer
from bertedu.training.chunked_scores import loss_and_hits
from bertedu.training.figures import Figures, Measure, Result, check_perplexities, results_of
from bertedu.training.loop import evaluate

HELP = "masked words alone, on as much text as fits: the signal is 15 to 40 % of the tokens"
VALIDATION_RATE = 0.15  # the published masking rate, whatever the run trains with
MOST_VALIDATION_BATCHES = 16  # a thousand pairs tell enough while training: 1 % of a library would take all its time


class MaskedWords:
    """Masked-LM over the passages of a tokenized text. A `training.loop.Task`.

    The order of sequences, and masks, are drawn anew for each pass: they are functions of the seed and the pass alone.
    model_class is what is trained; of_pairs says whether a sequence is a pair of texts; mask_share and random_share
    what becomes of the chosen tokens. few_shapes: whether `sums` takes batches of the form of `in_few_shapes`, and
    scores that are still to come (`training/chunked_scores.py`).

    What is said of an objective is said by its class, and everything else asks. `fits` tells which members can be
    trained for it besides those whose own it is, why_alone why there are none; defaults are the settings in which it
    differs from others; has_teacher tells whether another model is learned from. section is the name under which the
    figures of `evaluate` stand in those of a held-out set, of the types in section_types (of_baselines are those that
    each baseline there has), and measures are those that people see. filler_name says whose the figures of masked
    words are, where not those of the model, and filler_folder where in a checkpoint that lies; chosen_are what becomes
    of the share of tokens that mask_rates name. panels are the curves of a run, about_curves what to know about them,
    and caveat about the figures.
    """

    model_class: Any = MaskedLM  # a PretrainedModel
    of_pairs = False
    mask_share, random_share = 0.8, 0.1
    few_shapes = True
    loss_weights: Mapping[str, float] = MappingProxyType({})

    has_teacher = False
    why_alone = ""
    defaults: Mapping[str, Any] = MappingProxyType({})
    section = ""
    section_types: Mapping[str, Any] = MappingProxyType({})
    of_baselines: tuple[str, ...] = ()
    measures: Mapping[str, Measure] = MappingProxyType({})
    filler_name, filler_folder = "", ""
    chosen_are = "masked"
    panels: Mapping[str, str] = MappingProxyType(
        {"mlm_loss": "Masked words: loss (nats)", "mlm_accuracy": "Masked words: accuracy"}
    )
    about_curves = "Fewer and fewer words are masked while training goes on, so the blue curves get easier with time."
    caveat = ""

    @classmethod
    def fits(cls, member: Architecture) -> bool:
        """Whether a member, whose own it is not, can be trained for it: here, all that read [MASK]."""
        return member.for_masked_lm is None

    @classmethod
    def check(cls, settings: PretrainingSettings) -> None:
        """Raise UserError for settings that mean nothing here."""
        if settings.pairs != "next":
            raise UserError(
                f"pairs is {settings.pairs!r}, and the objective {settings.objective!r} has no pairs: leave one of "
                "both out."
            )

    @classmethod
    def check_figures(cls, figures: dict[str, Any], place: str) -> None:
        """Raise UserError where a file has figures for it that are not those of `evaluate`."""
        if cls.section in figures:
            place = f"{place}, {cls.section}"
            found = whole(figures[cls.section], cls.section_types, place)
            baselines = found.get("baselines", {})
            for name, of in baselines.items():
                whole(of, dict.fromkeys(cls.of_baselines, float), f"{place}, {shown(name)}")
            check_perplexities((found, *baselines.values()), place)

    @classmethod
    def results(cls, text: str, figures: Mapping[str, Any]) -> list[Result]:
        """What people see of the figures that a held-out set has for it, if any, beside those of masked words."""
        found = figures.get(cls.section)
        return results_of(cls.measures, found, text, cls.counted(found)) if found else []

    @classmethod
    def counted(cls, found: Mapping[str, Any]) -> str:
        """Over how many things the figures of the section are means."""
        return f"{found['tokens']:,} tokens"

    @classmethod
    def about_words(cls, figures: Mapping[str, Any]) -> str:
        """What to add to the number of masked words."""
        return ""

    @classmethod
    def summary(cls, figures: Mapping[str, Any], of_words: str) -> str:
        """The held-out set in a sentence or two, of_words being the one about masked words."""
        return of_words

    @classmethod
    def panel_baselines(cls, figures: Mapping[str, Any]) -> Figures:
        """The dotted lines in its curves besides those of masked words."""
        return {}

    @classmethod
    def facts(cls, plan: Mapping[str, Any], figures: Mapping[str, Any], config: EncoderConfig) -> dict[str, str]:
        """What is otherwise about its model, for the page of a run."""
        return {}

    def __init__(
        self, train: TokenizedText, validation: TokenizedText, tokenizer: Tokenizer, settings: PretrainingSettings
    ):
        self.tokenizer, self.settings, self.train_text = tokenizer, settings, train
        self.continuation = torch.tensor([tokenizer.continues_word(token) for token in tokenizer.vocab])  # [V]
        self.special_ids = torch.tensor(tokenizer.all_special_ids)
        self.special_tokens = tokenizer.layout.special_tokens(self.of_pairs)
        self.maker = self.maker_of(train)
        self.validation_batches = self.fixed_batches(self.maker_of(validation))[:MOST_VALIDATION_BATCHES]

    def new_model(self, config: EncoderConfig) -> Any:
        """A new model to be trained."""
        return self.model_class.from_config(config)

    def given_model(self, **dropout: Any) -> Any:
        """The model that the settings say to go on from; None where a new one is made."""
        return self.model_class.from_pretrained(self.settings.start, **dropout) if self.settings.start else None

    def filler(self, model: Any) -> Any:
        """Of what is trained, the model that fills masks."""
        return model

    def reader(self, model: Any) -> Any:
        """Of what is trained, the model that is fine-tuned afterwards."""
        return model

    def maker_of(self, text: TokenizedText) -> Any:
        """What makes the sequences of a text."""
        return PassageMaker(text, self.settings.max_length, self.special_tokens)

    def sequences(self, maker: Any, rng: random.Random) -> Sequence[Passage | Pair]:
        """One pass of sequences. A text has the same passages in each pass."""
        return maker.passages()

    def identity(self) -> dict[str, Any]:
        """The settings, the vocabulary and the text, the last two as digests."""
        return {**self.settings.data_identity(), **self.digests}

    @cached_property
    def digests(self) -> dict[str, str]:
        """Computed once: a run is saved every minute, and a library has billions of tokens."""
        vocabulary = hashlib.sha256("\n".join(self.tokenizer.vocab).encode()).hexdigest()
        text = hashlib.sha256(self.train_text.tokens.tobytes())
        text.update(repr((self.train_text.sentences, self.train_text.documents)).encode())
        return {"vocabulary": vocabulary[:16], "text": text.hexdigest()[:16]}

    def epoch(self, number: int) -> WithDraws:
        """The batches of one pass over the text, with the random numbers for their masks."""
        rng = random.Random(f"{self.settings.seed} pass {number}")
        batches = self.batches(self.maker, rng, self.settings.batch_size)
        return WithDraws(batches, len(self.tokenizer), self.settings.seed, "masks", number)

    def batches(self, maker: Any, rng: random.Random, batch_size: int) -> Batches:
        """One pass of sequences, in batches."""
        return Batches(maker.text, self.sequences(maker, rng), batch_size, self.tokenizer, rng)

    def fixed_batches(self, maker: Any, batch_size: int = 64) -> list[dict[str, Tensor]]:
        """One pass with masks that are always the same: for validation and evaluation."""
        batches = self.fixed_sequences(maker, batch_size)
        return [self.mask(batch, VALIDATION_RATE, seed=i) for i, batch in enumerate(batches)]

    def fixed_sequences(self, maker: Any, batch_size: int = 64) -> Batches:
        """One pass of sequences that are always the same."""
        return self.batches(maker, random.Random("held out"), batch_size)

    def prepare(self, batch: dict[str, Tensor], step: int, share: float) -> dict[str, Tensor]:
        """Mask rows of a batch; the masking rate goes linearly from its start to its end over the run."""
        start, end = self.settings.mask_rates
        rest = {name: tensor for name, tensor in batch.items() if name not in Draws._fields}
        draws = Draws(*(batch[name] for name in Draws._fields))
        return self.masked(rest, start + (end - start) * share, draws)

    def in_few_shapes(self, batch: dict[str, Tensor], rounded: bool) -> dict[str, Tensor]:
        """The prepared batch as a GPU likes it (`few_shapes.py`): `positions` [B, M] beside the labels, always as many
        for a length, the length rounded up where asked, and no attention_mask where nothing is padded.
        """
        if not self.few_shapes:
            return batch
        if rounded:
            length = rounded_up(batch["input_ids"].size(1), self.settings.max_length)
            batch = widened(batch, length, self.tokenizer.pad_token_id)
        most = max(1, round(batch["labels"].size(1) * max(self.settings.mask_rates)))
        return without_idle_mask({**batch, "positions": positions_of(batch["labels"], most)})

    def mask(self, batch: dict[str, Tensor], rate: float, seed: int) -> dict[str, Tensor]:
        """The batch masked with the random numbers of a seed."""
        generator = torch.Generator().manual_seed(seed)
        return self.masked(batch, rate, draw(batch["input_ids"].shape, len(self.tokenizer), generator))

    def masked(self, batch: dict[str, Tensor], rate: float, draws: Draws) -> dict[str, Tensor]:
        """The batch with input_ids masked and labels [B, T] added."""
        input_ids, tokenizer = batch["input_ids"], self.tokenizer
        special = (input_ids == tokenizer.cls_token_id) | (input_ids == tokenizer.sep_token_id)
        masked, labels = apply_masks(
            input_ids,
            candidates=batch["attention_mask"].bool() & ~special,
            rate=rate,
            mask_token_id=tokenizer.mask_token_id,
            draws=self.drawn_for(input_ids, draws),
            continuation=self.continuation[input_ids] if self.settings.whole_words else None,
            special_tokens=self.special_tokens,
            mask_share=self.mask_share,
            random_share=self.random_share,
        )
        return {**batch, "input_ids": masked, "labels": labels}

    def drawn_for(self, input_ids: Tensor, draws: Draws) -> Draws:
        """The random numbers for these tokens, none of the random words being a special token.

        Google's code draws random words from the whole vocabulary, and for BERT we do the same. fairseq leaves the
        special tokens out, and has to: RoBERTa counts its positions over what is no <pad>. Where one is drawn, the
        token stays.
        """
        if self.settings.architecture == "bert":
            return draws
        special = torch.isin(draws.mask_words, self.special_ids)
        return draws._replace(mask_words=torch.where(special, input_ids, draws.mask_words))

    def validation(self) -> Sequence[dict[str, Tensor]]:
        """The validation text in masked batches."""
        return self.validation_batches

    def validate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Losses and accuracies on the validation text."""
        return evaluate(model, self, self.validation(), device)

    def quality(self, figures: dict[str, float]) -> float:
        """Minus the loss."""
        return -figures["mlm_loss"]

    def counts(self, batch: dict[str, Tensor]) -> dict[str, int]:
        """Masked words."""
        return {"mlm": int((batch["labels"] != IGNORED).sum())}

    def sums(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Summed losses and hits; words are scored at labelled positions only, or at those of `in_few_shapes`."""
        labels, positions = batch["labels"], batch.get("positions")
        inputs = (batch.get(name) for name in ("input_ids", "attention_mask", "token_type_ids"))
        if positions is not None:
            right = labels.gather(1, positions).flatten()  # IGNORED at spare positions
            return self.sums_of(model(*inputs, masked_positions=positions), right, batch)
        chosen = labels != IGNORED
        return self.sums_of(model(*inputs, masked_positions=chosen), labels[chosen], batch)

    def sums_of(self, output: Any, right: Tensor, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """The same of what a model said; right: the ids at the labelled positions, [N]."""
        loss, hits = loss_and_hits(output.prediction_logits, right)
        return {"mlm_loss": loss, "mlm_accuracy": hits}

    def evaluate(self, model: Any, held_out: HeldOut) -> dict[str, Any]:
        """What a held-out set has for this objective beside the figures of masked words."""
        return {}

    def notes(self, model: Any) -> list[str]:
        """What a reader of a run's figures must know."""
        return []


OBJECTIVE = MaskedWords
