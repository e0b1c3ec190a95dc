"""How fast a member of `family.py` reads, beside BERT in the same minutes."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from family_members import SEARCH_SEED, Workshop

from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer

ROUNDS, STEPS = 8, 5  # of each of the two whose speeds are compared


def speed(workshop: Workshop, name: str) -> dict[str, float]:
    """Tokens that a member reads in a second of processor time, as a share of what BERT reads in the same minutes.

    The share is the median over some rounds, each some steps of both.
    """
    if name == "bert":
        return {"share_of_bert": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        sides = {}
        for side in ("bert", name):
            trainer = workshop.trainer(side, SEARCH_SEED, 1e-4, Budget(steps=(ROUNDS + 1) * STEPS), Path(folder) / side)
            sides[side] = steps_of(trainer)
            next(sides[side])  # the first steps are slower
        rounds = [{side: next(steps) for side, steps in sides.items()} for _ in range(ROUNDS)]
    return {
        "share_of_bert": statistics.median(one[name] / one["bert"] for one in rounds),
        "tokens_per_second": statistics.median(one[name] for one in rounds),
    }


def steps_of(trainer: Trainer) -> Iterator[float]:
    """Takes some steps of a run each time it is asked, and gives the tokens read in a second of processor time."""
    trainer.model.train()
    portions = trainer._portions()
    while True:
        start, before = time.process_time(), trainer.progress.tokens
        for _ in range(STEPS):
            trainer._step(next(portions), trainer.budget.share(trainer.progress))
        yield (trainer.progress.tokens - before) / (time.process_time() - start)
