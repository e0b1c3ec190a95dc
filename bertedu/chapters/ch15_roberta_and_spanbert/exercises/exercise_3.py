"""Exercise 15.3: Spans to a budget."""

import random
from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.pretraining.span_masking import spans_of_row

# [CLS] the old light ##house ##keeper saw a ship . [SEP]
WORDS = [0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 0]


LENGTHS = [1] * 11


@exercise(
    "15.3",
    "Spans to a budget",
    difficulty=3,
    minutes=15,
    without=("spans_of_row",),
    hints=(
        "Two loops: over the starts, and over the words of a span. The words of a span are numbered "
        "word_of[start], word_of[start] + 1, … For each, collect its tokens: those i with word_of[i] == word.",
        "cost = the number of the word's tokens that are not masked yet. If there are no tokens, or cost > budget, "
        "leave the inner loop. Otherwise mask them and subtract the cost.",
    ),
)
def choose_spans(case: Case) -> None:
    """Single words, whole words from an inner piece, the text's end, a budget that is too small, overlaps."""
    case.causes["list index out of range"] = (
        "A span can reach the end of the text. Is there still a token, and does it belong to a word?"
    )
    single_words(case)
    the_end_of_the_text(case)
    a_long_word(case)
    a_long_first_word(case)
    a_masked_start(case)
    a_masked_word(case)
    random_rows(case)


def single_words(case: Case) -> None:
    """A word of one token, and a span of two words from the middle of one."""
    got = chosen_by(case, WORDS, [7, 1], LENGTHS, 1, "a start at token 7, length 1, and a budget of 1")
    case.equal(
        "the result",
        got,
        marked(7),
        "Token 7 is a word of one token: it alone is masked.",
        mistakes=[(marked(), "Nothing is masked. A word that costs exactly what the budget has left still fits.")],
    )
    tried = "a start at token 4, inside a word, length 2, and a budget of 4"
    got = chosen_by(case, WORDS, [4], [2] * 11, 4, tried)
    first = "The span should begin with the first token of its word, and the word of token 4 begins with token 3."
    tokens = "Those are two tokens. The lengths count words, and a word has all of its tokens."
    case.equal(
        "the result",
        got,
        marked(3, 4, 5, 6),
        "A span begins with the first token of the word of its start, and consists of whole words.",
        mistakes=[
            (marked(4, 5), tokens),
            (marked(3, 4), tokens),
            (marked(4, 5, 6, 7), first),
            (marked(4, 5, 6), first),
            (marked(3, 4, 5), "That is one word. The span has two."),
        ],
    )


def the_end_of_the_text(case: Case) -> None:
    """[SEP] ends a span, and the rest of the budget is for the next start."""
    got = chosen_by(case, WORDS, [8, 1], [5] * 11, 3, "starts at tokens 8 and 1, length 5, near the text's end")
    case.equal(
        "the result",
        got,
        marked(8, 9, 1),
        "The text ends after token 9, so the span ends there too. The rest of the budget is for the next start.",
        mistakes=[
            (marked(8, 9, 10), "Token 10 is [SEP]. A span never goes on over a token whose word number is 0."),
            (marked(8, 9), "The budget has 1 left. Go on with the next start."),
        ],
    )


def a_long_word(case: Case) -> None:
    """A word that the budget has no room for ends its span, and no other."""
    tried = "starts at tokens 2 (a long word follows), 9 and 1, length 3, and a budget of 3"
    got = chosen_by(case, WORDS, [2, 9, 1], [3] * 11, 3, tried)
    case.equal(
        "the result",
        got,
        marked(2, 9, 1),
        "After token 2 the budget has 2 left, and the next word has 3 tokens. The span ends, and other starts follow.",
        mistakes=[
            (marked(2, 3, 4), "A part of a word is masked. A word that doesn't fit into the budget ends its span."),
            (marked(2, 6), "The long word was passed over, and its span went on. The span should end there."),
            (marked(2, 6, 9), "The long word was passed over, and its span went on. The span should end there."),
            (marked(2), "The span ends at the long word, but the budget has 2 left. Go on with the next start."),
            (marked(2, 9), "The budget has 1 left. Go on with the next start."),
        ],
    )


def a_long_first_word(case: Case) -> None:
    """A span whose first word has no room masks nothing."""
    tried = "starts at tokens 4 (inside a long word) and 9, length 3, and a budget of 2"
    got = chosen_by(case, WORDS, [4, 9], [3] * 11, 2, tried)
    case.equal(
        "the result",
        got,
        marked(9),
        "The word of token 4 has 3 tokens, and the budget is 2: this span masks nothing. The next start is token 9.",
        mistakes=[
            (marked(6, 7), "The span's first word has no room, so the span is over. It went on with the next word."),
            (marked(), "The first span masks nothing, but the budget is still 2. Go on with the next start."),
        ],
    )


