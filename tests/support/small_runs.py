"""A BERT with random weights, small enough for any test, and the folder of a run that could have made it."""

import json
from pathlib import Path

import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.model import BertForMaskedLM, BertForPreTraining
from bertedu.tokenization import BertTokenizer

WORDS = "the a cat dog sat on mat list of capital is france paris people speak french function returns . , he she 日"
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split(), "##s", "##ed"]
POSITIONS = 40
LABELS = ("no", "yes", "<b>perhaps</b>")  # which a page must show as text


def small_model(kind=BertForPreTraining, labels=(), **changes) -> BertForPreTraining | BertForMaskedLM:
    """Two layers of two heads, hidden size 16, the same random weights each time."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(**{"vocab_size": len(VOCAB), "max_position_embeddings": POSITIONS, **sizes, **changes})
    torch.manual_seed(0)
    return kind.from_config(config, TaskConfig(labels)).eval()


def small_tokenizer() -> BertTokenizer:
    return BertTokenizer(VOCAB)


def save_model(folder: Path, **changes) -> Path:
    small_model(**changes).save_pretrained(folder)
    small_tokenizer().save_pretrained(folder)
    return folder


def save_classifier(folder: Path) -> Path:
    """A classifier of three labels with random weights, large enough that its logits differ."""
    from bertedu.finetuning.classification import TextClassifier

    small_model(TextClassifier, LABELS, initializer_range=0.4).save_pretrained(folder)
    small_tokenizer().save_pretrained(folder, POSITIONS)
    return folder


def evaluation(accuracy: float = 0.4) -> dict:
    """What metrics.json says: n-gram and word overlap stand between 0.3 and 0.6."""
    return {
        "held-out documents": {
            "masked_words": 1000,
            "mlm_accuracy": accuracy,
            "perplexity": 27.0,
            "pairs": 200,
            "nsp_accuracy": 0.7,
            "nsp_accuracy_same_source": 0.6,
            "baselines": {
                "most frequent token": {"mlm_accuracy": 0.1},
                "unigram": {"mlm_accuracy": 0.15, "perplexity": 350.0},
                "n-gram, both sides": {"mlm_accuracy": 0.35, "perplexity": 100.0},
                "word overlap": {"nsp_accuracy": 0.84},
            },
        },
        "facts": {"probes": 300, "accuracy": 0.95, "n-gram": 0.2},
        "senses": {"bank": {"accuracy": 0.9, "bag of words": 0.8}, "bat": {"accuracy": 0.5, "bag of words": 0.7}},
    }


def metrics(corpus: str = "world", **changes) -> dict:
    run = {"step": 100, "tokens": 60_000, "seconds": 300.0, "parameters": 5000, "device": "cpu", "threads": 1}
    values = {"corpus": corpus, "run": run, "evaluation": evaluation(), "notes": ["A note with <b>signs</b>."]}
    return {**values, **changes}


def lines() -> list[dict]:
    """metrics.jsonl as a run writes it: means of training every 50 steps, validation in between."""
    found: list[dict] = []
    for step in range(50, 501, 50):
        common = {"mlm_loss": 6 - step / 250, "mlm_accuracy": step / 1500, "nsp_loss": 0.6, "nsp_accuracy": 0.6}
        found.append({"step": step, "tokens": 900 * step, "learning_rate": 1e-3, "tokens_per_second": 20_000, **common})
        found.append({"step": step + 1, **{f"validation_{name}": value for name, value in common.items()}})
    return found


def save_run(folder: Path, corpus: str = "world", **changes) -> Path:
    """A finished run's folder."""
    from bertedu.pretraining.plan import Plan

    Plan.from_options(corpus=(corpus,), tokens=60_000, output=folder).save()
    save_model(folder / "checkpoint")
    (folder / "metrics.json").write_text(json.dumps(metrics(corpus, **changes)), encoding="utf-8")
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines()), encoding="utf-8")
    return folder
