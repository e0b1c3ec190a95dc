"""Exercises of chapter 11: tagging."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.spans import tag_spans

IGNORED = -100


@exercise(
    "11.1",
    "Nine words of ten",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Write down the entities of both rows as (type, first word, last word). How many stand in both?",
        "One of two found is right: precision ½. One of two right ones was found: recall ½.",
    ),
)
def nine_of_ten(case: Case) -> None:
    """One entity of two, on both sides: 0.5."""
    case.predicted(
        0.5,
        otherwise="Count whole entities: how many were to be found, how many were found, how many are in both?",
        mistakes=[
            (0.9, "0.9 is the share of words with the right tag. Which whole entities are right?"),
            (0.75, "There is no half point: Rose instead of Rose Whitaker is one entity missed and one invented."),
            (1, "Rose Whitaker was not found: the model says that the name is Rose."),
            (2 / 3, "Precision counts too: the entity Rose was found, and it stands nowhere among the right ones."),
            (0, "Lake Garda was found, with the right type and both ends right."),
        ],
    )


def spans_so(tags: Sequence[str], inclusive=False, lost=False, merged=False, typeless=False, strict=False) -> list:
    """Spans as a wrong reader sees them."""
    found: list[list[Any]] = []
    previous = "O"
    for place, tag in enumerate(tags):
        position, _, kind = tag.partition("-")
        goes_on = previous != "O" and (position == "I" or merged) and (typeless or previous[2:] == kind)
        if tag == "O" or (strict and position == "I" and not goes_on):
            previous = "O"
            continue
        if goes_on:
            found[-1][2] = place + 1
        else:
            found.append([kind, place, place + 1])
        previous = tag
    if lost and found and found[-1][2] == len(tags):
        found.pop()
    return [(kind, start, end - inclusive) for kind, start, end in found]


@exercise(
    "11.2",
    "From tags to entities",
    difficulty=2,
    minutes=8,
    hints=(
        "Go from word to word and remember the entity that is open: its type and its first word. What closes it?",
        "An entity goes on only with I- of its own type. Anything else closes it, and B- or I- opens the next. "
        "And what closes the one that is open after the last word?",
    ),
)
def spans(case: Case) -> None:
    """Entities at the end, side by side, of two types in a row, and broken tags."""
    cases = [
        (["B-person", "I-person", "O", "B-place", "O"], "a sentence with a person of two words and a place"),
        (["O", "B-place", "I-place"], "a sentence that ends with a place"),
        (["B-person", "B-person", "O"], "two persons side by side"),
        (["B-person", "I-place", "O"], "a B-person and an I-place"),
        (["O", "I-place", "I-place", "O"], "an I-place without a beginning"),
        (["O", "O"], "a sentence without an entity"),
        (["B-person", "I-person", "B-person", "I-place", "I-place", "B-place"], "six words and no O"),
    ]
    for tags, tried in cases:
        got = case.call(tags, tried=f"{tried}: {' '.join(tags)}")
        case.is_a("the result", got, list | tuple, "a list of (type, first word, word behind the last)")
        right = [tuple(span) for span in tag_spans(tags)]
        mistakes = [
            (spans_so(tags, inclusive=True), "The last number is the word BEHIND the entity, as in tags[start:end]."),
            (spans_so(tags, lost=True), "The entity that is still open after the last word is lost."),
            (spans_so(tags, merged=True), "B- always begins a new entity, also right behind another of its type."),
            (
                [(tag[2:], place, place + 1) for place, tag in enumerate(tags) if tag != "O"],
                "Every word has become an entity of its own. I- goes on with the one before.",
            ),
            (spans_so(tags, typeless=True), "An entity has one type: I- of another type cannot go on with it."),
            (
                spans_so(tags, strict=True),
                "The CoNLL evaluation reads an I- that goes on with nothing as the beginning of an entity.",
            ),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        got = [tuple(span) if isinstance(span, list | tuple) else span for span in got]
        case.equal("the list", got, right, "Where does each entity begin, and what ends it?", mistakes=known)


def aligned(pieces: Sequence[Sequence[int]], labels: Sequence[int], rest: str = "ignored") -> list[int]:
    """Labels of [CLS], all pieces and [SEP], and the ways in which they go wrong."""
    inside: list[int] = []
    for ids, label in zip(pieces, labels, strict=True):
        others = [IGNORED] * (len(ids) - 1)
        if rest == "last":
            inside += [*others, label]
        elif rest == "all":
            inside += [label] * len(ids)
        elif rest == "zero":
            inside += [label] + [0] * len(others)
        else:
            inside += [label, *others]
    if rest == "early":
        inside = list(labels) + [IGNORED] * (sum(map(len, pieces)) - len(labels))
    edge = 0 if rest == "edges" else IGNORED
    return [edge, *inside, edge]


@exercise(
    "11.3",
    "A label for every piece",
    difficulty=2,
    minutes=8,
    hints=(
        "A word of three pieces brings three entries: which of them may count in the loss?",
        "Begin with [-100] for [CLS]; for each word add its label and then -100 for each further piece; end with "
        "-100 for [SEP].",
    ),
)
def piece_labels(case: Case) -> None:
    """Words of one, two and three pieces; none split; all split."""
    cases = [
        ([[17], [52, 9, 8], [4, 30], [5]], [0, 1, 2, 0], "4 words of 1, 3, 2 and 1 pieces"),
        ([[7], [8]], [3, 0], "2 words of one piece"),
        ([[6, 6, 6]], [1], "one word of 3 pieces"),
    ]
    for pieces, labels, tried in cases:
        got = case.call(pieces, labels, tried=tried)
        got = got.tolist() if isinstance(got, Tensor) else got
        case.is_a("the result", got, list | tuple, "a list of numbers")
        total = sum(map(len, pieces)) + 2
        right = aligned(pieces, labels)
        if list(got) == right[1:-1]:
            case.almost("All pieces are right. [CLS] and [SEP] are tokens too, and need a label that is ignored.")
        if len(got) in (len(labels), len(labels) + 2) and total != len(labels) + 2:
            case.fail(
                f"But there are {len(got)} labels, and the model sees {total} tokens: {total - 2} pieces, [CLS] and "
                "[SEP].",
                "A label for each piece, not for each word.",
            )
        mistakes = [
            (aligned(pieces, labels, "all"), "Every piece has the word's label. Here only the first one may count."),
            (aligned(pieces, labels, "last"), "The label stands at the last piece of each word. Put it at the first."),
            (
                aligned(pieces, labels, "early"),
                "The labels stand one behind the other, as if no word were split: from the first split word on each "
                "one stands too early.",
            ),
            (
                aligned(pieces, labels, "zero"),
                "0 is a label (here O), and would be learned. What the loss is to pass over is -100.",
            ),
            (aligned(pieces, labels, "edges"), "[CLS] and [SEP] are no words. With 0 the model would learn O there."),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        case.equal("the list", list(got), right, "Word by word: its label, then -100 for the rest.", mistakes=known)


def enumerated(emissions: Tensor, transitions: Tensor) -> list[int]:
    """The best row of tags, by trying all."""
    words, tags = emissions.shape
    rows: list[tuple[int, ...]] = list(itertools.product(range(tags), repeat=words))

    def score(row: tuple[int, ...]) -> float:
        said = sum(float(emissions[word, tag]) for word, tag in enumerate(row))
        return said + sum(float(transitions[a, b]) for a, b in itertools.pairwise(row))

    best = max(rows, key=score)
    return list(best)


def greedy(emissions: Tensor, transitions: Tensor) -> list[int]:
    """From left to right, the best next tag."""
    row = [int(emissions[0].argmax())]
    for said in emissions[1:]:
        row.append(int((said + transitions[row[-1]]).argmax()))
    return row


@exercise(
    "11.4",
    "From the sum to the best",
    difficulty=3,
    minutes=12,
    hints=(
        "Forward kept, for each tag, the sum of all rows that end with it. Keep the best score instead, and where it "
        "came from.",
        "scores, origin = (best[:, None] + transitions).max(dim=0); best = scores + emissions[word]. At the end take "
        "best.argmax() and follow the origins from the last word back to the first.",
    ),
)
def viterbi(case: Case) -> None:
    """Random scores against enumeration, the pencil's example, one word."""
    emissions = torch.tensor([[1.0, 4], [3, 2], [5, 1]]).log()
    transitions = torch.tensor([[2.0, 1], [1, 4]]).log()
    compare_row(case, emissions, transitions, "the example of the pencil")
    for words, tags in ((4, 3), (5, 3), (6, 2)):
        for _ in range(4):
            compare_row(case, case.randn(words, tags), 2 * case.randn(tags, tags), f"{words} words and {tags} tags")
    compare_row(case, case.randn(1, 4), case.randn(4, 4), "a single word")


