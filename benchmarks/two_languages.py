"""What word overlap and word order do to transfer between languages, measured small.
Run: python benchmarks/two_languages.py

For each second language and each seed, a BERT of two layers learns from 6,000 sentences of the small world in English
and 6,000 in the second language (`bertedu/corpora/second_language.py`), none of them translated: 600 steps of 64
sentences. "English alone" gets 300 steps, so that it sees as much English; "English alone, all steps" gets 600. Then:

- topic: a linear classifier on the mean of the last hidden states, trained on 1,000 English sentences and their topics,
  names the topic of 500 new ones in English, and of 500 in the other language, of which it saw no label;
  the latter once more after the mean vector of each language is subtracted, for which no labels are needed;
- translation: the share of the words whose mean hidden state has that of its translation as its nearest neighbour;
- masked: the share of masked English words that are predicted.

Prints a table and writes data/comparisons/languages.json, which notebook 20 draws. Ten minutes of processor time.
Options: --seeds 0 1, --steps 600, --output FILE.
"""

import argparse
from pathlib import Path

import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn.functional import normalize

from bertedu import BertConfig, BertForMaskedLM, BertTokenizer
from bertedu.corpora.second_language import ENGLISH, NAMES_AND_NUMBERS, Language, telling
from bertedu.files import write_json
from bertedu.pretraining.masking import mask_tokens
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.optimization import build_optimizer, rate_factor

OTHER_ORDER = {"verb_last": True, "adjective_after": True, "postpositions": True}
SECOND = {
    "own words, English order": Language(own_words=True),
    "names and numbers shared, English order": Language(own_words=True, shared=NAMES_AND_NUMBERS),
    "own words, own order": Language(own_words=True, **OTHER_ORDER),
    "names and numbers shared, own order": Language(own_words=True, shared=NAMES_AND_NUMBERS, **OTHER_ORDER),
    "English alone": Language(own_words=True),
    "English alone, all steps": Language(own_words=True),
}
TRAIN, TEST, LABELLED, BATCH, LEARNING_RATE, RATE = 6000, 500, 1000, 64, 2e-3, 0.15


def whole_words(*languages: Language) -> BertTokenizer:
    """A vocabulary in which each word of the languages is one token."""
    words = dict.fromkeys(word for language in languages for word in language.words.values())
    return BertTokenizer([*SPECIAL_TOKENS, *words], lowercase=False)


def pretrain(texts: list[str], tokenizer: BertTokenizer, steps: int, seed: int) -> BertForMaskedLM:
    """Masked language modelling for so many steps."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = BertForMaskedLM(model_config(tokenizer))
    optimizer = build_optimizer(model, LEARNING_RATE, weight_decay=0.01, betas=(0.9, 0.999))
    ids = tokenizer(texts).input_ids
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * rate_factor(step / steps, warmup=0.1)
        batch = ids[torch.randint(len(ids), (BATCH,), generator=generator)]
        seen, labels = mask(batch, tokenizer, generator)
        loss = model(seen, (batch != tokenizer.pad_token_id).long(), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def model_config(tokenizer: BertTokenizer) -> BertConfig:
    """Two layers of 64."""
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 256}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertConfig(vocab_size=len(tokenizer), max_position_embeddings=24, **sizes, **dropout)


def mask(ids: Tensor, tokenizer: BertTokenizer, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """What the model sees and the labels, [B, T]."""
    candidates = ids > tokenizer.mask_token_id
    return mask_tokens(ids, candidates, RATE, tokenizer.mask_token_id, len(tokenizer), generator, special_tokens=2)


@torch.no_grad()
def hidden_states(model: BertForMaskedLM, tokenizer: BertTokenizer, texts: list[str]) -> tuple[Tensor, list[Tensor]]:
    """Ids [B, T], and for the embeddings and each layer the hidden states [B, T, D]."""
    encoding = tokenizer(texts)
    output = model.bert(encoding.input_ids, encoding.attention_mask, output_hidden_states=True)
    return encoding.input_ids, list(output.hidden_states)


def sentence_vectors(ids: Tensor, states: Tensor) -> Tensor:
    """The mean over the words, [B, D]."""
    words = (ids > 4).unsqueeze(-1)  # the five special tokens have the first ids
    return (states * words).sum(dim=1) / words.sum(dim=1)


def word_vectors(ids: Tensor, states: Tensor, vocab_size: int) -> Tensor:
    """For each token the mean over its occurrences, [V, D]."""
    sums = torch.zeros(vocab_size, states.size(-1)).index_add(0, ids.flatten(), states.flatten(0, 1))
    return sums / torch.bincount(ids.flatten(), minlength=vocab_size).clamp_min(1).unsqueeze(-1)


def topic_accuracy(model, tokenizer, second: Language, seed: int) -> list[list[float]]:
    """Per layer the accuracy in English, in the second language, and there with the languages' means subtracted."""
    train, train_topics = telling(ENGLISH, LABELLED, f"labelled {seed}")
    tests = [telling(ENGLISH, TEST, f"test {seed} English"), telling(second, TEST, f"test {seed} second")]
    unlabelled = telling(second, LABELLED, f"unlabelled {seed}")[0]
    vectors = [layer_vectors(model, tokenizer, texts) for texts in (train, tests[0][0], tests[1][0], unlabelled)]
    per_layer = []
    for known, english, other, mean_of in zip(*vectors, strict=True):
        plain = LogisticRegression(max_iter=1000).fit(known, train_topics)
        centred = LogisticRegression(max_iter=1000).fit(known - known.mean(dim=0), train_topics)
        scores = [plain.score(english, tests[0][1]), plain.score(other, tests[1][1])]
        scores.append(centred.score(other - mean_of.mean(dim=0), tests[1][1]))
        per_layer.append([round(float(score), 3) for score in scores])
    return per_layer


