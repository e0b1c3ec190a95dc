"""Exercise 23.4: A digest that notices."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

BASE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{c}" for c in "abcdefgh"), "ab", "cé", "–"]


BASE += [f"word{number}" for number in range(3000)]


A, B, CONTINUED_A, ACCENT, MIDDLE = 5, 6, 13, 22, 1500  # ids


def changed(*swaps: tuple[int, str]) -> list[str]:
    """The vocabulary with other tokens at some ids."""
    return [dict(swaps).get(number, token) for number, token in enumerate(BASE)]


class Elsewhere(str):
    """A token as in another process: equal, with another hash()."""

    def __hash__(self) -> int:
        return hash(f"elsewhere {self!s}")


# Two vocabularies that must differ, and what to say where they don't.
PAIRS = (
    (BASE, changed((MIDDLE, "zz")), "a token in the middle is another one."),
    (BASE, changed((A, "b"), (B, "a")), "two tokens have swapped their ids. Does it forget the order?"),
    (BASE, changed((len(BASE) - 1, "zz")), "a token near the end is another one."),
    (BASE, changed((ACCENT, "ce")), "'cé' became 'ce'. Encode as UTF-8, all of it."),
    (BASE, changed((ACCENT, "cè")), "'cé' became 'cè'. Encode as UTF-8, all of it."),
    (BASE, changed((ACCENT, "ce\u0301")), "'é' became 'e' and an accent: two characters. Keep tokens as they are."),
    (BASE, changed((A, "A")), "'a' became 'A'. lower_case says what happens to texts: keep tokens as they are."),
    (BASE, changed((A, "##a"), (CONTINUED_A, "a")), "'a' and '##a' have swapped their ids."),
    (BASE, changed((A, "ab"), (B, "")), "'a', 'b' became 'ab', '': joined without a border they are the same."),
    *(
        (changed((A, f"a{c}"), (B, "b")), changed((A, "a"), (B, f"{c}b")), f"{said} can be a token's part: no border.")
        for c, said in ((",", "a comma"), ("|", "|"), (" ", "a space"), ("\t", "a tab"))
    ),
    (BASE, [*BASE, "a"], "a token was added at the end. Is it a set?"),
)


@exercise(
    "23.4",
    "A digest that notices",
    difficulty=3,
    minutes=12,
    hints=(
        "What must change the digest? Another token, another order, another border between tokens, another casing. "
        "Which of them does the broken version throw away?",
        "Write it all down so that the borders stay visible, as JSON does. Its bytes go into hashlib.sha256.",
    ),
)
def vocabulary_digest(case: Case) -> None:
    told = f"a vocabulary of {len(BASE):,} tokens"
    first = case.call(list(BASE), True, tried=told)
    case.is_a("the digest", first, str, "a text (hexdigest gives one)")
    case.expect(
        len(first) >= 16 and len(set(first)) > 4,
        f"But the digest has only {len(first)} characters: a length or a sum collides at once. Use hashlib.",
    )
    case.expect(
        not first.lstrip("-").isdigit(),
        "But this looks like Python's hash(): for texts it is another number in each process (PYTHONHASHSEED).",
        "A digest that was stored at export must be the same in the service. hashlib has such functions.",
    )
    case.expect(case.call(list(BASE), True, tried=told) == first, "But the second call gives another digest.")
    case.expect(
        case.protected(case.answer, [Elsewhere(token) for token in BASE], True) == first,
        "But in another process the digest would be another one: Python's hash(), and with it the order of a set, "
        "differ there (PYTHONHASHSEED). hashlib has functions that don't.",
    )
    case.begin(f"I called {case.name} on pairs of vocabularies.", "pairs of vocabularies")
    for *pair, sentence in PAIRS:
        one, other = (case.protected(case.answer, list(tokens), True) for tokens in pair)
        case.expect(one != other, f"But the digests of two vocabularies are the same: {sentence}")
    case.expect(
        case.protected(case.answer, list(BASE), False) != first,
        "But one tokenizer makes texts lower-case and the other doesn't: same digest, other ids.",
    )
    case.close_with(
        "Written at export, compared at the start: it keeps a service with a wrong vocabulary from answering."
    )
