"""Variants of chapter 0: a mask in other positions, and a rank by other rules."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, compare
from bertedu.course.variant import COPIED, Draws, Variant

MASK, SPECIAL = 4, 5  # [MASK]'s id, and the first id that is not a special token's
IDS = torch.tensor([0, 0, 1, 2, 3, 7, 11, 26, 29, 30, 41, 58])  # special tokens, words, parts of words
SIZES = (((6, 6), 1), ((6, 6), 4), ((4, 7), 2), ((7, 4), 0), ((5, 8), 3), ((8, 5), 2), *[((9, 9), 3)] * 10)
KEPT = {
    "special": "A special token stays: do not mask an id **below 5**.",
    "padding": "Padding stays: do not mask the id **0**.",
    "word": "A part of a word stays: do not mask an id of **30 or more**.",
}


@dataclass(frozen=True)
class Masking:
    """Which token of each text is masked. The last two are for mistakes."""

    columns: bool  # each column is a text
    from_end: bool  # 0 is the last token
    kept: str  # which ids are never masked
    one_text: bool = False
    opposite: bool = False  # only what should be kept is masked
    shift: int = 0

    def __call__(self, input_ids: Tensor, position: int, mask_id: int) -> Tensor:
        """The ids with a mask in each text that may have one."""
        masked = input_ids.clone()
        texts = masked.mT if self.columns else masked
        at = (texts.size(1) - 1 - position if self.from_end else position) + self.shift
        here = texts[: 1 if self.one_text else None, at % texts.size(1)]
        kept = {"special": here < SPECIAL, "padding": here == 0, "word": here >= 30}.get(self.kept, here < 0)
        here[~kept if not self.opposite else kept] = mask_id
        return masked


def chapters_answer(input_ids: Tensor, position: int, mask_id: int) -> Tensor:
    """What the chapter's solution returns."""
    masked = input_ids.clone()
    masked[:, position] = mask_id
    return masked


def masking(draws: Draws) -> Variant:
    """A mask in each text: another order of axes, counted from an end, and some tokens that stay."""
    rule = Masking(*draws.pick(((True, True), (True, False), (False, True))), draws.pick(tuple(KEPT)))
    shown, a_text = ("[T, B]", "column") if rule.columns else ("[B, T]", "row")
    end = "last" if rule.from_end else "first"

    def examine(case: Case) -> None:
        case.causes = {"can't assign a str": "An id is an integer: write mask_id, not the text of the token."}
        kept = KEPT[rule.kept].replace("**", "")
        mistakes: Mistakes = {
            COPIED.format(number="0.2"): chapters_answer,
            f"Each text is a {a_text} here: the shape is {shown}.": replace(rule, columns=not rule.columns),
            f"The {end} token of a text has position 0 here.": replace(rule, from_end=not rule.from_end),
            f"You masked tokens that should stay. {kept}": replace(rule, kept=""),
            f"You masked exactly the tokens that should stay. {kept}": replace(rule, opposite=True),
            "Only one text has a mask. Each of them should have one.": replace(rule, one_text=True),
            "Nothing is masked: the result equals input_ids.": lambda input_ids, *_: input_ids,
            **{
                f"The mask is in the position {which}. The {end} token has position 0.": replace(rule, shift=shift)
                for which, shift in (("before", -1), ("after", 1))
            },
        }
        for other, which in (("special", "ids below 5"), ("padding", "the id 0"), ("word", "ids of 30 or more")):
            if other != rule.kept:
                mistakes[f"You never mask {which}, and that is another rule. {kept}"] = replace(rule, kept=other)
        rows = []
        for size, position in SIZES:
            ids = IDS[case.randint(0, len(IDS), size)]
            rows.append((f"ids of shape {list(size)}, position {position}", ids, position, MASK))
        compare(case, rows, rule, mistakes, f"A text is a {a_text}, and its {end} token has position 0. {kept}")
        tried, *inputs = rows[0]
        got = case.call(*inputs, tried=tried)
        case.dtype("the result", got, torch.int64, "Ids are integers: the model uses them as row numbers of a table.")

    text = (
        f"Here the ids of a batch have the shape `{shown}`: each **{a_text}** is a text. Write `mask_token(input_ids, "
        "position, mask_id)`. It returns a copy in which the token at `position` of each text is replaced by "
        f"`mask_id`. Positions are counted {'backwards ' if rule.from_end else ''}from the **{end}** token of a text, "
        f"which has position 0. {KEPT[rule.kept]} `position` is an integer that every text has. "
        "Don't change `input_ids`."
    )
    hints = (
        "First make a copy. Which index of the copy stands for the text, and which for the token?",
        "Take all ids at that position as one tensor, and make a mask of True and False for those that may change.",
    )
    exercise = Exercise("0.11", "A mask in another position", 2, 8, hints, examine)
    return Variant(exercise, text, "def mask_token(input_ids, position, mask_id):")


