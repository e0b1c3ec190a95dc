"""Whiteboard drill: whole-word masking."""

import random

from bertedu.course.case import Case, plain
from bertedu.interview.drills.drill import Drill

TASK = """
Write `choose_words(tokens, number, rng)`: which tokens are masked, by whole words, as in BERT's whole-word masking.

    tokens   a list of WordPieces, such as ["[CLS]", "un", "##able", "to", "go", "[SEP]", "[PAD]"]
    number   the most tokens that may be chosen
    rng      a random.Random: all random numbers come from it

A word is a piece without "##" and all pieces with "##" after it. Go through the words in random order, each order as
likely as any other. Take a word, with all of its pieces, if it still fits into the number; pass over one that does not
fit, and go on with the next. [CLS], [SEP] and [PAD] are no words.

Return a list of booleans, one for each token: True where it is chosen.
"""

STUB = """
def choose_words(tokens, number, rng):
    raise NotImplementedError
"""

SOLUTION = """
def choose_words(tokens, number, rng):
    words = []  # for each word, the positions of its pieces
    for position, token in enumerate(tokens):
        if token in ("[CLS]", "[SEP]", "[PAD]"):
            continue
        if token.startswith("##") and words:
            words[-1].append(position)
        else:
            words.append([position])
    rng.shuffle(words)
    chosen = [False] * len(tokens)
    left = number
    for word in words:
        if len(word) <= left:
            left -= len(word)
            for position in word:
                chosen[position] = True
    return chosen
"""

SPECIAL = ("[CLS]", "[SEP]", "[PAD]")
SENTENCE = "[CLS] un ##able to go on ward ##s and ##ro ##id ##s here a b c [SEP] x ##y z [SEP] [PAD] [PAD]"
TEXT = SENTENCE.split()
NUMBER = 6
TRIALS = 400


def words_of(tokens: list[str]) -> list[list[int]]:
    """The positions of the pieces of each word."""
    words: list[list[int]] = []
    for position, token in enumerate(tokens):
        if token.startswith("##"):
            words[-1].append(position)
        elif token not in SPECIAL:
            words.append([position])
    return words


def examine(case: Case) -> None:
    """Many draws on one text: shape, special tokens, whole words, number, chance; then small texts."""
    case.causes = {
        "Sample larger than population": "rng.sample takes no more than there is. rng.shuffle orders all words.",
        "rng": "All random numbers come from the argument rng.",
    }
    words, counts = words_of(TEXT), [0] * len(TEXT)
    rows = []
    for seed in range(TRIALS):
        row = draw(case, TEXT, NUMBER, seed, f"a text of {len(words)} words with {NUMBER} tokens to choose at most")
        one_draw(case, row, words)
        rows.append(row)
        counts = [count + chosen for count, chosen in zip(counts, row, strict=True)]
    chance(case, rows, words, counts)
    again = [draw(case, TEXT, NUMBER, seed, "the same text with the same seeds") for seed in range(5)]
    if again != rows[:5]:
        case.fail("But the same seed gave two results. All random numbers come from rng, not from the module random.")
    edges(case)


def draw(case: Case, tokens: list[str], number: int, seed: int, tried: str) -> list[bool]:
    """One answer as a list of booleans."""
    got = plain(case.call(list(tokens), number, random.Random(seed), tried=tried, keeps_inputs=False))
    case.is_a("the result", got, list, "a list of booleans")
    if got and all(isinstance(one, list) for one in got):
        case.fail("But it returned lists of positions. One boolean for each token is asked for.")
    if len(got) != len(tokens):
        case.fail(
            f"But it has {len(got)} entries, and there are {len(tokens)} tokens: one boolean for each is asked for."
        )
    if any(type(one) is not bool and one not in (0, 1) for one in got):
        case.fail("But its entries are not booleans: True where a token is chosen, False elsewhere.")
    return [bool(one) for one in got]


