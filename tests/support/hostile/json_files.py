"""The JSON files that a saved model and a run are made of: what is taken must be what stands there."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokenizers
import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.model import BertForMaskedLM
from bertedu.pretraining.plan import Plan
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.metrics import read_metrics
from support.hostile.oracle import WORDS, Input, altered, damaged, decoded, strange_json

MODEL_FILES = ("config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors")


def small_model(folder: Path, kind: type = BertForMaskedLM) -> Path:
    """A folder with a very small model, whole at the beginning; what it was made of lies in whole/."""
    place = folder / kind.__name__
    if not place.exists():
        torch.manual_seed(0)
        tokenizer = BertTokenizer([*SPECIAL_TOKENS, *"abcdefghij", "cat", "dog", ".", "##s"])
        config = BertConfig(len(tokenizer), 8, 1, 2, 8, max_position_embeddings=40)
        kind.from_config(config, TaskConfig()).save_pretrained(place / "whole")
        tokenizer.save_pretrained(place / "whole")
    for name in MODEL_FILES:
        (place / name).write_bytes((place / "whole" / name).read_bytes())
    return place


def config(rng: random.Random, folder: Path) -> Input:
    """config.json: what is taken is what stands there."""
    place = small_model(folder)
    values = json.loads((place / "whole/config.json").read_text())
    data, hurt = strange_json(rng, values | {"id2label": {"0": "no", "1": "yes"}})
    (place / "config.json").write_bytes(data)

    def read() -> list[Any]:
        found = BertConfig.load(place)
        there = json.loads(decoded(place / "config.json"))
        return [
            name
            for name in values
            if there.get(name) is not None and hasattr(found, name) and getattr(found, name) != there[name]
        ]

    return Input(read, list, not hurt, str(place / "config.json"))


def tokenizer_config(rng: random.Random, folder: Path) -> Input:
    """tokenizer_config.json beside a vocabulary."""
    place = small_model(folder)
    data, hurt = strange_json(rng, json.loads((place / "whole/tokenizer_config.json").read_text()))
    (place / "tokenizer_config.json").write_bytes(data)

    def simpler() -> list[Any]:
        there = json.loads(decoded(place / "tokenizer_config.json"))
        return [there.get("do_lower_case", True), there.get("strip_accents")]

    def read() -> list[Any]:
        normalization = BertTokenizer.from_pretrained(place).normalization
        return [normalization.lowercase, normalization.strip_accents]

    return Input(read, simpler, not hurt, str(place / "tokenizer_config.json"))


def tokenizer_json(rng: random.Random, folder: Path) -> Input:
    """tokenizer.json without a vocab.txt: the vocabulary and the words are those that the tokenizers library finds."""
    place = folder / "fast"
    place.mkdir(exist_ok=True)
    path = place / "tokenizer.json"
    tokens = [*SPECIAL_TOKENS, *"abcdeé", "É", "##a", "cat", "Cat", "naive", "naïve", "日", "本", "##本", "."]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    switches = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    switches["lowercase"] = rng.random() < 0.5
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    whole: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            *({"id": n, "content": token, **special} for n, token in enumerate(SPECIAL_TOKENS)),
            {"id": len(tokens), "content": "New-word", **special, "normalized": True, "special": False},
        ],
        "normalizer": {"type": "BertNormalizer", **switches},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {**model, "max_input_chars_per_word": 100, "vocab": {t: n for n, t in enumerate(tokens)}},
    }
    if rng.random() < 0.5:
        changed = altered(rng, whole)
        path.write_text(json.dumps(changed))
        hurt = json.dumps(changed) != json.dumps(whole)
    else:
        data, hurt = strange_json(rng, whole)
        path.write_bytes(data)
    text = " ".join(
        rng.choices(("Cat", "cat.", "naïve", "É", "aa", "日本", "a\u200bb", "x", "new-word", "New-words"), k=6)
    )

    def differing() -> list[Any]:
        ours = BertTokenizer.from_pretrained(place)
        try:
            theirs = tokenizers.Tokenizer.from_str(decoded(path))
        except BaseException:  # what the library refuses, or ends over, leaves the file itself to ask
            ids = json.loads(decoded(path))["model"]["vocab"]
            return [token for number, token in enumerate(ours.tokens) if ids.get(token, number) != number]
        theirs.no_truncation()
        theirs.no_padding()
        found = theirs.encode(text, add_special_tokens=False)
        return [] if ours.encode(text) == found.ids else [text, ours.tokenize(text), found.tokens]

    return Input(differing, list, not hurt, str(path))


def vocabulary(rng: random.Random, folder: Path) -> Input:
    """vocab.txt: a token a line, none lost and none made up."""
    path = folder / "vocab.txt"
    tokens = [*SPECIAL_TOKENS, *rng.sample([f"{word}{number}" for word in WORDS for number in range(3)], 9)]
    data, hurt = damaged(rng, ("\n".join(tokens) + "\n").encode())
    path.write_bytes(data)
    return Input(
        lambda: BertTokenizer.from_pretrained(path).tokens,
        lambda: decoded(path).replace("\r\n", "\n").removesuffix("\n").split("\n"),
        not hurt,
        str(path),
    )


def run_json(rng: random.Random, folder: Path) -> Input:
    """run.json of either kind of run."""
    path = folder / "run.json"
    whole = {
        "corpus": ["world"],
        "preset": "tiny",
        "vocab_size": 300,
        "mask_rates": [0.4, 0.3],
        "seed": 1,
        "minutes": 5.0,
        "steps": None,
        "betas": [0.9, 0.98],
    }
    tuned = {"task": "tagging", "model": "m", "data": "d", "seed": 0, "epochs": 2.0, "dropout": None, "crf": False}
    read, values = rng.choice(((Plan.read, whole), (FinetuningPlan.read, tuned)))
    data, hurt = strange_json(rng, values)
    path.write_bytes(data)

    def simpler() -> dict[str, Any]:
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in json.loads(decoded(path)).items()
        }

    return Input(lambda: read(folder), simpler, not hurt, str(folder))


def metrics(rng: random.Random, folder: Path) -> Input:
    """metrics.jsonl: whole lines, all of them; the last may be cut short."""
    path = folder / "metrics.jsonl"
    lines = [{"step": step, "loss": rng.random()} for step in range(rng.randint(1, 9))]
    data, hurt = damaged(rng, "".join(json.dumps(line) + "\n" for line in lines).encode())
    path.write_bytes(data)

    def simpler() -> list[dict[str, Any]]:
        *whole, last = decoded(path).split("\n")
        found = [json.loads(line) for line in whole]
        try:
            return [*found, json.loads(last)]
        except (ValueError, RecursionError):
            return found

    return Input(lambda: read_metrics(folder), simpler, not hurt, str(path))


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "config.json": config,
    "tokenizer_config.json": tokenizer_config,
    "tokenizer.json": tokenizer_json,
    "vocab.txt": vocabulary,
    "run.json": run_json,
    "metrics.jsonl": metrics,
}