def layer_vectors(model: BertForMaskedLM, tokenizer: BertTokenizer, texts: list[str]) -> list[Tensor]:
    """For the embeddings and each layer the vectors of the sentences, [B, D]."""
    ids, states = hidden_states(model, tokenizer, texts)
    return [sentence_vectors(ids, layer) for layer in states]


def translation_accuracy(model, tokenizer, second: Language, seed: int) -> list[float]:
    """Per layer the share of words whose nearest neighbour among the second language's words is their translation."""
    pairs = [(word, other) for word, other in second.words.items() if word != other]
    one, other = (torch.tensor(tokenizer.convert_tokens_to_ids(list(words))) for words in zip(*pairs, strict=True))
    (ids, states), (other_ids, other_states) = (
        hidden_states(model, tokenizer, telling(language, 2 * LABELLED, f"words {seed} {name}")[0])
        for name, language in (("English", ENGLISH), ("second", second))
    )
    shares = []
    for layer, other_layer in zip(states, other_states, strict=True):
        vectors = word_vectors(ids, layer, len(tokenizer))[one]  # [N, D]
        others = word_vectors(other_ids, other_layer, len(tokenizer))[other]
        cosines = normalize(vectors - vectors.mean(dim=0), dim=-1) @ normalize(others - others.mean(dim=0), dim=-1).T
        shares.append(round((cosines.argmax(dim=1) == torch.arange(len(pairs))).double().mean().item(), 3))
    return shares


@torch.no_grad()
def masked_accuracy(model, tokenizer, seed: int) -> float:
    """The share of masked English words that the model predicts."""
    ids = tokenizer(telling(ENGLISH, 2 * LABELLED, f"masked {seed}")[0]).input_ids
    seen, labels = mask(ids, tokenizer, torch.Generator().manual_seed(seed))
    logits = model(seen, (ids != tokenizer.pad_token_id).long(), labels=labels).prediction_logits
    hidden = seen[labels >= 0] == tokenizer.mask_token_id
    right = logits.argmax(dim=-1) == labels[labels >= 0]
    return round(right[hidden].double().mean().item(), 3)


def run(name: str, seed: int, steps: int) -> dict:
    """One training and its measurements."""
    second, alone, half = SECOND[name], name.startswith("English alone"), name == "English alone"
    tokenizer = whole_words(ENGLISH, second)
    texts = telling(ENGLISH, TRAIN, f"train {seed} English")[0]
    texts += [] if alone else telling(second, TRAIN, f"train {seed} second")[0]
    model = pretrain(texts, tokenizer, steps // 2 if half else steps, seed)
    return {
        "languages": name,
        "seed": seed,
        "topic": topic_accuracy(model, tokenizer, second, seed),
        "translation": translation_accuracy(model, tokenizer, second, seed),
        "masked": masked_accuracy(model, tokenizer, seed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--languages", nargs="+", default=list(SECOND), choices=list(SECOND))
    parser.add_argument("--output", type=Path, default=Path("data/comparisons/languages.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = []
    for seed in options.seeds:
        for name in options.languages:
            runs.append(run(name, seed, options.steps))
            topic, translation = runs[-1]["topic"], runs[-1]["translation"]
            print(f"{name:40} seed {seed}  topic by layer {topic}  words {translation}  masked {runs[-1]['masked']}")
    about = "benchmarks/two_languages.py: topic is [English, second language, second language centred] by layer"
    write_json(options.output, {"about": about, "steps": options.steps, "runs": runs})


if __name__ == "__main__":
    main()
