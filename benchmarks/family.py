"""Which member of the BERT family is worth what: the same text, the same seconds of processor time, three seeds.

Run: python benchmarks/family.py DATASETS --state FOLDER [--members …] [--seeds 3] [--seconds 600] [--table]

DATASETS is the folder of the public sets (its README names them); --state a folder outside of the repository for runs
and checkpoints. Whatever is finished is not computed again, also on another machine: a unit (a speed, a cost, a rate
that was tried, a run with all of its scores) is one JSON file in --units, data/family/units, and needs no other file
but units. What an unfinished one has so far (saved weights, scores) is in --state; where that is lost, the unit begins
again. A run is scored right after its training, and then its checkpoint is removed. The first seed of all members comes
first, each with its speed and its learning rates before it. One thread. Two processes may share the work: each with
members and a state of its own. --table computes nothing: it prints what is there, and writes data/family/results.json
and the picture beside it.
"""

import argparse
import shutil
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers
from family_members import MEMBERS, SEARCH_SEED, Recipe, Workshop
from family_scores import EXAMS, cost, examined, held_out_sentences, milliseconds, probed, rows_of, simple, word_nats
from family_speed import speed
from family_table import report

from bertedu.errors import UserError
from bertedu.files import read_json, write_json
from bertedu.model.architecture import architecture
from bertedu.registry import OBJECTIVES
from bertedu.training.budget import Budget
from bertedu.training.run_folder import holding

RESULTS = Path(__file__).resolve().parents[1] / "data" / "family"
UNTRAINED = "untrained"
WORTH_NOTHING = -1e9  # JSON knows no infinity
FINE_TUNING_MINUTES = 4.0  # about, of one member and seed, for the estimate