def compare_row(case: Case, emissions: Tensor, transitions: Tensor, tried: str) -> None:
    """One row of tags against enumeration."""
    got = case.call(emissions, transitions, tried=tried)
    if isinstance(got, tuple) and len(got) == 2 and isinstance(got[0], list | Tensor):
        case.fail("But it returned two things. Only the row of tags is asked for.")
    got = got.tolist() if isinstance(got, Tensor) else [int(tag) for tag in got] if isinstance(got, list) else got
    case.is_a("the result", got, list, "a list of tag numbers")
    case.expect(
        len(got) == len(emissions),
        f"But there are {len(got)} tags for {len(emissions)} words. Do you follow the origins back to the first word?",
    )
    right = enumerated(emissions, transitions)
    mistakes = [
        (right[::-1], "The tags are right, in reverse: following the origins goes from the last word to the first."),
        (
            emissions.argmax(dim=1).tolist(),
            "That is each word's own best tag. The steps from tag to tag have a score, too.",
        ),
        (
            greedy(emissions, transitions),
            "That is greedy: the best next tag, never taken back. Keep one best row for EACH last tag.",
        ),
        (enumerated(emissions, transitions.T), "The transitions are turned round: they go from the row to the column."),
    ]
    known = [(wrong, said) for wrong, said in mistakes if wrong != right]
    advice = "Compare the score of your row with that of the expected one: emissions and steps."
    case.equal("the row", got, right, advice, mistakes=known)


