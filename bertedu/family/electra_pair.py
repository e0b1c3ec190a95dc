"""What ELECTRA trains: a generator that fills in masked words, and a discriminator that finds which of its words are
not those of the text (Clark et al. 2020, section 2; `run_pretraining.py` of google-research/electra).

Words are masked, the generator guesses them, a word is *sampled* from each guess and put into the text, and the
discriminator says of every token whether it was replaced. This looks like a GAN and is none: the generator learns
masked words alone. A sampled word is an integer, and no gradient passes through it.

The loss is MLM + 50 · binary cross-entropy over all real tokens. The two share the embeddings with their LayerNorm;
for the rest the generator is smaller. Afterwards it is not needed, and the discriminator is fine-tuned.

Shapes: B batch, T tokens, N masked tokens, V vocabulary.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from bertedu.checkpoints.folder import GENERATOR, Trained, find_folder
from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.family.electra import ElectraConfig, ElectraForPreTraining, detection_loss
from bertedu.model.heads import IGNORED, MaskedLM, mean_cross_entropy
from bertedu.model.pretrained import PretrainedModel

DETECTION_WEIGHT = 50.0  # λ: a binary loss is far smaller than that of a choice among V words
GENERATOR_SHARE, OF_BASE = 1 / 4, 1 / 3  # of the discriminator's width (table 6)
HEAD_SIZE = 64
SHARED = ("token", "position", "token_type", "norm")


def generator_config(config: ElectraConfig, share: float = GENERATOR_SHARE) -> ElectraConfig:
    """The generator for a discriminator: as deep, and a share of its width. With one as large the words would be too
    hard to tell apart (section 3.2, figure 3).
    """
    size = round(config.hidden_size * share)
    heads = max(1, size // HEAD_SIZE)
    return replace(config, hidden_size=size, num_attention_heads=heads, intermediate_size=4 * size)


@torch.no_grad()
def sample_tokens(logits: Tensor, at: Tensor) -> Tensor:
    """A token for each row of logits [N, V], drawn from its softmax with the numbers `at` from 0 to 1, [N].

    The token in which `at` lies when all probabilities are laid end to end. Google's code takes the argmax of logits
    plus Gumbel noise: the same distribution from V random numbers for each token in place of one. With one, the draw
    depends on its own row alone, so a resumed run, and several processes, draw the same.
    """
    ends = logits.float().softmax(dim=-1).cumsum(dim=-1)  # [N, V]
    found = torch.searchsorted(ends, at[:, None] * ends[:, -1:], right=True).squeeze(-1)
    return found.clamp_max(logits.size(-1) - 1)


def embeddings_of(model: ElectraForPreTraining | MaskedLM) -> Any:
    """The embeddings of one of the two: a module with the parts that are SHARED."""
    return model.get_submodule("encoder.embeddings")


@dataclass
class PairOutput:
    """What both said about a batch.

    prediction_logits [N, V], the generator's, and labels [N], the right ids, in reading order; seen [B, T], the ids
    that the discriminator got; replaced [B, T], where they are not those of the text; detector_logits [B, T], above 0
    where it says so; real [B, T], no padding.
    """

    prediction_logits: Tensor
    labels: Tensor
    seen: Tensor
    replaced: Tensor
    detector_logits: Tensor
    real: Tensor

    @property
    def loss(self) -> Tensor:
        """MLM + 50 · detection, each the mean over its tokens."""
        detection = detection_loss(self.detector_logits, self.replaced, self.real)
        return mean_cross_entropy(self.prediction_logits, self.labels) + DETECTION_WEIGHT * detection


class GeneratorAndDiscriminator(PretrainedModel):
    """Both, with one set of embeddings. config is the discriminator's."""

    kind = "ForPreTraining"
    folders = ("", GENERATOR)

    def __init__(self, discriminator: ElectraForPreTraining, generator: MaskedLM):
        super().__init__(discriminator.config)
        self.discriminator, self.generator = discriminator, generator
        shared, of_generator = embeddings_of(discriminator), embeddings_of(generator)
        for name in SHARED:  # not the layer that brings them to each one's own width
            setattr(of_generator, name, getattr(shared, name))
        generator.get_submodule("masked_lm.decoder").weight = shared.token.weight

    @classmethod
    def from_config(
        cls, config: ElectraConfig, task_config: TaskConfig | None = None, share: float = GENERATOR_SHARE
    ) -> Self:
        """A new pair, its generator a share of the discriminator's width."""
        generator = MaskedLM(generator_config(config, share))
        return cls(ElectraForPreTraining(config), generator)  # whose embeddings are drawn last

    def depth(self, name: str) -> int:
        """As the model says that the weight is in."""
        part, _, inside = name.partition(".")
        return getattr(self, part).depth(inside)

    def identity(self) -> dict[str, Any]:
        """The discriminator's, and the generator's config."""
        return {**super().identity(), GENERATOR: asdict(self.generator.config)}

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, labels: Tensor, sample_at: Tensor
    ) -> PairOutput:
        """All [B, T]. input_ids are masked, labels hold the right ids where a token was chosen and -100 elsewhere,
        sample_at numbers from 0 to 1 that decide which words are sampled.
        """
        chosen = labels != IGNORED
        guessed = self.generator(input_ids, attention_mask, token_type_ids, masked_positions=chosen).prediction_logits
        text = torch.where(chosen, labels, input_ids)
        # All chosen tokens are sampled, also those that the generator saw unmasked.
        seen = text.masked_scatter(chosen, sample_tokens(guessed, sample_at[chosen]))
        detected = self.discriminator(seen, attention_mask, token_type_ids).logits
        # Not `chosen`: where the generator guessed right, nothing was replaced.
        return PairOutput(guessed, labels[chosen], seen, seen != text, detected, attention_mask.bool())

    @classmethod
    def from_pretrained(cls, name: str | Path, trained: Trained | None = None, **changes: Any) -> Self:
        """Load what save_pretrained wrote. Raises UserError where the generator is missing, or is that of another."""
        folder = find_folder(name)
        if not (folder / GENERATOR).is_dir():
            raise UserError(
                f"{folder} has no folder {GENERATOR}/, and ELECTRA is trained with its generator: give the folder of "
                "a run that was pre-trained here with replaced tokens."
            )
        discriminator = ElectraForPreTraining.from_pretrained(folder, trained, **changes)
        generator = MaskedLM.from_pretrained(folder / GENERATOR, trained, **changes)
        for part in SHARED:
            ours, theirs = (getattr(embeddings_of(model), part) for model in (discriminator, generator))
            if not torch.equal(ours.weight, theirs.weight):
                raise UserError(
                    f"{folder / GENERATOR}: its embeddings are not those of the discriminator in {folder}, and the two "
                    "share them: give a pair that was trained together."
                )
        return cls(discriminator, generator).eval()

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the discriminator, and the generator into the folder beside its files. Each opens by itself."""
        self.generator.save_pretrained(Path(folder) / GENERATOR)
        self.discriminator.save_pretrained(folder)