class Comparison:
    """All units of the comparison, each a file in the folder `units`."""

    def __init__(
        self, workshop: Workshop, units: Path, members: list[str], seeds: int, say: Callable[[str], None] = print
    ):
        self.workshop, self.units, self.members, self.seeds, self.say = workshop, units, members, seeds, say
        self.state, self.recipe = workshop.state, workshop.recipe
        self.failed: list[str] = []
        for folder in (self.units, self.state):
            self.keep_recipe(folder)

    def keep_recipe(self, folder: Path) -> None:
        """Refuse units, and parts of units, that were found with another recipe."""
        path, mine = folder / "recipe.json", {**asdict(self.recipe), "rates": list(self.recipe.rates)}
        if not path.exists():
            write_json(path, mine)
        elif (found := read_json(path)) != mine:
            changed = [
                f"{name} was {found.get(name)}, is now {value}"
                for name, value in mine.items()
                if found.get(name) != value
            ]
            raise UserError(f"{path} is of another comparison ({'; '.join(changed)}): choose another {folder}.")

    def unit(self, name: str, find: Callable[[], Any]) -> Any:
        """What was found under a name, or is found now and kept."""
        return self.kept(self.units, name, find)

    def part(self, name: str, find: Callable[[], Any]) -> Any:
        """The same of a part of a unit: it belongs to the checkpoint in the state folder, and stays beside it."""
        return self.kept(self.state, name, find)

    def kept(self, folder: Path, name: str, find: Callable[[], Any]) -> Any:
        """What a file in a folder holds, or is found now and written into it."""
        path = folder / f"{name}.json"
        if not path.exists():
            found = find()
            write_json(path, found)
            self.say(f"{time.strftime('%H:%M')} {name}: {found}")
        return read_json(path)

    def run(self) -> None:
        """Compute whatever is not there yet. A member that fails does not keep the others waiting."""
        self.unit("baselines", self.baselines)
        self.estimate()
        for seed in range(self.seeds):
            for name in (*self.members, UNTRAINED):
                self.attempt(name, lambda name=name, seed=seed: self.member_and_seed(name, seed))
        self.unit("milliseconds", self.milliseconds)
        self.say(f"done; failed: {', '.join(dict.fromkeys(self.failed)) or 'nothing'}")

    def attempt(self, name: str, do: Callable[[], Any]) -> None:
        """Do something for a member; where that fails, say why and go on."""
        try:
            do()
        except Exception:
            self.failed.append(name)
            self.say(f"{name} failed: {traceback.format_exc()}")

    def estimate(self) -> None:
        """Say how long all of it takes."""
        runs = len(self.members) * self.seeds
        search = len(self.members) * len(self.recipe.rates) * self.recipe.search_seconds
        fine_tuning = (runs + self.seeds) * FINE_TUNING_MINUTES / 60
        hours = (runs * self.recipe.seconds + search) / 3600 + fine_tuning
        self.say(f"{len(self.members)} members, {self.seeds} seeds: about {hours:.1f} hours of processor time in all")

    def baselines(self) -> dict[str, Any]:
        """What needs no network, for each task."""
        return {name: simple(exam, self.parts(name)) for name, exam in EXAMS.items()}

    def parts(self, exam: str) -> Any:
        """The rows of a task."""
        return rows_of(EXAMS[exam], self.workshop.datasets, self.recipe.rows)

    def tokens(self, name: str, seconds: float) -> int:
        """What a member reads in so many seconds of processor time, BERT having the speed of the recipe."""
        found = self.unit(f"speed/{name}", lambda: speed(self.workshop, name))
        return round(self.recipe.bert_tokens * found["share_of_bert"] * seconds)

    def cost(self, name: str) -> dict[str, float]:
        """Parameters, memory, and tokens for a word of the text."""
        trainer = self.workshop.trainer(name, SEARCH_SEED, 1e-4, Budget(steps=2), self.state / "cost" / name)
        sentences = held_out_sentences(self.workshop.corpus)
        encode = trainer.task.tokenizer.encode
        per_word = sum(len(encode(line)) for line in sentences) / sum(len(line.split()) for line in sentences)
        return {**cost(trainer), "tokens of a word": per_word}

    def milliseconds(self) -> dict[str, float]:
        """What one text takes each member that has a run, in turns, also those that another process trained."""
        models = {}
        for name in (name for name in MEMBERS if (self.units / "seed-0" / f"{name}.json").exists()):
            folder = self.state / "milliseconds" / name
            trainer = self.workshop.trainer(name, SEARCH_SEED, 1e-4, Budget(steps=1), folder)
            models[name] = trainer.task.reader(trainer.bare_model), trainer.task.tokenizer
        return milliseconds(models)

    def rate(self, name: str) -> float:
        """The learning rate with which a short run ends best on the validation text, by the member's own loss."""
        found = {}
        for rate in self.recipe.rates:
            where, tokens = f"rates/{name}/{rate:g}", self.tokens(name, self.recipe.search_seconds)
            found[rate] = self.unit(
                where, lambda rate=rate, where=where, tokens=tokens: self.try_rate(name, rate, tokens, where)
            )
        return max(found, key=lambda rate: found[rate]["quality"])

    def try_rate(self, name: str, rate: float, tokens: int, where: str) -> dict[str, Any]:
        """A short run, whose weights are not kept; one whose weights run away is worth nothing."""
        folder = self.state / where
        try:
            return self.workshop.pretrain(name, SEARCH_SEED, rate, tokens, folder)
        except UserError as error:
            return {"rate": rate, "quality": WORTH_NOTHING, "failed": str(error)}
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def member_and_seed(self, name: str, seed: int) -> None:
        """One run and all of its scores: a unit. What the run left in the state folder is not needed afterwards."""
        here = f"seed-{seed}/{name}"
        train = self.untrained if name == UNTRAINED else self.trained
        self.unit(here, lambda: self.scored(here, *train(name, seed), seed))
        shutil.rmtree(self.state / here, ignore_errors=True)

    def trained(self, name: str, seed: int) -> tuple[Path, dict[str, Any]]:
        """The checkpoint of one run, and what is known of it by reading text."""
        here = f"seed-{seed}/{name}"
        self.unit(f"cost/{name}", lambda: self.cost(name))
        folder, tokens = self.state / here / "run", self.tokens(name, self.recipe.seconds)
        rate, checkpoint = self.rate(name), folder / "checkpoint"
        pretraining = self.part(f"{here}/pretraining", lambda: self.workshop.pretrain(name, seed, rate, tokens, folder))
        found = {"pretraining": pretraining}
        if MEMBERS[name].fills_masks:
            sentences = held_out_sentences(self.workshop.corpus)
            found["text"] = self.part(f"{here}/text", lambda: word_nats(checkpoint, sentences))
        return checkpoint, found

    def untrained(self, name: str, seed: int) -> tuple[Path, dict[str, Any]]:
        """The checkpoint of BERT as it starts, of which nothing is known."""
        folder = self.state / f"seed-{seed}" / name
        checkpoint = folder / "checkpoint"
        if not (checkpoint / "config.json").exists():
            trainer = self.workshop.trainer("bert", seed, 1e-4, Budget(steps=1), folder)
            trainer.task.tokenizer.save_pretrained(checkpoint, trainer.bare_model.config.max_tokens)
            trainer.bare_model.save_pretrained(checkpoint)
        return checkpoint, {}

    def scored(self, here: str, model: Path, found: dict[str, Any], seed: int) -> dict[str, Any]:
        """What is known of a model, and what its vectors are worth."""
        found["probes"] = self.part(f"{here}/probes", lambda: probed(model, self.workshop.datasets, self.recipe.rows))
        found["exams"] = {
            exam: self.part(
                f"{here}/exams/{exam.split()[0]}",
                lambda exam=exam: examined(EXAMS[exam], self.parts(exam), model, seed),
            )
            for exam in EXAMS
        }
        return found


def here_already(members: list[str]) -> list[str]:
    """The members whose objective this version of the package has."""
    return [
        name for name in members if MEMBERS[name].objective in OBJECTIVES and architecture(MEMBERS[name].architecture)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--units", type=Path, default=RESULTS / "units")
    parser.add_argument("--members", nargs="+", choices=list(MEMBERS), default=list(MEMBERS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=Recipe.seconds)
    parser.add_argument("--search-seconds", type=float, default=Recipe.search_seconds)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    warnings.simplefilter("ignore")  # heads are left out, and start anew, as they shall
    if given.table:
        report(given.units, RESULTS)
        return
    recipe = Recipe(seconds=given.seconds, search_seconds=given.search_seconds, rows=given.rows)
    workshop = Workshop(given.state, given.datasets, recipe)
    members = here_already(given.members)
    if left := [name for name in given.members if name not in members]:
        print(f"not in this version of the package: {', '.join(left)}")
    with holding(given.state):  # two processes would do the same work twice
        Comparison(workshop, given.units, members, given.seeds, lambda line: print(line, flush=True)).run()


if __name__ == "__main__":
    main()
