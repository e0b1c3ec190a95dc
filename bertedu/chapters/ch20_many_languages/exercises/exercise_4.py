"""Exercise 20.4: Two honest numbers."""

from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

KEYS = ("english validation", "target validation", "target test")


def candidates(*rows: tuple[float, float, float]) -> list[dict[str, float]]:
    """Accuracies by their names."""
    return [dict(zip(KEYS, row, strict=True)) for row in rows]


APART = candidates((0.91, 0.55, 0.52), (0.95, 0.60, 0.58), (0.93, 0.71, 0.66), (0.90, 0.68, 0.73))


EQUAL = candidates((1.0, 0.50, 0.47), (1.0, 0.80, 0.76), (1.0, 0.80, 0.79))


@exercise(
    "20.4",
    "Two honest numbers",
    difficulty=2,
    minutes=8,
    hints=(
        "Two things are different: by what you choose a candidate, and what you report of it. You always report its "
        "target test accuracy.",
        'honest = max(candidates, key=lambda one: one["english validation"]), and for the oracle the same with the '
        "target's validation accuracy.",
    ),
)
def zero_shot_report(case: Case) -> None:
    """Candidates on which every wrong choice gives another number; then ties, and a single candidate."""
    case.causes = {
        "unhashable": "`max` needs a key for dictionaries: key=lambda one: one[…].",
        "not supported between": "`max` can't compare dictionaries: give it a key, key=lambda one: one[…].",
        "is not defined": "Is the name spelled as where it was given a value?",
        "'": f"The keys of a candidate are {', '.join(KEYS)}.",  # what a KeyError says
    }
    result = numbers(case.call(APART, tried="four candidates"))
    check_report(case, result, {"zero-shot": 0.58, "oracle": 0.66})
    zero, oracle = float(result["zero-shot"]), float(result["oracle"])
    if abs(zero - 0.58) > 1e-6:
        advice = "Choose by English validation, and report the target's test accuracy."
        case.fail(f"But zero-shot is {zero}.", ZERO.get(round(zero, 4), advice))
    if abs(oracle - 0.66) > 1e-6:
        advice = "Choose by the target's validation data, and report its test accuracy."
        case.fail(f"But the oracle is {oracle}.", ORACLE.get(round(oracle, 4), advice))
    result = numbers(case.call(EQUAL, tried="three candidates that are equally good in English"))
    check_report(case, result, {"zero-shot": 0.47, "oracle": 0.76})
    if abs(float(result["zero-shot"]) - 0.47) > 1e-6:
        case.fail(
            f"But zero-shot is {result['zero-shot']}. All three have 1.0 in English, so the first one is to be taken.",
            "Is a tie decided by the target's accuracy, or is the last one taken (>=)?",
        )
    if abs(float(result["oracle"]) - 0.76) > 1e-6:
        case.fail(f"But the oracle is {result['oracle']}. Two have 0.80 on validation: take the first of them.")
    result = numbers(case.call(APART[:1], tried="a single candidate"))
    check_report(case, result, {"zero-shot": 0.52, "oracle": 0.52})


ZERO = {
    0.73: "You chose the highest *test* accuracy. The test data may choose nothing: that is the worst leak of all.",
    0.66: "You chose by the target's validation data. These are target labels: that is the oracle, not zero-shot.",
    0.95: "You chose the right candidate, and reported its English accuracy. Report the target's test accuracy.",
    0.60: "You chose the right candidate, and reported its *validation* accuracy. Report the target's test accuracy.",
    0.71: "That is the target's best validation accuracy. Choose by English, and report the target's test accuracy.",
    0.6225: "That is the mean over all candidates. You ship one: which would you choose without target labels?",
    0.52: "That is the first candidate. Another one is better on English validation.",
}


ORACLE = {
    0.73: "You chose by the *test* data. The oracle chooses by validation data, and the test is only reported.",
    0.58: "That is the zero-shot candidate. The oracle is allowed to use the target's validation data.",
    0.71: "You chose the right candidate, and reported its validation accuracy. Report its target test accuracy.",
    0.93: "You chose the right candidate, and reported its English accuracy. Report its target test accuracy.",
}


def numbers(result: object) -> Any:
    """A dictionary whose numbers are tensors, with their numbers."""
    return plain(result) if isinstance(result, dict) else result


def check_report(case: Case, result: object, expected: dict[str, float]) -> None:
    """Not yet, unless the result is a dictionary with the two numbers."""
    wanted = 'a dictionary {"zero-shot": …, "oracle": …}'
    case.is_a("the result", result, dict, wanted)
    assert isinstance(result, dict)
    if set(result) != set(expected):
        case.fail(f"But its keys are {list(result)}, and `{wanted}` is asked for.")
    for name, number in result.items():
        if isinstance(number, dict):
            case.fail(f"But {name} is a whole candidate. Report one number of it: its target test accuracy.")
        if not isinstance(number, int | float):
            case.fail(f"But {name} is {number!r}, and it should be a number.")
