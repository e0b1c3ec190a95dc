"""What came before BERT: word2vec, GloVe, fastText, ELMo, GPT and a BERT of their size, asked the same questions.

Run: python benchmarks/before.py --state FOLDER [--seeds 3] [--seconds 60] [--models …] [--table]

All read the same text for the same seconds of processor time on one thread: each different sentence of the small world
once, and 6,000 sentences whose verb agrees with a noun, with none, one or two other nouns between. Whole words are the
tokens of all of them. Vectors have 64 entries; ELMo has two LSTMs of two layers, GPT and BERT two layers. The matrices
of these three are trained with Muon, all else with AdamW. BERT is pre-trained as in the package's short runs: it
starts ready to match words, and 30 % of the words are masked. Each model's learning rate has the lowest loss of its own
on held-out sentences, in tries of a fifth of the seconds, each rate twice the one before.

- neighbours: of the five nearest words, those that share a column of the world's tables with the word.
- senses: of a word with two senses, in unseen templates, told by the nearest mean of sentences whose sense is known.
- agreement: is the verb that agrees preferred, when all nouns between have the other number, and training never
  showed the first of them with this subject? Three nouns between are more than training shows.
- facts, words: the right word has the highest score of all words; facts in unseen templates, words in held-out
  sentences. word2vec, GloVe, fastText score a word by the ten words around it, GPT by those on the left ("whole
  sentence": its 50 best, each tried in the sentence), ELMo by both sides apart, BERT by both at once.
- topics, judged agreement: a logistic regression on the means of the frozen vectors of each layer, from five sentences
  of each of 14 topics, or 1,000 sentences whose verb agrees or not.
- unseen words: fastText alone has vectors for them. Plurals that training never shows: is the singular the nearest
  word, and do the next five share a column of the tables with it?

--state holds what is finished (one JSON file a run), so that a run that was stopped goes on. Prints the table and
writes data/before/results.json. About 30 minutes of processor time.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from before_baselines import SIZE, baselines
from before_questions import (
    NEIGHBOURS,
    QUESTIONS,
    Text,
    answers,
    read,
    unseen_words,
)
from torch import Tensor, nn

from bertedu import BertConfig, BertForMaskedLM
from bertedu.before.asking import Asked, AskedBert, AskedElmo, AskedGpt, AskedWords
from bertedu.before.elmo import Elmo
from bertedu.before.fasttext import FastText
from bertedu.before.glove import Glove
from bertedu.before.gpt import Gpt, GptConfig
from bertedu.before.training import (
    bert_losses,
    elmo_losses,
    glove_losses,
    gpt_losses,
    skipgram_losses,
    train,
)
from bertedu.before.word2vec import SkipGram
from bertedu.before.words import flat
from bertedu.files import read_json, write_json
from bertedu.pretraining.initialization import initialize_for_matching

MODELS = ("word2vec", "GloVe", "fastText", "ELMo", "GPT", "BERT")
LAYERS, HEADS, LONGEST = 2, 2, 32
RATES = (4e-3, 8e-3, 1.6e-2, 3.2e-2)
WORD_RATES = (1e-2, 2e-2, 4e-2)  # for one vector a word: each is in few batches
SEARCH_SEED, SEARCH_SHARE = 100, 1 / 5
RESULTS = Path(__file__).resolve().parents[1] / "data" / "before" / "results.json"


def new_model(name: str, text: Text) -> nn.Module:
    """An untrained model."""
    size = len(text.tokenizer)
    kept = {"vocab_size": size, "hidden_size": SIZE, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "intermediate_size": 4 * SIZE, "max_position_embeddings": LONGEST,
            "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # fmt: skip
    words = text.tokenizer.convert_ids_to_tokens(list(range(size)))
    makers: dict[str, Callable[[], nn.Module]] = {
        "word2vec": lambda: SkipGram(size, SIZE),
        "GloVe": lambda: Glove(size, SIZE),
        "fastText": lambda: FastText(words, SIZE),
        "ELMo": lambda: Elmo(size, SIZE, LAYERS),
        "GPT": lambda: Gpt(GptConfig(**kept)),
        "BERT": lambda: BertForMaskedLM(BertConfig(**kept)),
    }
    model = makers[name]()
    if isinstance(model, BertForMaskedLM):
        initialize_for_matching(model, text.counts)  # as `bertedu pretrain` does
    return model


def losses(name: str, model: Any, text: Text, generator: torch.Generator) -> Iterator[Tensor]:
    """What the model is trained on."""
    if name in ("word2vec", "fastText"):
        return skipgram_losses(model, text.words, text.numbers, generator)
    if name == "GloVe":
        return glove_losses(model, text.words, text.numbers, generator)
    return {"ELMo": elmo_losses, "GPT": gpt_losses, "BERT": bert_losses}[name](model, text.ids, generator)


def asked(name: str, model: Any, text: Text) -> Asked:
    """The model, ready for questions."""
    if name == "ELMo":
        return AskedElmo(model, text.counts)
    if name in ("GPT", "BERT"):
        return AskedGpt(model) if name == "GPT" else AskedBert(model)
    return AskedWords(model, text.counts)


def trained(name: str, text: Text, seed: int, rate: float, seconds: float) -> tuple[nn.Module, int]:
    """A model after so many seconds, and how many steps it made."""
    torch.manual_seed(seed)
    model = new_model(name, text)
    steps = train(model, losses(name, model, text, torch.Generator().manual_seed(seed)), rate, seconds=seconds)
    return model, steps


@torch.no_grad()
def held_out_loss(name: str, model: nn.Module, text: Text) -> float:
    """The model's own loss on the validation sentences, over fifty batches.

    GloVe's is on the text itself: the counts of fewer sentences are smaller, and that is all its loss would say.
    """
    if name == "GloVe":
        found = losses(name, model, text, torch.Generator().manual_seed(0))
        return sum(next(found).item() for _ in range(50)) / 50
    sentences = sorted({s for document in text.corpus.validation for s in document.sentences})
    words, numbers = flat(sentences, text.tokenizer)
    held_out = Text(text.corpus, text.tokenizer, sentences, words, numbers,
                    text.tokenizer(sentences).input_ids, text.counts)  # fmt: skip
    found = losses(name, model, held_out, torch.Generator().manual_seed(0))
    return sum(next(found).item() for _ in range(50)) / 50


def best_rate(name: str, text: Text, seconds: float, state: Path) -> dict[str, Any]:
    """The learning rate with the lowest loss on held-out sentences; more while it is at an end."""
    tried: dict[float, float] = {}
    rates = list(RATES if name in ("ELMo", "GPT", "BERT") else WORD_RATES)
    while rates:
        for rate in rates:
            tried[rate] = unit(state / f"try_{name}_{rate}.json", lambda rate=rate: round(
                held_out_loss(name, trained(name, text, SEARCH_SEED, rate, seconds)[0], text), 4))  # fmt: skip
        best = min(tried, key=lambda rate: tried[rate])
        rates = [rate for rate in (best / 2, best * 2) if rate < min(tried) or rate > max(tried)]
    return {"rate": best, "tried": {str(rate): tried[rate] for rate in sorted(tried)}}


def run(name: str, text: Text, seed: int, rate: float, seconds: float) -> dict[str, Any]:
    """One model of one seed: trained and asked."""
    start = time.process_time()
    model, steps = trained(name, text, seed, rate, seconds)
    used = time.process_time() - start
    ready = asked(name, model, text)
    found = answers(text, ready, ready.gap, seed)
    if isinstance(model, FastText):
        found |= unseen_words(text, model.vector, model.word_vectors())
    weights = sum(parameter.numel() for parameter in model.parameters())
    return {"model": name, "seed": seed, "rate": rate, "steps": steps, "seconds": round(used, 1),
            "parameters": weights, "answers": found}  # fmt: skip


# The comparison -----------------------------------------------------------------------------------------------------


def unit(path: Path, find: Callable[[], Any]) -> Any:
    """What was found before, or is found now and kept."""
    if not path.exists():
        write_json(path, find())
        print(f"{path.stem}: {read_json(path)}", flush=True)
    return read_json(path)


def table(runs: list[dict[str, Any]], simple: dict[str, dict[str, float]]) -> str:
    """A row for each question, a column for each model and baseline: means over the seeds, lowest to highest below."""
    names = [name for name in MODELS if any(one["model"] == name for one in runs)]
    questions = list(dict.fromkeys(q for one in runs for q in one["answers"]))
    lines = ["| | " + " | ".join([*names, *simple]) + " |", "|---" * (1 + len(names) + len(simple)) + "|"]
    for question in questions:
        cells = []
        for name in names:
            found = [100 * one["answers"][question] for one in runs
                     if one["model"] == name and question in one["answers"]]  # fmt: skip
            cells.append(f"{np.mean(found):.1f} ({min(found):.1f}–{max(found):.1f})" if found else "")
        cells += [f"{100 * one[question]:.1f}" if question in one else "" for one in simple.values()]
        lines.append(f"| {question} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--table", action="store_true", help="compute nothing: print and write what is there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.state.mkdir(parents=True, exist_ok=True)
    text = None if options.table else read()
    if text is not None:
        about = {"sentences": len(text.sentences), "words": len(text.words), "vocabulary": len(text.tokenizer),
                 "seconds": options.seconds, "questions of agreement": QUESTIONS, "neighbours": NEIGHBOURS,
                 "size": SIZE, "layers": LAYERS}  # fmt: skip
        unit(options.state / "about.json", lambda: about)
        unit(options.state / "baselines.json", lambda: baselines(text, options.seeds))
        for name in options.models:
            unit(
                options.state / f"rate_{name}.json",
                lambda name=name: best_rate(name, text, options.seconds * SEARCH_SHARE, options.state),
            )
        for seed in range(options.seeds):
            for name in options.models:
                rate = read_json(options.state / f"rate_{name}.json")["rate"]
                unit(options.state / f"run_{name}_{seed}.json", lambda name=name, seed=seed, rate=rate: run(
                    name, text, seed, rate, options.seconds))  # fmt: skip
    runs = [read_json(path) for path in sorted(options.state.glob("run_*.json"))]
    rates = {path.stem.removeprefix("rate_"): read_json(path) for path in sorted(options.state.glob("rate_*.json"))}
    simple = read_json(options.state / "baselines.json")
    runs.sort(key=lambda one: (MODELS.index(one["model"]), one["seed"]))
    print(table(runs, simple))
    write_json(RESULTS, {"about": "benchmarks/before.py", **read_json(options.state / "about.json"),
                         "rates": rates, "baselines": simple, "runs": runs})  # fmt: skip


if __name__ == "__main__":
    main()
