"""Short messages in six topics, most of them with a second topic named on the way."""

from random import Random

from bertedu.corpora.tasks.grammar import Deck, fill, lists_of

TOPICS = ("animals", "cooking", "health", "money", "music", "weather")
SIZES = {"train": 900, "validation": 240, "test": 240}


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part, as many of each topic; the topic on the way is any other."""
    lists = lists_of("topics", part)
    frames = {topic: Deck(lists["frames"], random) for topic in TOPICS}
    sentences = {topic: Deck(lists[topic], random) for topic in TOPICS}
    found: dict[str, str] = {}
    for topic in TOPICS:
        wanted = len(found) + SIZES[part] // len(TOPICS)
        while len(found) < wanted:
            aside = random.choice(lists[f"{random.choice([other for other in TOPICS if other != topic])}_aside"])
            values = {"aside": aside, "about": fill(sentences[topic].draw(), lists, random)}
            values["about2"] = fill(sentences[topic].draw(), lists, random)
            found.setdefault(fill(frames[topic].draw(), lists, random, values), topic)
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"text": text, "label": label} for text, label in shuffled]