@dataclass(frozen=True)
class Ranking:
    """How the rank of a word follows from the scores. The last two are for mistakes."""

    smallest: bool  # the best word has the smallest number
    ties: str  # of words with the same number: best, worst, or half of them first
    special: int  # the first ids, which do not count
    first: int = 1  # the best rank
    by_place: bool = False  # special tokens are cut off before right_id is looked up

    def __call__(self, scores: Tensor, right_id: int) -> float:
        """The rank of the word."""
        numbers = [-one for one in scores.tolist()] if self.smallest else scores.tolist()
        words = numbers[self.special :]
        mine = words[right_id % len(words)] if self.by_place else numbers[right_id]
        better, equal = sum(one > mine for one in words), sum(one == mine for one in words) - 1
        share = {"best": 0, "worst": equal, "mean": equal / 2}[self.ties]
        return self.first + better + share


TIES = {
    "worst": "the rank is the **worst** that it can have among them",
    "mean": "the rank is the **mean** of the best and the worst that it can have among them",
    "best": "the rank is the **best** that it can have among them",
}


def ranking(draws: Draws) -> Variant:
    """A rank by losses or scores, without special tokens, with a rule for words that are equally good."""
    rule = Ranking(draws.pick((True, False)), draws.pick(tuple(TIES)), draws.pick((3, 5, 6)))
    kind, best = ("losses", "smallest loss") if rule.smallest else ("scores", "highest score")

    def examine(case: Case) -> None:
        tie = TIES[rule.ties].replace("**", "")
        mistakes: Mistakes = {
            COPIED.format(number="0.4"): Ranking(False, "best", 0),
            f"The best word has the {best} here.": replace(rule, smallest=not rule.smallest),
            f"The first {rule.special} ids are special tokens, and no word's rank counts them.": (
                replace(rule, special=0)
            ),
            f"Special tokens are the ids 0 to {rule.special - 1}: you left out one too few.": (
                replace(rule, special=rule.special - 1)
            ),
            f"Special tokens are the ids 0 to {rule.special - 1}: you left out one too many.": (
                replace(rule, special=rule.special + 1)
            ),
            "Without the special tokens every word has another index. Look up the right word first.": (
                replace(rule, by_place=True)
            ),
            "The best rank is 1, not 0.": replace(rule, first=0),
        }
        for ties in TIES:
            if ties != rule.ties:
                came = f"Other words have the same number, and you return the {ties} rank. Instead, {tie}."
                mistakes[came] = replace(rule, ties=ties)
        rows = []
        for size, values in ((9, 1000), (12, 1000), (12, 5), *[(11, 3)] * 10, *[(12, 4)] * 10, (40, 8), (40, 1000)):
            numbers = case.randint(0, values, (size,)).float() / 4
            right = int(case.randint(rule.special, size, (1,)))
            rows.append((f"{size} {kind} and the id {right} of the right word", numbers, right))
        compare(case, rows, lambda *inputs: rule(*inputs), mistakes, f"The best word has the {best} and rank 1.")

    text = (
        f"Write `rank(scores, right_id)`, where `scores`, `[V]`, holds {kind}: the word with the **{best}** has rank "
        f"1. The ids 0 to **{rule.special - 1}** are special tokens; they don't count as words, and `right_id` is "
        f"never one of them. If other words have exactly the same {'loss' if rule.smallest else 'score'}, "
        f"{TIES[rule.ties]}. Return a number."
    )
    hints = (
        "No sorting is necessary. How many words are better than the right one, and how many are equal to it?",
        f"Leave out the special tokens with scores[{rule.special}:], after you have looked up the right word's number.",
    )
    exercise = Exercise("0.12", "A rank by other rules", 3, 10, hints, examine)
    return Variant(exercise, text, "def rank(scores, right_id):")


MAKERS = {"0.11": masking, "0.12": ranking}
