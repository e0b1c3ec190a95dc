"""What [MASK], random words and kept words each buy, measured small. Run: python benchmarks/masking_ablation.py

For each way of treating the chosen words (shares of [MASK], kept and random words) and each seed, a BERT of two
layers learns from the sentences about countries of the small world: 600 steps of 64 sentences, 15 % of the words
chosen. Nothing differs but the treatment. Then, on sentences that it never saw:

- hidden, shown, replaced: how often the first guess of the masked-word head is right at a chosen word that is hidden
  behind [MASK], stands there as it is, or was replaced by a random word;
- features: the frozen vectors of the last layer at words that nothing was done to, as input of a linear classifier
  that says whether a word is a country, a capital, a language, a currency or none of these. It learns from sentences
  about one half of the countries and is tested on words of the other half: the words themselves are new to it. This
  is the feature-based use of BERT, in small.

Prints a table and writes data/ablations/masking.json, which notebook 06 draws. Two minutes of processor time.
Options: --seeds 0 1, --steps 600, --output FILE.
"""

import argparse
import re
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from bertedu import BertConfig, BertForPreTraining, BertTokenizer
from bertedu.corpora.documents import Document
from bertedu.corpora.world import world_corpus
from bertedu.corpora.world.facts import kinds
from bertedu.files import write_json
from bertedu.model.heads import IGNORED
from bertedu.pretraining.initialization import initialize_for_matching
from bertedu.pretraining.masking import choose_tokens
from bertedu.training.optimization import rate_factor

ARMS = {"80/10/10": (0.8, 0.1, 0.1), "100/0/0": (1, 0, 0), "80/20/0": (0.8, 0.2, 0), "80/0/20": (0.8, 0, 0.2),
        "0/0/100": (0, 0, 1)}  # fmt: skip
RATE, BATCH, LEARNING_RATE = 0.15, 64, 3e-3
Shares = tuple[float, float, float]


def sentences(documents: list[Document]) -> list[str]:
    """All different sentences about countries, in the order of the alphabet."""
    return sorted(
        {sentence for document in documents if document.source == "country" for sentence in document.sentences}
    )


def corrupt(ids: Tensor, tokenizer: BertTokenizer, shares: Shares, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """As `mask_tokens`, with any shares of [MASK], kept and random words: what is seen and the labels, [B, T]."""
    candidates = ids > tokenizer.mask_token_id
    number = ((candidates.sum(dim=1) + 3).double() * RATE).round().long().clamp_min(1)
    chosen = choose_tokens(candidates, number, generator)
    fate = torch.rand(ids.shape, generator=generator)
    random_ids = torch.randint(len(tokenizer), ids.shape, generator=generator)
    seen = torch.where(chosen & (fate < shares[0]), tokenizer.mask_token_id, ids)
    seen = torch.where(chosen & (fate >= shares[0] + shares[1]), random_ids, seen)
    return seen, ids.masked_fill(~chosen, IGNORED)


def train(ids: Tensor, tokenizer: BertTokenizer, shares: Shares, steps: int, seed: int) -> BertForPreTraining:
    """A new model after so many steps; the next-sentence head is not used."""
    torch.manual_seed(seed)
    config = BertConfig.preset("tiny", vocab_size=len(tokenizer), hidden_size=64, intermediate_size=256,
                               hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    model = BertForPreTraining(config)
    initialize_for_matching(model, torch.bincount(ids.flatten(), minlength=len(tokenizer)))
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * rate_factor(step / steps, warmup=0.06)
        batch = ids[torch.randint(len(ids), (BATCH,), generator=generator)]
        batch = batch[:, : int((batch != tokenizer.pad_token_id).sum(dim=1).max())]
        seen, labels = corrupt(batch, tokenizer, shares, generator)
        optimizer.zero_grad()
        model(seen, (batch != tokenizer.pad_token_id).long(), labels=labels).loss.backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def right_guesses(model: BertForPreTraining, ids: Tensor, tokenizer: BertTokenizer, shares: Shares) -> float:
    """How often the first guess is right where all chosen words were treated alike; mean of four draws."""
    hits = total = 0
    for draw in range(4):
        seen, labels = corrupt(ids, tokenizer, shares, torch.Generator().manual_seed(draw))
        if shares[2] == 1:  # where the random word happens to be the right one, nothing was replaced
            labels = labels.masked_fill(seen == labels, IGNORED)
        guesses = model(seen, (ids != tokenizer.pad_token_id).long(), labels=labels).prediction_logits.argmax(dim=-1)
        hits += int((guesses == labels[labels != IGNORED]).sum())
        total += len(guesses)
    return hits / total


def word_kinds() -> tuple[dict[str, str], set[str]]:
    """Word to kind (country, capital, language, currency), and the words that belong to every second country."""
    (country,) = (kind for kind in kinds() if kind.name == "country")
    columns = ("country", "capital", "language", "currency")
    table = {row[column].lower(): column for row in country.rows for column in columns if column in row}
    return table, {row[column].lower() for row in country.rows[::2] for column in columns if column in row}


@torch.no_grad()
def features(
    model: BertForPreTraining, texts: list[str], tokenizer: BertTokenizer
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of the last layer [N, D] of all words of whole texts, their kinds [N], and whether each is familiar."""
    table, familiar_words = word_kinds()
    vectors, tags, familiar = [], [], []
    for text in texts:
        words = re.findall(r"\w+|[^\w\s]", text.lower())
        pieces = [len(tokenizer.tokenize(word)) for word in words]
        hidden = model.bert(tokenizer(text).input_ids).last_hidden_state[0, 1:-1]  # [T, D] without [CLS] and [SEP]
        assert len(hidden) == sum(pieces)
        vectors.append(hidden)
        for word, count in zip(words, pieces, strict=True):
            tags += [table.get(word, "none")] * count
            familiar += [word in familiar_words] * count
    return torch.cat(vectors).double().numpy(), np.array(tags), np.array(familiar)


def feature_probe(model: BertForPreTraining, texts: list[str], tokenizer: BertTokenizer) -> float:
    """Mean accuracy over the four kinds, on words that the classifier has not seen."""
    vectors, tags, familiar = features(model, texts, tokenizer)
    learn, test = familiar | (tags == "none"), ~familiar & (tags != "none")
    probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500)).fit(vectors[learn], tags[learn])
    right = probe.predict(vectors[test]) == tags[test]
    return float(np.mean([right[tags[test] == kind].mean() for kind in np.unique(tags[test])]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--output", type=Path, default=Path("data/ablations/masking.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus, runs = world_corpus(), []
    learned, new = sentences(corpus.train), sentences(corpus.heldout["held-out documents"])
    tokenizer = BertTokenizer.train(learned, vocab_size=600)
    ids, new_ids = tokenizer(learned).input_ids, tokenizer(new).input_ids
    for seed in options.seeds:
        for arm, shares in ARMS.items():
            model = train(ids, tokenizer, shares, options.steps, seed)
            asked = {"hidden": (1, 0, 0), "shown": (0, 1, 0), "replaced": (0, 0, 1)}
            result = {name: right_guesses(model, new_ids, tokenizer, fate) for name, fate in asked.items()}
            result["features"] = feature_probe(model, new, tokenizer)
            runs.append({"shares": arm, "seed": seed, **{name: round(value, 3) for name, value in result.items()}})
            print("  ".join(f"{name} {value}" for name, value in runs[-1].items()), flush=True)
            about = {"sentences": len(learned), "steps": options.steps, "corpus": "world, countries"}
            write_json(options.output, {**about, "runs": runs})


if __name__ == "__main__":
    main()
