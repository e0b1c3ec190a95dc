"""Variants of chapter 24: the shapes that an epoch compiles, and keys for several workers. Neither needs JAX."""

import hashlib
from collections.abc import Callable
from itertools import permutations
from typing import Any

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.variant import Draws, Variant

USES = {"masks": "the masks", "dropout": "the dropout", "order": "the order of the sentences"}


def shapes_of(
    lengths: list[int], size: int, multiple: int, kept: bool, padded: Callable[[int, int], int] | None = None
) -> list[tuple[int, int]]:
    """The different shapes of an epoch's batches, in the order in which they come."""
    padded = padded or (lambda length, multiple: -(-length // multiple) * multiple)
    found: list[tuple[int, int]] = []
    for start in range(0, len(lengths), size):
        batch = lengths[start : start + size]
        shape = (len(batch), padded(max(batch), multiple))
        if (kept or len(batch) == size) and shape not in found:
            found.append(shape)
    return found


def compiled_shapes(draws: Draws) -> Variant:
    """Which shapes jit compiles for an epoch of padded batches."""
    size, multiple, kept = draws.pick((3, 4, 5)), draws.pick((8, 16, 32)), draws.pick((True, False))
    last = "is kept as it is" if kept else "is dropped"

    def examine(case: Case) -> None:
        for number in (4 * size + 2, 3 * size, 1, 0):
            lengths = case.randint(1, 100, [number]).tolist()
            if number > size:
                lengths[:size] = [multiple] * size  # one length that needs no padding
                lengths[size : 2 * size] = [multiple] * size
            got = case.call(lengths, tried=f"{number} sequences of these lengths: {lengths}")
            case.is_a("the result", got, list | tuple, "a list of pairs")
            batches = [lengths[start : start + size] for start in range(0, number, size)]
            every = [(len(batch), -(-max(batch) // multiple) * multiple) for batch in batches]
            right = shapes_of(lengths, size, multiple, kept)
            mistakes = [
                (shapes_of(lengths, size, multiple, not kept), f"The last batch {last} if it is smaller."),
                (shapes_of(lengths, size, 1, kept), f"The length is rounded up to a multiple of {multiple}."),
                (
                    shapes_of(lengths, size, multiple, kept, lambda length, m: (length // m + 1) * m),
                    "A length that is a multiple already needs no padding.",
                ),
                (
                    shapes_of(lengths, size, multiple, kept, lambda length, m: length // m * m),
                    "Rounded down, the longest sequence does not fit.",
                ),
                (
                    every if kept else [one for one in every if one[0] == size],
                    "A shape is compiled once. List it once.",
                ),
                (sorted(right), "Give the shapes in the order in which they come."),
                ([(length, rows) for rows, length in right], "Rows come first: the number of sequences, then tokens."),
            ]
            case.equal("the list of shapes", [tuple(one) for one in got], right, "Pad by hand.", mistakes=mistakes)

    text = (
        "A compiled training step reads an epoch of sequences in their order, in batches of "
        f"**{size}**. Each batch is padded to its longest sequence, rounded up to a multiple of **{multiple}**. A last "
        f"batch with fewer sequences **{last}**. Write `compiled_shapes(lengths)`: from the list of lengths, the list "
        "of shapes for which `jit` makes a program, as pairs (sequences, tokens), each once, in the order in which "
        "they come first."
    )
    hints = (
        "Go through the batches. When does a batch need a program that isn't there yet?",
        f"-(-length // {multiple}) * {multiple} rounds up. Keep a list, and add a shape only if it isn't in it.",
    )
    exercise = Exercise("24.11", "The shapes of an epoch", 2, 10, hints, examine)
    return Variant(exercise, text, "def compiled_shapes(lengths):")


def folded(key: int, number: int) -> int:
    """What `jax.random.fold_in` does, with whole numbers as keys."""
    return int.from_bytes(hashlib.sha256(f"{key} {number}".encode()).digest()[:6], "big")


def keys_for_workers(draws: Draws) -> Variant:
    """Keys for masks, dropout and order, on several workers: the order must be the same on all of them."""
    uses = draws.pick(list(permutations(USES)))
    names = [USES[use] for use in uses]

    def keys_of(case: Case, run: int, step: int, worker: int, made: set[int]) -> tuple:
        def fold(key: Any, number: Any) -> int:
            case.expect(
                type(key) is int and type(number) is int, "But fold takes a key and a whole number, in this order."
            )
            made.add(folded(key, number))
            return folded(key, number)

        keys = case.call(run, step, worker, fold, tried=f"the run's key {run}, step {step}, worker {worker}")
        return case.parts(keys, *(f"key of {use}" for use in uses))

    def examine(case: Case) -> None:
        seen: dict[Any, str] = {7: "the key of the run"}
        orders: dict[int, Any] = {}
        for step in (0, 1, 2, 3):
            for worker in (0, 1, 2):
                made: set[int] = set()
                keys = keys_of(case, 7, step, worker, made)
                for use, key in zip(uses, keys, strict=True):
                    about = f"the key of {use} in step {step} of worker {worker}"
                    if use == "order" and worker:
                        same = "All workers must read the same order: its key may not depend on the worker."
                        case.expect(key == orders[step], f"But {about} differs from that of worker 0.", same)
                        continue
                    case.expect(
                        key not in seen,
                        f"But {about} is also {seen.get(key)}.",
                        "The same key gives the same random numbers. Fold in one number after the other: use, step, "
                        "worker.",
                    )
                    case.expect(key in made, f"But {about} does not come from fold.")
                    seen[key] = about
                orders.setdefault(step, keys[uses.index("order")])
        other = keys_of(case, 8, 1, 1, set())
        case.expect(not set(other) & set(seen), "But the runs with keys 7 and 8 share keys: begin with the run's key.")

    text = (
        "Several workers train together. In each step all of them read the sentences in the same random order, and "
        "each draws masks and dropout of its own. Write `keys_for(key, step, worker, fold)`. `fold(key, number)` does "
        "what `jax.random.fold_in` does: it returns another key; keys are whole numbers here. Return three keys, for "
        f"**{names[0]}**, **{names[1]}** and **{names[2]}**, in this order. The key of the order is the same for all "
        "workers. No two other keys may be equal, for any steps, workers or uses, and none may be the key of the run."
    )
    hints = (
        "fold(key, step + worker) gives step 1 of worker 0 what step 0 of worker 1 gets. Fold twice.",
        "First a key for the step. From it three keys, one for each use. Into two of them fold the worker.",
    )
    exercise = Exercise("24.12", "Keys for several workers", 3, 10, hints, examine)
    return Variant(exercise, text, "def keys_for(key, step, worker, fold):")


MAKERS = {"24.11": compiled_shapes, "24.12": keys_for_workers}