def a_masked_start(case: Case) -> None:
    """A start that an earlier span has masked begins no span."""
    tried = "starts at tokens 6, 7 (masked by then) and 1, length 2, and a budget of 3"
    got = chosen_by(case, WORDS, [6, 7, 1], [2] * 11, 3, tried)
    case.equal(
        "the result",
        got,
        marked(6, 7, 1),
        "The first span masks tokens 6 and 7. The start at token 7 is skipped, and the last one has a budget of 1.",
        mistakes=[(marked(6, 7, 8), "Token 7 is masked when its turn comes: such a start is skipped (rule 1).")],
    )


def a_masked_word(case: Case) -> None:
    """A span that meets an earlier one goes on and pays nothing for it."""
    lengths = [1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1]
    tried = "starts at tokens 7 (length 1), 6 (length 3) and 1, and a budget of 3"
    got = chosen_by(case, WORDS, [7, 6, 1], lengths, 3, tried)
    case.equal(
        "the result",
        got,
        marked(6, 7, 8),
        "Token 7 is masked already when the second span gets there: it costs nothing, but counts as one of its words.",
        mistakes=[
            (marked(6, 7), "Was the masked word paid for twice? It costs nothing the second time."),
            (marked(6, 7, 1), "The span ended at the masked word. It costs nothing there, and the span goes on."),
            (marked(6, 7, 8, 9), "The masked word counts as one of the three words of the span."),
        ],
    )
    tried = "starts at tokens 3 (a word of three tokens, length 1) and 2 (length 3), and a budget of 5"
    got = chosen_by(case, WORDS, [3, 2], [1, 1, 3, *[1] * 8], 5, tried)
    case.equal(
        "the result",
        got,
        marked(2, 3, 4, 5, 6),
        "The second span meets the masked word of three tokens: it costs nothing, and the span goes on.",
        mistakes=[
            (
                marked(2, 3, 4, 5),
                "The span ended at the masked word. Compare with the budget only the tokens of a word that are not "
                "masked yet: here there are none.",
            )
        ],
    )


def random_rows(case: Case) -> None:
    """Many random texts, against the package."""
    rng = random.Random(15)
    for number in range(120):
        sizes = [rng.choice((1, 1, 1, 2, 3)) for _ in range(rng.randint(1, 9))]
        words = [0, *(word for word, size in enumerate(sizes, 1) for _ in range(size)), 0, *[0] * rng.randint(0, 2)]
        starts = rng.sample(range(len(words)), len(words))
        lengths = [rng.randint(1, 5) for _ in words]
        budget = rng.randint(0, sum(sizes) + 2) if number else 0
        got = chosen_by(case, words, starts, lengths, budget, "120 random texts")
        expected = spans_of_row(starts, words, lengths, budget)
        if got == expected:
            continue
        text = f"One of them: word_of {words}, starts {starts}, lengths {lengths}, budget {budget}."
        if any(yes and word == 0 for yes, word in zip(got, words, strict=True)):
            case.fail(text, "But a token whose word number is 0 is masked: [CLS], [SEP] and padding never are.")
        for word in set(words) - {0}:
            if len({yes for yes, of in zip(got, words, strict=True) if of == word}) == 2:
                case.fail(text, f"But only a part of word {word} is masked: all of its tokens or none.")
        case.fail(
            text,
            f"But the tokens {places(got)} are masked, and should be {places(expected)}.",
            "Go through the four rules once more.",
        )


def chosen_by(
    case: Case, words: list[int], starts: list[int], lengths: list[int], budget: int, tried: str
) -> list[bool]:
    """What came: one boolean for each token. The positions that no start is named for come last."""
    starts = [*starts, *(i for i in range(len(words)) if i not in starts and words[i] == 0)]
    got: Any = plain(case.call(list(words), starts, list(lengths), budget, tried=tried))
    case.is_a("the result", got, list, "a list of booleans, one for each token")
    if len(got) != len(words) or any(value not in (0, 1) for value in got):
        case.fail(
            f"But the result is {said(got)}.",
            f"It should have one entry for each of the {len(words)} tokens: True where it is masked, else False.",
        )
    if sum(got) > budget:
        case.fail(
            f"But {sum(got)} tokens are masked, and the budget is {budget}.",
            "Before you mask a word, compare the number of its tokens with what the budget has left.",
        )
    return [bool(value) for value in got]


def marked(*tokens: int) -> list[bool]:
    """True at these tokens of WORDS."""
    return [i in tokens for i in range(len(WORDS))]


def places(row: list[bool]) -> list[int]:
    """The positions that are True."""
    return [i for i, yes in enumerate(row) if yes]
