"""Exercises 20.4 and 20.5: zero-shot without leaking, and accents that were not to be stripped."""

import unicodedata
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


def stripped(text: str) -> str:
    """Without accents, and put together again."""
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(letter for letter in apart if unicodedata.category(letter) != "Mn"))


@exercise(
    "20.5",
    "Two switches",
    difficulty=3,
    minutes=12,
    hints=(
        "Two ifs, one after the other, none inside the other. Accents are stripped in three steps: take apart (NFD), "
        "drop the category Mn, put together (NFC).",
        'unicodedata.normalize("NFC", text) is the last step, after the marks have been dropped.',
    ),
)
def repaired(case: Case) -> None:
    """All four settings of the switches on Spanish, Korean and Greek."""
    case.causes = {
        "unexpected keyword": "It needs the parameters text, lower_case and strip_accents.",
        "positional argument": "It needs the parameters text, lower_case and strip_accents.",
        "'unicodedata' is not defined": "Is `unicodedata` imported?",
        "must be str, not list": 'That is a list of letters: join them to a text first, by "".join(…).',
        "must be a unicode character": "`unicodedata.category` takes one character: go letter by letter.",
    }
    spanish, korean = "Hacía AÑOS, naïve", "개가 집에서"
    untouched = case.call(spanish, False, False, tried=f'"{spanish}" with both switches off')
    say(case, untouched, spanish, "Both switches are off, so the text comes back as it is.")
    apart = unicodedata.normalize("NFD", "café")
    untouched = case.call(apart, False, False, tried='"café" in the form NFD, with both switches off')
    advice = "Both switches are off, so the text comes back as it is: is NFC applied where no accent was stripped?"
    say(case, "right" if untouched == apart else untouched, "right", advice)
    result = case.call(spanish, True, False, tried=f'"{spanish}" with lower_case alone')
    if result == stripped(spanish.lower()):
        case.fail(f"But it returned {result!r}.", "The accents are gone, and nobody asked for that: two separate ifs.")
    decomposed = unicodedata.normalize("NFD", spanish.lower())
    if result == decomposed:
        case.fail("But the accents are taken apart (NFD), which looks alike and has other ids. Leave them as they are.")
    say(case, result, spanish.lower(), "Lower-casing should change nothing but the capitals.")
    result = case.call(spanish, False, True, tried=f'"{spanish}" with strip_accents alone')
    if result == stripped(spanish.lower()):
        case.fail(f"But it returned {result!r}.", "The capitals are gone, and lower_case is False.")
    if result == spanish:
        case.fail(
            "But the accents are still there.",
            "A letter with its accent is one character, which is no mark (Mn): take it apart first, by NFD.",
        )
    if result == unicodedata.normalize("NFD", spanish):
        case.fail("But the letters are only taken apart: drop the characters of the category Mn.")
    if isinstance(result, str) and result == "".join(c for c in spanish if c.isascii()):
        case.fail(f"But it returned {result!r}: the letters are gone, not only their accents.")
    say(case, result, stripped(spanish), "Only the accents should go.")
    result = case.call(korean, True, True, tried=f'"{korean}" with both switches on')
    if isinstance(result, str) and len(result) > len(korean) and unicodedata.normalize("NFC", result) == korean:
        case.almost(
            f"The Korean text has {len(korean)} characters, and {len(result)} came back: each syllable is in pieces.",
            "NFD takes syllables apart, and their letters are no marks. What puts them together again?",
        )
    if isinstance(result, str) and not result.strip():
        case.fail("But nothing of the Korean text is left. An encoding to ASCII drops whole letters.")
    say(case, result, korean, "A Korean text has no accents and no capitals: it should come back as it is.")
    greek = "Ο ΣΚΎΛΟΣ"
    result = case.call(greek, True, True, tried=f'"{greek}" with both switches on')
    if result == greek.lower():
        case.fail(
            f"But it returned {result!r}.",
            "Both switches are on, and the accent is still there: no elif, no early return, no list of accents.",
        )
    accepted = {stripped(greek.lower()), stripped("".join(letter.lower() for letter in greek))}
    say(case, result if result not in accepted else "right", "right", f"Expected was {stripped(greek.lower())!r}.")
    others = "Straße ½"
    result = case.call(others, True, True, tried=f'"{others}" with both switches on')
    advice = "Here nothing has an accent. casefold changes more than capitals, and NFKD and NFKC more than accents."
    say(case, result, others.lower(), advice)


def say(case: Case, result: object, expected: str, advice: str) -> None:
    """Not yet, unless the text is the expected one."""
    case.is_a("the result", result, str, "a text")
    if result != expected:
        case.fail(f"But it returned {result!r}.", advice)