def one_draw(case: Case, row: list[bool], words: list[list[int]]) -> None:
    """What must hold in every draw."""
    if special := [TEXT[place] for place, chosen in enumerate(row) if chosen and TEXT[place] in SPECIAL]:
        case.fail(f"But it chose {special[0]}, which is no word.")
    for word in words:
        chosen = [row[place] for place in word]
        if any(chosen) and not all(chosen):
            pieces = " ".join(TEXT[place] for place in word)
            taken = " ".join(TEXT[place] for place in word if row[place])
            others = any(all(row[place] for place in other) for other in words if len(other) > 1)
            if sum(row) == NUMBER and pieces.startswith(taken) and (others or " " in taken):
                advice = "Is the last word cut to the number? Pass over a word that does not fit."
            else:
                advice = "All pieces of a word are chosen, or none: collect the positions of each word first."
            case.fail(f"But of the word {pieces} only {taken} is chosen.", advice)
    if sum(row) > NUMBER:
        came = f"But {sum(row)} tokens are chosen, and at most {NUMBER} may be."
        whole = sum(1 for word in words if row[word[0]])
        if whole == NUMBER:
            case.fail(came, "You count words. The number counts tokens, and a word can have several.")
        case.fail(came, "Take a word only if all of its pieces still fit.")
    fits = [word for word in words if not row[word[0]] and len(word) <= NUMBER - sum(row)]
    if fits:
        pieces = " ".join(TEXT[place] for place in fits[0])
        case.fail(
            f"But only {sum(row)} tokens are chosen, and {pieces} would still fit into {NUMBER}.",
            "After a word that does not fit, go on with the next one: `continue`, and not `break`.",
        )


def chance(case: Case, rows: list[list[bool]], words: list[list[int]], counts: list[int]) -> None:
    """Whether every word is chosen, those of one piece equally often."""
    if all(row == rows[0] for row in rows):
        case.fail(f"But all {TRIALS} draws chose the same words. Shuffle the words with rng.")
    never = [word for word in words if counts[word[0]] == 0]
    if never:
        pieces = " ".join(TEXT[place] for place in never[0])
        advice = (
            "The longest word should be chosen sometimes too."
            if len(never[0]) > 2
            else "Is the first or last left out?"
        )
        case.fail(f"But in {TRIALS} draws the word {pieces} was never chosen.", advice)
    single = [counts[word[0]] for word in words if len(word) == 1]
    longest = max(words, key=len)
    expected = longest_share(words, len(longest))
    if counts[longest[0]] / TRIALS < expected / 2:
        case.fail(
            f"But the longest word was chosen in {counts[longest[0]] / TRIALS:.0%} of the draws, "
            f"and {expected:.0%} is expected.",
            "Is the order of the words really random, or sorted by length?",
        )
    if max(single) - min(single) > 0.16 * TRIALS:  # four standard deviations apart would be 0.14
        case.fail(
            f"But of the words of one piece, one was chosen in {min(single) / TRIALS:.0%} of the draws and another in "
            f"{max(single) / TRIALS:.0%}.",
            "Every word should be as likely as any other. Does a word that comes first have an advantage?",
        )


def longest_share(words: list[list[int]], length: int) -> float:
    """In what share of draws the word of that length is chosen."""
    rng, found = random.Random(1), 0
    for _ in range(1000):
        left = NUMBER
        for word in rng.sample(words, len(words)):
            if len(word) <= left:
                left -= len(word)
                found += len(word) == length
    return found / 1000


def edges(case: Case) -> None:
    """No room, more room than words, a single long word."""
    short = ["[CLS]", "a", "##b", "[SEP]"]
    for number, expected in ((0, 0), (1, 0), (2, 2), (50, 2)):
        row = draw(case, short, number, 0, f"a single word of two pieces with a number of {number}")
        advice = "It does not fit, so nothing is chosen." if expected == 0 else "It fits, so both pieces are chosen."
        case.expect(sum(row) == expected, f"But {sum(row)} tokens are chosen, and {expected} should be.", advice)
    row = draw(case, ["[CLS]", "[SEP]"], 3, 0, "a text without words")
    case.expect(not any(row), "But a special token is chosen.")


DRILL = Drill(
    name="whole-words",
    title="Whole-word masking",
    minutes=10,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="06",
    section="Whole-word masking",
    hints=(
        "First collect words: a list of lists of positions. Then the order, then what fits.",
        'A token with "##" is appended to the last word, any other one begins a word. rng.shuffle(words), and take '
        "each word with len(word) <= what is left.",
    ),
    examine=examine,
)
