"""Which member of the BERT family is worth what: the same text, the same seconds of processor time, three seeds.

Run: python benchmarks/family.py DATASETS --state FOLDER [--members …] [--seeds 3] [--seconds 600] [--table]

DATASETS is the folder of the public sets (its README names them); --state a folder outside of the repository for runs
and checkpoints. Whatever is finished is not computed again, also on another machine: a unit (a speed, a rate that was
tried, a run, a score) is one JSON file in --units, data/family/units. A run of pre-training that was killed goes on
where it was last saved. The first seed of all members comes first. One thread; about 17 minutes of it for each member
and seed. Two processes may share the work: each with members and a state of its own. --table computes nothing: it
prints what is there, and writes data/family/results.json and the picture beside it.
"""

import argparse
import shutil
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers
from family_members import MEMBERS, SEARCH_SEED, Recipe, Workshop
from family_scores import EXAMS, cost, examined, held_out_sentences, probed, rows_of, simple, word_nats
from family_table import report

from bertedu.errors import UserError
from bertedu.files import read_json, write_json
from bertedu.model.architecture import architecture
from bertedu.pretraining.objectives import OBJECTIVES
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
        self.keep_recipe()

    def keep_recipe(self) -> None:
        """Refuse units that were found with another recipe."""
        path, mine = self.units / "recipe.json", {**asdict(self.recipe), "rates": list(self.recipe.rates)}
        if not path.exists():
            write_json(path, mine)
        elif (found := read_json(path)) != mine:
            changed = [
                f"{name} was {found.get(name)}, is now {value}"
                for name, value in mine.items()
                if found.get(name) != value
            ]
            raise UserError(f"{path} is of another comparison ({'; '.join(changed)}): choose another --units.")

    def unit(self, name: str, find: Callable[[], Any]) -> Any:
        """What was found under a name, or is found now and kept."""
        path = self.units / f"{name}.json"
        if not path.exists():
            found = find()
            write_json(path, found)
            self.say(f"{name}: {found}")
        return read_json(path)

    def run(self) -> None:
        """Compute whatever is not there yet. A member that fails does not keep the others waiting."""
        self.unit("baselines", self.baselines)
        for name in self.members:
            self.attempt(name, lambda name=name: self.unit(f"speed/{name}", lambda: self.workshop.speed(name)))
        self.estimate()
        for name in self.members:
            self.attempt(name, lambda name=name: self.unit(f"cost/{name}", lambda: self.cost(name)))
            self.attempt(name, lambda name=name: self.rate(name))
        for seed in range(self.seeds):
            for name in self.members:
                self.attempt(name, lambda name=name, seed=seed: self.member_and_seed(name, seed))
            self.attempt(UNTRAINED, lambda seed=seed: self.untrained(seed))
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
        share = read_json(self.units / "speed" / f"{name}.json")["share_of_bert"]
        return round(self.recipe.bert_tokens * share * seconds)

    def cost(self, name: str) -> dict[str, float]:
        """Parameters, memory, milliseconds, and tokens for a word of the text."""
        trainer = self.workshop.trainer(name, SEARCH_SEED, 1e-4, Budget(steps=2), self.state / "cost" / name)
        sentences = held_out_sentences(self.workshop.corpus)
        encode = trainer.task.tokenizer.encode
        per_word = sum(len(encode(line)) for line in sentences) / sum(len(line.split()) for line in sentences)
        return {**cost(trainer), "tokens of a word": per_word}

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
        """One run and all of its scores."""
        here = f"seed-{seed}/{name}"
        folder, tokens = self.state / here / "run", self.tokens(name, self.recipe.seconds)
        rate = self.rate(name)
        self.unit(f"{here}/pretraining", lambda: self.workshop.pretrain(name, seed, rate, tokens, folder))
        if MEMBERS[name].fills_masks:
            sentences = held_out_sentences(self.workshop.corpus)
            self.unit(f"{here}/text", lambda: word_nats(folder / "checkpoint", sentences))
        self.score(here, folder / "checkpoint", seed)

    def score(self, here: str, model: Path, seed: int) -> None:
        """What a model's vectors are worth."""
        self.unit(f"{here}/probes", lambda: probed(model, self.workshop.datasets, self.recipe.rows))
        for exam in EXAMS:
            found = f"{here}/exams/{exam.split()[0]}"
            self.unit(found, lambda exam=exam: examined(EXAMS[exam], self.parts(exam), model, seed))

    def untrained(self, seed: int) -> None:
        """BERT as it starts, fine-tuned like the others."""
        here, name = f"seed-{seed}/{UNTRAINED}", "bert"
        folder = self.state / here / "checkpoint"
        if not (folder / "config.json").exists():
            trainer = self.workshop.trainer(name, seed, 1e-4, Budget(steps=1), self.state / here)
            trainer.task.tokenizer.save_pretrained(folder, trainer.bare_model.config.max_tokens)
            trainer.bare_model.save_pretrained(folder)
        self.score(here, folder, seed)


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
