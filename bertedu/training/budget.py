"""How long a run goes on, and how far it has come."""

from dataclasses import dataclass

from bertedu.errors import UserError

MOST = 10**15  # a number that no machine comes to


@dataclass
class Progress:
    """How far a run has come: optimizer steps, real (non-padding) tokens, seconds, and its position in the data."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    epoch: int = 0
    batch: int = 0  # the next batch of the epoch
    waited: int = 0  # validations since the best one


@dataclass(frozen=True)
class Budget:
    """The end of a run: exactly one of minutes of training, real tokens seen, or optimizer steps.

    The learning rate follows the share of the budget that is used up, so each kind of budget ends at learning rate 0.
    Runs with steps or tokens repeat exactly; runs with minutes depend on the machine's speed.
    """

    minutes: float | None = None
    tokens: int | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) != 1:
            raise UserError(f"give exactly one of minutes, tokens and steps, not {', '.join(given) or 'none'}.")
        for name, value in given.items():
            if not 0 < value <= MOST:
                raise UserError(f"{name} is {value}: give a number above 0, at most {MOST:,}.")

    def share(self, progress: Progress) -> float:
        """The share of the budget that is used up, from 0 to 1."""
        if self.minutes is not None:
            used = progress.seconds / (60 * self.minutes)
        elif self.tokens is not None:
            used = progress.tokens / self.tokens
        else:
            used = progress.step / (self.steps or 1)
        return min(1.0, used)
