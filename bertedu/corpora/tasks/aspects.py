"""Reviews with every aspect that they praise or blame: several labels, or none."""

from random import Random

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of

ASPECTS = ("food", "service", "room", "price")
SIGNS = {"+": "praised", "-": "blamed"}
SIZES = {"train": 1500, "validation": 300, "test": 300}
OWN = 0.3  # of the aspects are named by words of this part alone
FOLLOWED = 0.2  # of the reviews have a second judgement, on other aspects


def judged(template: str, aspects: list[str], lists: Lists, random: Random) -> tuple[str, list[str]]:
    """The text of a template on the first of these aspects, which are used up, and its labels."""
    signs, _, pattern = template.partition(" => ")
    values, labels = {}, []
    for sign in signs.split():
        aspect = aspects.pop()
        values[sign[0].lower()] = random.choice(lists[aspect if random.random() < OWN else f"{aspect}_plain"])
        labels += [f"{aspect} {SIGNS[sign[1]]}"] if sign[1:] else []
    return fill(pattern, lists, random, values), labels


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part: each template as often as the others, aspects at random."""
    lists = lists_of("aspects", part)
    templates, short = Deck(lists["templates"], random), Deck([t for t in lists["templates"] if t[3] == "="], random)
    found: dict[str, str] = {}
    while len(found) < SIZES[part]:
        aspects = random.sample(ASPECTS, len(ASPECTS))
        text, labels = judged(templates.draw(), aspects, lists, random)
        if aspects and random.random() < FOLLOWED:
            second, more = judged(short.draw(), aspects, lists, random)
            text, labels = f"{text} {second}", labels + more
        found.setdefault(text, ", ".join(sorted(labels)))
    return [{"text": text, "label": label} for text, label in found.items()]
