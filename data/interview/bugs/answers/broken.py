"""Extractive question answering around the model: windows, labels and decoding. No model, so no excuse for errors."""

import re

Token = tuple[str, int, int]  # the word, where it begins in its text, and where it ends (exclusive)
Span = tuple[int, int] | None  # the same two numbers for a token of the context, None for any other token
Window = tuple[list[str], list[Span]]


def tokenize(text: str) -> list[Token]:
    """Words and punctuation marks with their characters' positions."""
    return [(match[0], *match.span()) for match in re.finditer(r"\w+|[^\w\s]", text)]


def windows(question: str, context: str, size: int = 24, overlap: int = 6) -> list[Window]:
    """[CLS] question [SEP] context [SEP] in windows of at most `size` tokens, for a context that is too long."""
    tokens = ["[CLS]", *(word for word, _, _ in tokenize(question)), "[SEP]"]
    spans: list[Span] = [None] * len(tokens)
    for word, start, end in tokenize(context):
        tokens.append(word)
        spans.append((start, end))
    found = []
    for begin in range(0, len(tokens), size - 1 - overlap):
        found.append(([*tokens[begin : begin + size - 1], "[SEP]"], [*spans[begin : begin + size - 1], None]))
        if begin + size - 1 >= len(tokens):
            break
    return found


def label(spans: list[Span], start: int, end: int) -> tuple[int, int] | None:
    """First and last token of the answer context[start:end]; None where the window does not hold all of it."""
    inside = [index for index, span in enumerate(spans) if span and span[1] > start and span[0] <= end]
    if not inside or spans[inside[0]][0] > start or spans[inside[-1]][1] < end:
        return None
    return inside[0], inside[-1]


def decode(context: str, spans: list[Span], starts: list[float], ends: list[float]) -> tuple[float, str]:
    """The best answer of a window, with its score: that of its first token plus that of its last."""
    possible = [index for index, span in enumerate(spans) if span]
    first = max(possible, key=lambda index: starts[index])
    last = max(possible, key=lambda index: ends[index])
    return starts[first] + ends[last], context[spans[first][0] : spans[last][1]]


def scores(question: str, window: Window, start: int, end: int) -> tuple[list[float], list[float]]:
    """Stands in for a model that knows the answer where it reads the question, and likes the first word as an end."""
    tokens, spans = window
    starts, ends = [0.0] * len(tokens), [0.0] * len(tokens)
    ends[next(index for index, span in enumerate(spans) if span)] = 2.5
    answer = label(spans, start, end)
    if answer and tokens[1 : 1 + len(tokenize(question))] == [word for word, _, _ in tokenize(question)]:
        starts[answer[0]], ends[answer[1]] = 3.0, 2.0
    return starts, ends


def answer(question: str, context: str, gold: str) -> str:
    """The answer of the window whose best answer has the highest score."""
    start = context.index(gold)
    found = []
    for window in windows(question, context):
        found.append(decode(context, window[1], *scores(question, window, start, start + len(gold))))
    return max(found)[1]


PARIS = "Anna moved to Paris, where she met Ben. They opened a bakery (the smallest in town) near the river, sold it "
PARIS += "ten years later, and went to live with their daughter Clara in a village called Rivet."
EXAMPLES = [
    ("Who moved?", PARIS, "Anna"),
    ("Where did Anna go?", PARIS, "Paris"),
    ("Who was in Paris?", PARIS, "Ben"),
    ("What did they open?", PARIS, "a bakery"),
    ("What is said about the bakery?", PARIS, "the smallest in town"),
    ("When was it sold?", PARIS, "ten years later"),
    ("Who is Clara?", PARIS, "their daughter"),
    ("What is the village called?", PARIS, "Rivet"),
]


def main() -> dict[str, float]:
    """How often the true answer survives the way through windows, labels and decoding: it should always."""
    exact = [answer(question, context, gold) == gold for question, context, gold in EXAMPLES]
    return {"exact match of the true answers": sum(exact) / len(exact)}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
