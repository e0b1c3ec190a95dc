"""Exercise 24.4: Keys for a step."""

from typing import Any

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

STEPS = (0, 1, 2, 3, 7, 8, 100, 5_000, 1_000_000, 1_000_001)


BEYOND = "An index beyond the end is the last one in JAX: a list of keys runs out. Mix the step in instead."


CAUSES = {
    "__index__() method was called on traced array": "Inside jit the step has no number yet: no range(step).",
    "concrete value is expected": "Inside jit the step has no number yet: no range(step), no int(step).",
    "Shapes must be 1D": "Inside jit the step has no number yet, so it cannot be the size of an array.",
    "was not hashable": "Inside jit the step has no number yet, so it cannot be the size of an array.",
    "to be a key": "fold_in and split take a key first, as jax.random.key makes it.",
}


def numbers_of(case: Case, name: str, key: Any) -> tuple[int, ...]:
    """The numbers inside a key, to compare keys by; what is no key ends the check in words."""
    import jax
    import jax.numpy as jnp

    case.is_a(name, key, jax.Array, "a key")
    if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        case.fail(f"But {name} holds numbers, and should be a key, as jax.random.key, split and fold_in make it.")
    if key.shape:
        case.fail(f"But {name} has the shape {list(key.shape)}: it is several keys, and one is asked for.")
    return tuple(jax.random.key_data(key).tolist())


def two_keys(case: Case, result: Any) -> list[tuple[int, ...]]:
    """The numbers of the two keys that came back; split's array of two is fine."""
    import jax

    if isinstance(result, jax.Array) and result.ndim == 1 and len(result) == 2:
        result = (result[0], result[1])
    parts = case.parts(result, "mask key", "dropout key")
    return [numbers_of(case, name, key) for name, key in zip(("the mask key", "the dropout key"), parts, strict=True)]


def made_from(numbers: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The numbers of the keys that split or fold_in make from a key, for the steps that are tried.

    With the default generator, split(key)[n] is fold_in(key, n).
    """
    import jax
    import jax.numpy as jnp

    key = jax.random.wrap_key_data(jnp.array(numbers, jnp.uint32))
    folded = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.array(STEPS))
    children = [*jax.random.key_data(folded).tolist(), *jax.random.key_data(jax.random.split(key)).tolist()]
    return {tuple(child) for child in children}


def reason(name: str, other: str, step: int) -> str:
    """What makes two keys equal, most likely."""
    if step > 100 and "," in other:  # both are steps in the thousands
        return BEYOND
    if f"{name} of step" not in other:
        return "Each key is used for one thing only: split it first."
    return "Is the step mixed in?"


@exercise(
    "24.4",
    "Keys for a step",
    difficulty=3,
    minutes=10,
    runs="compiled",
    hints=(
        "Two things are needed: a key that depends on the step, and from it two keys that differ from each other.",
        "jax.random.fold_in(key, step) mixes a number into a key. jax.random.split(key) makes two keys from one.",
    ),
)
def keys_for_a_step(case: Case) -> None:
    import jax

    case.causes = CAUSES
    run, other = jax.random.key(7), jax.random.key(8)
    seen: dict[tuple[int, ...], str] = {tuple(jax.random.key_data(run).tolist()): "the key of the whole run"}
    found: dict[int, list] = {}
    made: dict[tuple[int, ...], str] = {}

    def try_steps(steps: tuple[int, ...]) -> None:
        for step in steps:
            keys = found[step] = two_keys(case, case.call(run, step, tried=f"{len(STEPS)} steps of a run"))
            for name, numbers in zip(("mask key", "dropout key"), keys, strict=True):
                if numbers in seen:
                    case.fail(
                        f"But the {name} of step {step:,} is also {seen[numbers]}.",
                        "The same key gives the same random numbers. " + reason(name, seen[numbers], step),
                    )
                seen[numbers] = f"the {name} of step {step:,}"
                made.update({child: seen[numbers] for child in made_from(numbers)})

    try_steps(STEPS[:7])
    compiled = jax.jit(case.answer)
    inside = two_keys(case, case.call(run, 3, tried="a step inside jit", function=compiled))
    try_steps(STEPS[7:])  # after jit, where a loop over the steps shows itself at once
    for numbers, name in seen.items():
        if numbers in made:
            case.almost(
                f"No two keys are equal. But {name} is made from {made[numbers]}, which draws numbers too.",
                "A key is either drawn with, or split, or folded into: never two of these.",
            )
    for step in reversed(STEPS):
        again = two_keys(case, case.call(run, step, tried="the same steps in another order"))
        case.expect(
            again == found[step],
            f"But step {step} got other keys than the first time.",
            "A run that is resumed at this step would draw other masks. The keys may depend on key and step only.",
        )
    elsewhere = two_keys(case, case.call(other, 3, tried="a run with another key"))
    case.expect(
        elsewhere[0] != found[3][0] and elsewhere[1] != found[3][1],
        "But the run with key 8 gets the same keys as the run with key 7.",
        "Two runs with two seeds must differ. Begin with the key that is handed in.",
    )
    case.begin("I compared step 3 inside jit with step 3 outside.", "a step inside jit")
    case.expect(inside == found[3], "But inside jit the keys of step 3 are others.")
    case.close_with("No generator has to be saved: a run that stops at step 5,000 goes on with step 5,001.")
