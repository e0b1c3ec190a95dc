"""Hidden tests of the lab `answers`: true answers that do not survive windows, labels and decoding."""

import random
from itertools import pairwise

from bertedu.interview.bugs.program import Program

QUESTION = "Who lives by the river?"
CONTEXT = "Anna met Ben (a baker, then a miller). They live by the river with Clara, two dogs and a cat; it is quiet."
HEAD = ["[CLS]", "Who", "lives", "by", "the", "river", "?", "[SEP]"]
SIZE, OVERLAP = 20, 4
Span = tuple[int, int] | None


def spans_of(program: Program, text: str) -> list[Span]:
    """The spans of a window without a question: None for [CLS] and [SEP]."""
    return [None, *((start, end) for _, start, end in program.call("tokenize", text)), None]


def ends(program: Program) -> str | None:
    """Answers before a space, a comma and a bracket, read back from their labels."""
    spans = spans_of(program, CONTEXT)
    for gold in ("Ben", "a baker", "(a baker, then a miller)", "Clara", "quiet"):
        start = CONTEXT.index(gold)
        labelled = program.call("label", spans, start, start + len(gold))
        if labelled is None:
            return f"the answer “{gold}” gets no label, although all of it is in the window."
        first, last = (spans[place] or (0, 0) for place in labelled)
        if (read := CONTEXT[first[0] : last[1]]) != gold:
            return f"I labelled the answer “{gold}” and read the label back: “{read}”."
    return None


def question(program: Program) -> str | None:
    """What each window asks."""
    found = program.call("windows", QUESTION, CONTEXT, SIZE, OVERLAP)
    without = sum(tokens[: len(HEAD)] != HEAD for tokens, _ in found)
    if not without:
        return None
    return f"of the {len(found)} sequences that a model reads for one long context, {without} do not say what is asked."


def order(program: Program) -> str | None:
    """Random scores: the best pair of a first and a last token that is not before it."""
    spans, chance = spans_of(program, CONTEXT), random.Random(5)
    places = range(1, len(spans) - 1)
    for _ in range(30):
        starts, stops = ([chance.gauss(0, 1) for _ in spans] for _ in range(2))
        best, first, last = max((starts[a] + stops[b], a, b) for a in places for b in places if a <= b)
        score, text = program.call("decode", CONTEXT, spans, starts, stops)
        if not text:
            return "for some scores the answer is an empty text, although every pair of tokens is possible."
        if abs(score - best) > 1e-6 or text != CONTEXT[(spans[first] or (0, 0))[0] : (spans[last] or (0, 0))[1]]:
            return f"for some scores it answers “{text}” with {score:.2f}, and there is an answer with {best:.2f}."
    return None


def sound(program: Program) -> str | None:
    """Windows of the right size that leave out nothing and overlap; decoding that stays in the context."""
    found = program.call("windows", QUESTION, CONTEXT, SIZE, OVERLAP)
    read = [[span for span in spans if span] for _, spans in found]
    if any(len(tokens) > SIZE or len(tokens) != len(spans) for tokens, spans in found):
        return f"a window is longer than {SIZE} tokens, or has not as many spans as tokens."
    if any(span and CONTEXT[slice(*span)] != token for one in found for token, span in zip(*one, strict=True)):
        return "a token of a window is not the text that its span names."
    if {span for spans in read for span in spans} != {span for span in spans_of(program, CONTEXT) if span}:
        return "the windows leave out a part of the context."
    if any(len(set(one) & set(other)) < OVERLAP for one, other in pairwise(read)):
        return f"two windows share fewer than {OVERLAP} words, so an answer across their border is lost."
    spans = [None, None, (0, 4), (5, 8), None]
    if program.call("decode", "Anna left", spans, [9, 9, 2, 0, 9], [9, 9, 1, 0, 9]) != (3, "Anna"):
        return "a token that is not of the context became a part of the answer, or the score is not the sum of two."
    if program.call("answer", "Who moved?", "Anna moved to Paris", "Anna") != "Anna":
        return "an easy question in one short window has another answer now."
    return None
