"""What `make bert` will give on this machine: its speed, measured in seconds, and what so many tokens gave elsewhere.

What a run reaches is told by the tokens that it sees, whatever machine it runs on; how many tokens some minutes give
is told by the machine. `forecast.toml` records finished runs of the default recipe, each with a budget of its own,
since the learning rate follows the budget.
"""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from bertedu.pretraining.settings import PretrainingSettings

MILLION = 1e6


@dataclass(frozen=True)
class Reached:
    """What a run of so many tokens reached on held-out documents; accuracies in percent, next_sentence balanced."""

    tokens: float
    masked_words: float
    perplexity: float
    next_sentence: float


@cache
def recorded() -> tuple[Reached, ...]:
    """The recorded runs of the default recipe (`tiny` on the documentation), from few tokens to many."""
    lines = tomllib.loads((files("bertedu.pretraining") / "forecast.toml").read_text("utf-8"))["run"]
    return tuple(sorted((Reached(**line) for line in lines), key=lambda run: run.tokens))


def expected(tokens: float) -> Reached:
    """What a run of so many tokens will reach: between two recorded runs along the logarithm of the tokens.

    Below the first recorded run it is what that run reached, above the last one what the last one did.
    """
    runs = recorded()
    tokens = min(max(tokens, runs[0].tokens), runs[-1].tokens)
    after = next(run for run in runs if run.tokens >= tokens)
    before = max((run for run in runs if run.tokens <= tokens), key=lambda run: run.tokens)
    if before == after:
        return after
    share = math.log(tokens / before.tokens) / math.log(after.tokens / before.tokens)

    def between(name: str) -> float:
        return (1 - share) * getattr(before, name) + share * getattr(after, name)

    perplexity = math.exp(
        (1 - share) * math.log(before.perplexity) + share * math.log(after.perplexity)
    )  # its logarithm is the loss
    return Reached(tokens, between("masked_words"), perplexity, between("next_sentence"))


def is_default(corpus: tuple[str, ...], settings: PretrainingSettings) -> bool:
    """Whether a run follows the recipe of the recorded runs; its seed and its budget are free."""
    return corpus == ("documentation",) and settings == PretrainingSettings.for_preset("tiny", seed=settings.seed)


def forecast(speed: float, minutes: float) -> list[str]:
    """Sentences: what so many minutes will give at a speed in tokens a second, and which give the best recorded."""
    tokens = 60 * minutes * speed
    run, best = expected(tokens), recorded()[-1]
    said = [
        f"At {speed:,.0f} tokens a second {minutes:g} {'minute gives' if minutes == 1 else 'minutes give'} "
        f"about {tokens / MILLION:.1f} million tokens."
    ]
    if tokens < recorded()[0].tokens:
        less = f"Fewer than {run.tokens / MILLION:g} million teach it little more than which words are frequent."
        said.append(less)
    else:
        said.append(
            f"On text held out, expect about {run.masked_words:.0f} % of the masked words right, "
            f"and {run.next_sentence:.0f} % of the next sentences."
        )
    if tokens < 0.9 * best.tokens:
        needed = math.ceil(best.tokens / speed / 60)
        said.append(
            f"For {best.masked_words:.0f} % and {best.next_sentence:.0f} %, as with {best.tokens / MILLION:.0f} "
            f"million tokens: make bert MINUTES={needed}"
        )
    return said
