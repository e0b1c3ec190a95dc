"""Five ways to learn from replaced or masked words, measured small. Run: python benchmarks/replaced_tokens.py

The arms are those of ELECTRA's table 5 (Clark et al. 2020, section 3.5). Each trains the same encoder of two layers,
with the same initialization, on the sentences about countries of the small world: 15 % of the words are chosen.

- untrained: no step of training at all.
- BERT: [MASK] for 80 % of them, a random word for 10 %; the loss asks for the chosen words.
- Replace MLM: a small generator's samples stand there instead; the loss asks for the chosen words.
- All-Tokens MLM: the same, and the loss asks for every word, with a gate that copies the word that is there.
- ELECTRA 15 %: is this word replaced? The loss asks at the chosen words.
- ELECTRA: the same, and the loss asks at every token.

After so many steps, on sentences that the model never saw: *features*, the accuracy of a linear classifier on the
frozen vectors of the last layer, the one of `masking_ablation.py`. `seconds` is the processor time of the training.

Prints a table and writes data/ablations/replaced_tokens.json, which notebook 17 draws. Five minutes of processor time.
Options: --seeds 0 1, --steps 600, --arms BERT ELECTRA, --output FILE.
"""

import argparse
import time
from pathlib import Path

import torch
from masking_ablation import BATCH, LEARNING_RATE, RATE, feature_probe, sentences
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from bertedu import BertTokenizer
from bertedu.corpora.world import world_corpus
from bertedu.family.electra import ElectraConfig
from bertedu.family.electra_pair import DETECTION_WEIGHT, GeneratorAndDiscriminator
from bertedu.files import write_json
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.initialization import initialize_for_matching
from bertedu.pretraining.masking import apply_masks, draw
from bertedu.training.optimization import rate_factor

ARMS = ("untrained", "BERT", "Replace MLM", "All-Tokens MLM", "ELECTRA 15 %", "ELECTRA")


def new_pair(tokenizer: BertTokenizer, counts: Tensor, seed: int) -> GeneratorAndDiscriminator:
    """Generator and discriminator, both ready to match words."""
    torch.manual_seed(seed)
    config = ElectraConfig.preset("tiny", vocab_size=len(tokenizer), hidden_size=64, intermediate_size=256,
                                  hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    pair = GeneratorAndDiscriminator.from_config(config)
    for part in (pair.generator, pair.discriminator):
        initialize_for_matching(part, counts)
    return pair


class Learner(nn.Module):
    """One arm: the pair, of which BERT uses the discriminator's encoder alone, and a masked-word head on it."""

    def __init__(self, arm: str, pair: GeneratorAndDiscriminator):
        super().__init__()
        self.arm, self.pair = arm, pair
        self.encoder = pair.discriminator.encoder
        fresh = MaskedLM(pair.config)
        self.words = fresh.masked_lm
        self.words.decoder.weight = self.encoder.embeddings.token.weight
        with torch.no_grad():
            self.words.decoder.bias.copy_(pair.generator.masked_lm.decoder.bias)

    def trained(self) -> list[nn.Parameter]:
        """The weights that this arm trains."""
        parts = {"BERT": [self.encoder, self.words], "ELECTRA": [self.pair], "ELECTRA 15 %": [self.pair]}
        return list(nn.ModuleList(parts.get(self.arm, [self.pair, self.words])).parameters())

    def loss(self, ids: Tensor, mask: Tensor, chosen: Tensor, masked: Tensor, at: Tensor) -> Tensor:
        """The arm's loss for a batch, all [B, T]: the text, no padding, chosen words, masked text, random numbers."""
        labels, kinds = ids.masked_fill(~chosen, IGNORED), torch.zeros_like(ids)
        if self.arm == "BERT":
            vectors = self.encoder(masked, mask, kinds).last_hidden_state[chosen]
            return cross_entropy(self.words(vectors), ids[chosen])
        output = self.pair(masked, mask, kinds, labels, at)
        generator = cross_entropy(output.prediction_logits, ids[chosen])
        if self.arm.startswith("ELECTRA"):
            where = mask.bool() if self.arm == "ELECTRA" else chosen
            told = binary_cross_entropy_with_logits(output.detector_logits[where], output.replaced[where].float())
            return generator + DETECTION_WEIGHT * told
        where = chosen if self.arm == "Replace MLM" else mask.bool()
        vectors = self.encoder(output.seen, mask, kinds).last_hidden_state[where]
        scores = self.words(vectors).log_softmax(dim=-1).gather(1, ids[where][:, None]).squeeze(1)
        if self.arm == "Replace MLM":
            return generator - scores.mean()
        gate = self.pair.discriminator.detector(vectors)  # above 0: not copied
        kept = nn.functional.logsigmoid(-gate).masked_fill(output.replaced[where], -torch.inf)
        return generator - torch.logaddexp(kept, nn.functional.logsigmoid(gate) + scores).mean()


def train(arm: str, ids: Tensor, tokenizer: BertTokenizer, steps: int, seed: int) -> Learner:
    """A new model after so many steps."""
    learner = Learner(arm, new_pair(tokenizer, torch.bincount(ids.flatten(), minlength=len(tokenizer)), seed))
    optimizer = torch.optim.AdamW(learner.trained(), betas=(0.9, 0.98), weight_decay=0.01)
    generator = torch.Generator().manual_seed(seed)
    shares = (0.8, 0.1) if arm == "BERT" else (0.85, 0.0)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * rate_factor(step / steps, warmup=0.06)
        batch = ids[torch.randint(len(ids), (BATCH,), generator=generator)]
        batch = batch[:, : int((batch != tokenizer.pad_token_id).sum(dim=1).max())]
        draws = draw(batch.shape, len(tokenizer), generator)
        words, rest = batch > tokenizer.mask_token_id, dict(zip(("mask_share", "random_share"), shares, strict=True))
        masked, labels = apply_masks(batch, words, RATE, tokenizer.mask_token_id, draws, special_tokens=2, **rest)
        chosen = labels != IGNORED
        at = torch.rand(batch.shape, generator=generator)
        optimizer.zero_grad()
        learner.loss(batch, (batch != tokenizer.pad_token_id).long(), chosen, masked, at).backward()
        optimizer.step()
    return learner.eval()


class AsBert:
    """The encoder under the name by which the probe asks for it."""

    def __init__(self, encoder: nn.Module):
        self.bert = encoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--arms", nargs="+", default=ARMS)
    parser.add_argument("--output", type=Path, default=Path("data/ablations/replaced_tokens.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus, runs = world_corpus(), []
    learned, new = sentences(corpus.train), sentences(corpus.heldout["held-out documents"])
    tokenizer = BertTokenizer.train(learned, vocab_size=600)
    ids = tokenizer(learned).input_ids
    for seed in options.seeds:
        for arm in options.arms:
            start = time.process_time()
            learner = train(arm, ids, tokenizer, 0 if arm == "untrained" else options.steps, seed)
            seconds = time.process_time() - start
            probe = feature_probe(AsBert(learner.encoder), new, tokenizer)
            runs.append({"arm": arm, "seed": seed, "features": round(probe, 3), "seconds": round(seconds, 1)})
            print("  ".join(f"{name} {value}" for name, value in runs[-1].items()), flush=True)
            write_json(options.output, {"sentences": len(learned), "steps": options.steps, "runs": runs})


if __name__ == "__main__":
    main()
