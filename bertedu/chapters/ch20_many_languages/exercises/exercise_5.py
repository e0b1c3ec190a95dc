"""Exercise 20.5: Two switches."""

import unicodedata

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


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
