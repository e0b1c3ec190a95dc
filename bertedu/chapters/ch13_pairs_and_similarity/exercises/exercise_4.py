"""Exercise 13.4: Nothing twice."""

import numpy as np
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

REPORT = [
    "A fire broke out in the old mill on Monday.",
    "The baker was asleep.",
    "On Monday evening a fire broke out in the old mill, says the miller.",
    "Says the miller: nobody was hurt.",
    "In the end it will be built again.",
    "It rained.",
]


@exercise(
    "13.4",
    "Nothing twice",
    difficulty=3,
    minutes=15,
    without=("select",),
    hints=(
        "Go through the sentences from the highest score to the lowest. Keep a set of the trigrams of the chosen ones.",
        "runs = set(zip(words, words[1:], words[2:])). If runs & seen is not empty, skip the sentence. If it is, "
        "choose the sentence and add its runs to seen.",
    ),
)
def nothing_twice(case: Case) -> None:
    """Trigrams of chosen sentences only, all of them, of three words each; and texts with few sentences."""
    few = "There can be fewer than `most` sentences to choose from: stop when none is left."
    case.causes["list index out of range"] = f"The last run of three words begins two words before the end. {few}"
    case.causes["pop from empty list"] = few
    scores = [0.9, 0.1, 0.8, 0.5, 0.4, 0.2]
    got = case.call(list(REPORT), list(scores), 3, tried="a report of six sentences, with most = 3")
    got = as_numbers(case, got)
    case.equal(
        "the result",
        got,
        [0, 3, 4],
        "Sentence 2 repeats three words of sentence 0. Sentence 3 repeats three words of sentence 2, but sentence 2 is "
        "not in the summary. Only chosen sentences count.",
        mistakes=[
            ([0, 2, 3], "Those are the best three by score, but sentence 2 repeats 'broke out in' from sentence 0."),
            ([0, 3], "You skipped one sentence and chose none instead. Go on until there are enough."),
            ([0, 1, 3, 4, 5], "Those are all that repeat nothing: stop when there are `most` of them."),
            ([0], "You stopped at the first repetition. Skip that sentence and go on with the next one."),
            ([1, 4, 5], "You began with the lowest score. Which sentences are most important?"),
            ([0, 4, 5], "You skipped sentence 3 because it repeats sentence 2. But sentence 2 is not in the summary."),
            ([0, 1, 4], "You skipped sentence 3 because it repeats sentence 2. But sentence 2 is not in the summary."),
            ([0, 1, 3], "You chose by the order in the text, not by score."),
            ([0, 3, 5], "Sentence 4 shares two words in a row with sentence 0, 'in the'. Only three are a repetition."),
        ],
    )
    other = [0.5, 0.1, 0.4, 0.9, 0.8, 0.2]
    got = as_numbers(case, case.call(list(REPORT), other, 3, tried="the same report, with other scores"))
    case.equal(
        "the result",
        got,
        [0, 3, 4],
        mistakes=[([3, 4, 0], "The right sentences. In which order should a reader see them?")],
    )
    texts = ["At noon the bridge was closed.", "Yesterday the bridge was open."]
    got = case.call(texts, [0.9, 0.8], 2, tried="two sentences that share exactly three words in a row")
    case.equal("the result", as_numbers(case, got), [0], "Both contain 'the bridge was', and three words are enough.")
    all_chosen_count(case)
    what_a_run_is(case)


def all_chosen_count(case: Case) -> None:
    """A sentence that repeats the first chosen one, the second, or one in other case and punctuation."""
    for tried, sentences, among in (
        (
            "three sentences, the last of which repeats the first",
            ["The end of the war came.", "Snow fell all day.", "It was the end of the war."],
            "all sentences chosen so far, not only with the sentence chosen last",
        ),
        (
            "three sentences, the last of which repeats the second",
            ["Snow fell all day.", "The end of the war came.", "It was the end of the war."],
            "all sentences chosen so far, not only with the best sentence",
        ),
    ):
        got = as_numbers(case, case.call(sentences, [0.9, 0.8, 0.7], 3, tried=tried))
        case.equal("the result", got, [0, 1], f"Compare with {among}.")
    texts = ["The end of the war!", "Peace: the end of the war.", "THE END OF the tale.", "In the end, of course."]
    got = as_numbers(case, case.call(texts, [0.3, 0.9, 0.5, 0.4], 2, tried="sentences with capitals and punctuation"))
    case.equal(
        "the result",
        got,
        [1],
        "words_of returns lower-case words without punctuation, so 'THE END OF' and 'the end, of' repeat 'the end of'.",
        mistakes=[([0], "You looked for repetitions in the order of the text. Begin with the highest score.")],
    )


def what_a_run_is(case: Case) -> None:
    """Three words next to each other: not one or two at the end, not three anywhere."""
    for tried, sentences, advice in (
        ("two sentences of one word", ["Snow.", "Ice."], "A sentence of one word has no run of three words."),
        (
            "two sentences that end in the same two words",
            ["Snow fell on Monday.", "The baker slept on Monday."],
            "They share only the last two words. Does each of your runs have three words, also at the end?",
        ),
        (
            "three short sentences, two of them equal",
            ["Snow.", "Ice.", "Snow."],
            "A sentence with fewer than three words has no run of three words, so it repeats nothing. "
            "How long are your runs there?",
        ),
        (
            "three sentences; the third has a word of the first and of the second next to each other",
            ["We saw the sea.", "Ships came at night.", "Under the sea ships sank."],
            "'the sea ships' is in no chosen sentence. It only appears if you join two sentences.",
        ),
        (
            "two sentences with the words 'lathe old oak' and 'the old oak'",
            ["They lathe old oak.", "The old oak fell."],
            "'the' is not the end of the word 'lathe': compare whole words, not letters.",
        ),
        (
            "two sentences with the same words in another order",
            ["The train left the town at noon.", "At noon the town left."],
            "They share words, but no three of them next to each other and in the same order.",
        ),
    ):
        got = as_numbers(
            case, case.call(sentences, [0.9, 0.8, 0.7][: len(sentences)], 3, tried=f"{tried}, with most = 3")
        )
        case.equal("the result", got, list(range(len(sentences))), advice)


def as_numbers(case: Case, got: object) -> list[int]:
    """The numbers of the chosen sentences, as a list."""
    if isinstance(got, Tensor | np.ndarray):
        got = got.tolist()
    case.is_a("the result", got, (list, tuple), "a list of the numbers of the chosen sentences")
    numbers = list(got)  # type: ignore[call-overload]
    if any(isinstance(number, str) for number in numbers):
        case.fail("But it returned the sentences themselves. Return their numbers: 0 is the first sentence.")
    if any(isinstance(number, bool) for number in numbers):
        case.fail("But it returned True or False for each sentence. Return the numbers of the chosen ones.")
    return numbers