@exercise(
    "11.5",
    "Read the right pieces",
    difficulty=3,
    minutes=8,
    hints=(
        "first_pieces has a 1 where a word begins. Which entries of piece_tags are those?",
        "[tag for tag, first in zip(piece_tags, first_pieces) if first], and then an O for each word that is missing.",
    ),
)
def word_tags(case: Case) -> None:
    """Split words, none, and a sentence that was cut off."""
    cases = [
        (list("cabcdefg"), [0, 1, 1, 0, 0, 1, 1, 0], 4, "4 words of 1, 3, 1 and 1 pieces"),
        (list("xpqy"), [0, 1, 1, 0], 2, "2 words of one piece"),
        (list("xrstuy"), [0, 1, 0, 1, 0, 0], 2, "2 words of 2 pieces each"),
        (["c", "B-place", "I-place", "s"], [0, 1, 1, 0], 4, "4 words of which only 2 fitted in"),
    ]
    for tags, first, words, tried in cases:
        got = case.call(tags, first, words, tried=tried)
        case.is_a("the result", got, list | tuple, "a list of tags")
        right = [tag for tag, one in zip(tags, first, strict=True) if one]
        if list(got) == right and len(right) < words:
            case.almost(
                f"There are {words} words and {len(right)} tags: the others were cut off before the model saw them. "
                "A score would compare the wrong words: they need a tag, too, and O says that nothing was found."
            )
        right += ["O"] * (words - len(right))
        last = [tag for tag, behind in zip(tags, [*first[1:], 1], strict=True) if behind][1:]
        ends = [i for i in range(1, len(tags) - 1) if first[i + 1] or i == len(tags) - 2]
        mistakes = [
            (tags[1 : 1 + words], "That is the broken one: the first tags in a row, as if no word were split."),
            (tags[:words], "The row begins with [CLS], which is no word. And words may have several pieces."),
            (tags[1:-1], "That is a tag for every piece. Each word gets the one of its first piece."),
            ([tags[i] for i in ends], "That is the last piece of each word. Labels were learned at the first."),
            (last, "That is the last piece of each word. Labels were learned at the first."),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        case.equal("the list", list(got), right, "One tag a word: that of its first piece.", mistakes=known)
