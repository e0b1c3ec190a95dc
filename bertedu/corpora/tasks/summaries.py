"""Short reports of six to nine sentences, with summaries of two: what happened, and what came of it."""

from random import Random

from bertedu.corpora.tasks.grammar import Deck, fill, lists_of

SIZES = {"train": 400, "validation": 200, "test": 200}
# The order of a report: E the event, O its outcome, the others colour. Few begin with the news.
SHAPES = '''
scene scene E talk past O close
scene past E O talk talk close
E talk scene past O close
past scene talk E past O talk
scene E past talk scene O
talk scene past E talk O close
past E scene O talk close
scene talk scene past E O close
E O scene past talk talk close
past past scene E talk talk O
scene past talk scene E past O close
E scene past talk O talk close
scene talk E past scene talk O talk
past talk talk scene E O
'''.strip().splitlines()  # fmt: skip
COLOUR = ("scene", "talk", "past", "close")


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part: each event as often as the others, in all shapes."""
    lists = lists_of("summaries", part)
    events, shapes = Deck(lists["events"], random), Deck(SHAPES, random)
    found: dict[str, str] = {}
    while len(found) < SIZES[part]:
        told = {key: list(random.sample(lists[key], len(lists[key]))) for key in COLOUR}
        values: dict[str, str] = {}
        news, summary = {}, []
        for letter, half in zip("EO", events.draw().split(" => "), strict=True):
            wordings, short = half.split(" :: ")
            news[letter] = fill(random.choice(wordings.split(" / ")), lists, random, values)
            summary.append(fill(short, lists, random, values))
        sentences = [
            news[piece] if piece in news else fill(told[piece].pop(), lists, random, dict(values))
            for piece in shapes.draw().split()
            if piece in news or told[piece]
        ]
        found.setdefault(" ".join(sentences), " ".join(summary))
    return [{"text": text, "summary": summary} for text, summary in found.items()]
