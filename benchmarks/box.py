"""A checkpoint from a billion tokens in nine minutes of a large GPU. Run: python benchmarks/box.py pack|train|ship

    python benchmarks/box.py pack documentation world BOOKS MODERN --output box.xz
    python benchmarks/box.py train box.xz --output FOLDER --seconds 530
    python benchmarks/box.py ship FOLDER data/checkpoints/NAME --corpus documentation --corpus world --corpus BOOKS

pack: reads and tokenizes on any machine, in minutes (`box_text.py`). train: needs torch, numpy, safetensors and the
package beside this folder, and no network. It takes the time that it is given, from its start to its end, and need not
be watched: compiling has a limit of its own, after which (or after a crash) the run goes on from its last state without
compiled layers; where training diverges, with half the learning rate. Every 45 seconds there is a checkpoint that opens
as it is, FOLDER/checkpoint. ship: the card, see `box_ship.py`.
"""

import argparse
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import bare  # before torch
import torch
from box_text import pack, read, thinned, write
from box_train import Job, Recipe, train
from children import in_child, server

from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer

VOCABULARY = Path(__file__).resolve().parents[1] / "data" / "checkpoints" / "mixed-mini"
TO_COMPILE = 150.0  # seconds for the start of a child, its text, and compiling two lengths
TO_END = 15.0  # seconds that are kept for the last checkpoint
LEAST = 20.0  # seconds in which nothing is worth beginning


def train_in_children(job: Job, seconds: float, to_compile: float = TO_COMPILE) -> dict[str, Any]:
    """Train in a child, and in another one without compiled layers where that fails, until the time is used up.

    Raises UserError where none came to the end; what was saved is kept.
    """
    end = bare.BEGUN + seconds
    context, failures, recipe = server(["box_train"]), [], job.recipe
    for compiled in (True, False, False) if job.compiled else (False, False):
        left = end - time.monotonic()
        if left < LEAST:
            break
        going = replace(job, recipe=recipe, compiled=compiled, until=end - TO_END)
        found = in_child(context, train, going, seconds=left, to_be_ready=min(to_compile, left) if compiled else left)
        if not found.failure:
            return {"compiled": compiled, "failures": failures, **found.value}
        failures.append(f"{'compiled' if compiled else 'as it is'}: {found.failure}, after {found.seconds:.0f} s")
        print(f"a go failed, {failures[-1]}", flush=True)
        if "diverged" in found.failure:
            recipe = replace(recipe, learning_rate=recipe.learning_rate / 2)
    raise UserError(f"the run did not come to its end ({'; '.join(failures) or 'no time'}): see {job.output}.")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="read, tokenize and pack text")
    packing.add_argument("corpora", nargs="+", help="documentation, world, paths")
    packing.add_argument("--output", type=Path, required=True)
    packing.add_argument("--vocabulary", type=Path, default=VOCABULARY, help="a folder with a vocab.txt [mixed-mini]")
    thinning = commands.add_parser("thin", help="a part of a packed text, to try what reading it again costs")
    thinning.add_argument("text", type=Path)
    thinning.add_argument("--every", type=int, required=True, help="keep one piece of so many")
    thinning.add_argument("--output", type=Path, required=True)
    training = commands.add_parser("train", help="train on packed text")
    training.add_argument("text", type=Path)
    training.add_argument("--output", type=Path, required=True, help="what is brought back")
    training.add_argument("--state", type=Path, help="what a run is resumed from [OUTPUT-state]")
    training.add_argument("--seconds", type=float, default=530.0, help="from this command's start to its end [530]")
    training.add_argument("--tokens", type=int, help="end after so many tokens, and repeat exactly")
    training.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    training.add_argument("--precision", default="auto")
    training.add_argument("--not-compiled", action="store_true")
    training.add_argument("--save-seconds", type=float, default=45.0)
    training.add_argument("--log-steps", type=int, default=50)
    for of in fields(Recipe):
        if isinstance(of.default, int | float):
            training.add_argument(f"--{of.name.replace('_', '-')}", type=type(of.default), default=of.default)
    shipping = commands.add_parser("ship", help="card, measurements and scores of the tasks, from what came back")
    shipping.add_argument("run", type=Path)
    shipping.add_argument("target", type=Path)
    shipping.add_argument("--corpus", action="append", required=True, help="what was packed; its held-out documents")
    shipping.add_argument("--datasets", type=Path, help="the folder of public data sets, for the tasks' scores")
    shipping.add_argument("--beside", type=Path, default=VOCABULARY, help="a checkpoint to compare with [mixed-mini]")
    shipping.add_argument("--quick", action="store_true", help="few rows and one seed, to try the command itself")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    given = parse(arguments)
    try:
        if given.command == "pack":
            tokenizer = BertTokenizer.from_pretrained(given.vocabulary)
            about = pack(given.corpora, tokenizer, given.output)
            print("\n".join(about["notes"]))
            print(f"{given.output}: {about['tokens']['train']:,} tokens, {given.output.stat().st_size:,} bytes")
        elif given.command == "thin":
            texts, about = read(given.text)
            texts["train"] = thinned(texts["train"], given.every)
            about["tokens"]["train"] = len(texts["train"].tokens)
            write(given.output, texts, about)
            print(f"{given.output}: {about['tokens']['train']:,} tokens")
        elif given.command == "train":
            recipe = Recipe(**{of.name: getattr(given, of.name) for of in fields(Recipe) if hasattr(given, of.name)})
            job = Job(
                text=given.text,
                output=given.output,
                state=given.state or given.output.with_name(f"{given.output.name}-state"),
                recipe=recipe,
                tokens=given.tokens,
                device=given.device,
                precision=given.precision,
                compiled=not given.not_compiled,
                save_seconds=given.save_seconds,
                log_steps=given.log_steps,
            )
            print(train_in_children(job, given.seconds))
        else:
            from box_ship import ship  # needs matplotlib

            ship(given.run, given.target, given.corpus, given.datasets, given.beside, given.quick)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
