"""Does an exported graph say what the model says? On 1,000 real texts of every length, for each kind of task.

Run: python benchmarks/export.py DATASETS [--texts 1000]

The checkpoint in the box is fine-tuned for one pass over a few rows of a public set (DATASETS is the folder of the
sets), exported, and compared with its graph: the model reads a text at a time, the graph eight texts of unlike lengths
in a batch. The texts are books, cut at words to every length from one token to as many as the model reads; for a pair
or a question the first text is a hypothesis or question of the set. Then the same for int8, where what counts is how
often model and graph choose the same.
"""

import argparse
import gzip
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from finetuning import BENCHMARKS

from bertedu.finetuning.recipe import default_rate
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import ANSWERS
from bertedu.production.checking import compare
from bertedu.production.int8 import quantize
from bertedu.production.onnx_export import write_graph
from bertedu.production.questions import Question, ask
from bertedu.production.sessions import Session
from bertedu.production.uses import use_of_model
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import computes_bf16
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

CHECKPOINT = Path(__file__).resolve().parents[1] / "data" / "checkpoints" / "mixed-mini"
EXAMS = ("sentiment", "parts of speech", "inference", "answers")
ROWS = 640


def fine_tuned(name: str, datasets: Path, tokenizer: BertTokenizer) -> tuple[Any, list[str]]:
    """A model after one pass over ROWS rows, and the first texts of pairs where its task has pairs."""
    benchmark = BENCHMARKS[name]
    train, validation, test = benchmark.read(datasets)
    settings = FinetuningSettings(**{**TASKS[benchmark.kind].defaults, "max_length": 64, "batch_size": 16})
    torch.manual_seed(0)
    model, task = TASKS[benchmark.kind].make(train[:ROWS], validation[:64], tokenizer, str(CHECKPOINT), settings)
    rate = default_rate(model.config.hidden_size)
    optimizer = build_optimizer(model, rate, 0.01, (0.9, 0.999))
    batches = task.epoch(0)
    for step, batch in enumerate(batches):
        set_rates(optimizer, rate * rate_factor(step / len(batches), 0.1), step / len(batches))
        with torch.autocast("cpu", torch.bfloat16, enabled=computes_bf16("cpu")):
            loss = sum(task.sums(model.train(), batch).values()) / len(batch["input_ids"])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    firsts = [getattr(row, "question", None) or getattr(row, "pair", None) for row in test]
    return model.eval(), [first for first in firsts if first]


def passages(datasets: Path, count: int, rng: random.Random) -> list[list[str]]:
    """Running words of books, so many passages of 200."""
    paths = sorted((datasets / "public_domain_books").glob("*.txt.gz"))
    found = []
    for path in rng.sample(paths, 20):
        words = gzip.decompress(path.read_bytes()).decode().split()
        for _ in range(count // 20 + 1):
            at = rng.randrange(len(words) - 200)
            found.append(words[at : at + 200])
    rng.shuffle(found)
    return found[:count]


def asked(
    model: Any, tokenizer: BertTokenizer, texts: list[list[str]], firsts: list[str], rng: random.Random
) -> list[Question]:
    """A question of each passage, cut to 1, 2, 3 … tokens as far as the model reads, and again from 1."""
    use, most = use_of_model(model), model.config.max_tokens
    questions = []
    for number, words in enumerate(texts):
        first = rng.choice(firsts) if firsts else None
        beside = tokenizer.layout.special_tokens(pair=bool(first)) + len(tokenizer.encode(first) if first else ())
        room = most - beside
        wanted, kept, tokens = 1 + number % room, [], 0
        for word in words:
            tokens += len(tokenizer.encode(word))
            if kept and tokens > wanted:
                break
            kept.append(word)
        text = " ".join(kept)
        if first is None:
            questions.append(ask(tokenizer, use, most, text))
        elif use == ANSWERS:
            questions.append(ask(tokenizer, use, most, first, text))
        else:
            questions.append(ask(tokenizer, use, most, text, first))
    rng.shuffle(questions)
    return questions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=EXAMS, default=list(EXAMS))
    parser.add_argument("--texts", type=int, default=1000)
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    print("| task | texts | tokens | largest difference | same choice | int8: largest | int8: same choice |")
    print("|---|---|---|---|---|---|---|")
    for name in given.tasks:
        rng = random.Random("export")
        model, firsts = fine_tuned(name, given.datasets, tokenizer)
        questions = asked(model, tokenizer, passages(given.datasets, given.texts, rng), firsts, rng)
        use, cells = use_of_model(model), []
        with tempfile.TemporaryDirectory() as folder:
            whole, small = Path(folder) / "whole.onnx", Path(folder) / "int8.onnx"
            write_graph(model, use, whole)
            quantize(whole, small)
            for path in (whole, small):
                found = compare(model, use, tokenizer, Session(path), questions)
                cells += [f"{found.largest_difference:.1e}", f"{found.same_choice:.2%}"]
        lengths = [len(ids) for question in questions for ids, _ in question.sequences]
        print(
            "|", " | ".join([name, str(len(questions)), f"{min(lengths)} to {max(lengths)}", *cells]), "|", flush=True
        )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
