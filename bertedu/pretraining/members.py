"""Which member of the family is pre-trained for what: its own objective, or another that fits it."""

from collections.abc import Iterable

from bertedu.errors import UserError
from bertedu.family import MEMBERS, Member
from bertedu.registry import ARCHITECTURES, OBJECTIVES

INITIALIZATIONS = ("published", "matching", "neighbors", "counted")


def member(architecture: str) -> Member:
    """How a member is pre-trained, by its model_type. Raises UserError for one that is not there."""
    if architecture not in MEMBERS:
        raise UserError(f"there is no architecture {architecture!r}: choose one of {', '.join(MEMBERS)}.")
    return MEMBERS[architecture]


def fits(architecture: str, objective: str) -> bool:
    """Whether a member can be trained for an objective without a teacher: its own, or one that fits it."""
    of = OBJECTIVES[objective]
    own = objective == member(architecture).objective
    return own or (of.fits(ARCHITECTURES[architecture]) and not of.has_teacher)


def objectives_of(architecture: str) -> list[str]:
    """What a member can be trained for without a teacher: its own objective first, then those that fit it."""
    fitting = (name for name in OBJECTIVES if fits(architecture, name))
    return list(dict.fromkeys((member(architecture).objective, *fitting)))


def trained_for(objective: str) -> list[str]:
    """The members that can be trained for an objective: first those whose own it is."""
    found = [name for name in MEMBERS if fits(name, objective)]
    return sorted(found, key=lambda name: MEMBERS[name].objective != objective)


def default_architecture(objective: str) -> str:
    """BERT, where it can be trained for an objective, and else the member whose own it is."""
    return "bert" if not objective or fits("bert", objective) else trained_for(objective)[0]


def options(architecture: str, objective: str) -> str:
    """The options of `bertedu pretrain` that choose a member and its objective, each with a space after it; those that
    are the defaults are left out.
    """
    chosen = "" if architecture == "bert" else f"--architecture {architecture} "
    return chosen if objective in ("", member(architecture).objective) else f"{chosen}--objective {objective} "


def check_objective(architecture: str, objective: str) -> None:
    """Raise UserError where a member cannot be trained for an objective; "" stands for the member's own."""
    of = member(architecture)
    if not objective or fits(architecture, objective):
        return
    why = of.refused.get(objective) or OBJECTIVES[objective].why_alone
    fitting = one_of(objectives_of(architecture))
    raise UserError(
        f"{article(of.name)} cannot be trained for {objective!r}{f' ({why})' if why else ''}: choose the objective "
        f"{fitting}, or for {objective!r} the architecture {one_of(trained_for(objective))}."
    )


def article(name: str) -> str:
    """A name with the article that it is spoken with: "a BERT", "an ALBERT", "an XLNet"."""
    return f"{'an' if name[0] in 'AEX' else 'a'} {name}"


def one_of(names: Iterable[str]) -> str:
    """Names as a choice: "pairs or words"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
