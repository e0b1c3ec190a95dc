"""The rows of a fine-tuning run: what to learn from, what to choose the best weights by, what to test them with."""

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bertedu.corpora.splits import split_sources
from bertedu.corpora.task_data import is_hub
from bertedu.errors import UserError
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.task import FinetuningTask

TAKEN_FOR_VALIDATION = 0.1
Rows = list[Any]


def read_data(plan: FinetuningPlan, task: type[FinetuningTask], say: Callable[[str], None]) -> tuple[Rows, Rows, Rows]:
    """Training, validation and test rows. Without a source for validation a tenth of the data becomes it.

    What stands in validation and test and cannot be learned from the training rows (a label, a score beyond theirs)
    is refused here, with file and line, before anything is trained. A set of the hub gives each its own split.
    """
    sources = sources_of(plan, task)
    say(f"reading {sources['train']}")
    train = task.read_rows(sources["train"], "train", ())
    others = {}
    for name in ("validation", "test"):
        if name in sources:
            say(f"reading {sources[name]}")
            others[name] = task.read_rows(sources[name], name, train)
    if "validation" not in others:
        train, others["validation"] = taken_away(train, task, sources["train"])
        say(f"  {len(others['validation']):,} rows were taken away for validation")
    validation, test = others["validation"], others.get("test", [])
    say(
        f"  {len(train):,} rows to learn from, {len(validation):,} to choose the best model by, "
        f"{len(test):,} to test it"
    )
    if shared := seen(train, test):
        say(f"  {shared:,} of {len(test):,} rows of the test stand among the training rows too: remembering them pays")
    return train, validation, test


def seen(train: Sequence[Any], test: Sequence[Any]) -> int:
    """How many rows of the test are, label and all, among the training rows."""
    learned = set(train)
    return sum(row in learned for row in test)


def sources_of(plan: FinetuningPlan, task: type[FinetuningTask]) -> dict[str, str]:
    """Where the rows of each split are: what the plan names, else what lies in the folder of the data."""
    given = {"train": plan.data, "validation": plan.validation, "test": plan.test}
    sources = {name: source for name, source in given.items() if source}
    if not is_hub(plan.data) and Path(plan.data).is_dir():
        found = split_sources(plan.data)
        if not found and not task.folders_by_label:
            raise UserError(
                f"{plan.data} is a folder without a file train: name a file, or give its files the names of what they "
                "are for (train, validation, test), each with its ending."
            )
        if found:
            sources = {**{name: str(path) for name, path in found.items()}, **sources, "train": str(found["train"])}
    return sources


def taken_away(rows: Sequence[Any], task: type[FinetuningTask], source: str) -> tuple[Rows, Rows]:
    """The rows without a tenth, and that tenth, drawn at random but always the same.

    What belongs together (questions on one text) stays on one side, so that nothing that was learned is asked. Where it
    is so much that a fifth would go, it stays in training; if nothing is small enough, the smallest goes.
    """
    if len(rows) < 2:
        raise UserError(f"{source} holds 1 row, and validation needs one of its own: add rows, or give --validation.")
    of_unit: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        of_unit.setdefault(number if (shared := task.unit(row)) is None else shared, []).append(number)
    units = list(of_unit.values()) if len(of_unit) > 1 else [[number] for number in range(len(rows))]
    wanted = math.ceil(TAKEN_FOR_VALIDATION * len(rows))
    chosen: set[int] = set()
    for unit in random.Random("validation").sample(units, len(units) - 1):
        if len(chosen) >= wanted:
            break
        if len(chosen) + len(unit) <= 2 * wanted:
            chosen.update(unit)
    if not chosen:
        chosen.update(sorted(units, key=len)[0])
    return (
        [row for number, row in enumerate(rows) if number not in chosen],
        [row for number, row in enumerate(rows) if number in chosen],
    )
