"""Words with two senses, used in little scenes: the bank of a river and the bank that lends money."""

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random

from bertedu.corpora.documents import Document, SenseExample
from bertedu.corpora.world.facts import lines, slots
from bertedu.corpora.world.sentences import Part, allowed
from bertedu.files import in_package

SENTENCES = (6, 9)  # in a scene


@dataclass(frozen=True)
class Sense:
    """One sense of a word: templates, each with the word once, and what may fill their slots."""

    word: str
    name: str
    names: tuple[str, ...]
    things: tuple[str, ...]
    places: tuple[str, ...]
    train: tuple[str, ...]
    unseen: tuple[str, ...]

    def fillers(self, random: Random) -> dict[str, str]:
        """One choice for every slot."""
        return {
            "name": random.choice(self.names),
            "thing": random.choice(self.things),
            "place": random.choice(self.places),
        }

    def templates(self, part: Part) -> tuple[str, ...]:
        """The templates for this part."""
        return self.unseen if part is Part.UNSEEN else self.train


@cache
def senses() -> tuple[Sense, ...]:
    """Every sense of every word, in the order of the file."""
    parsed = tomllib.loads(in_package(__package__, ending="senses.toml")[0].read_text(encoding="utf-8"))
    names = tuple(parsed.pop("names").split())
    return tuple(
        Sense(
            word,
            name,
            names,
            tuple(section["things"].split()),
            tuple(section["places"].split()),
            lines(section["train"]),
            lines(section["unseen"]),
        )
        for word, sections in parsed.items()
        for name, section in sections.items()
    )


def scene(sense: Sense, part: Part, random: Random) -> Document | None:
    """A scene: sentences of one sense in which the person, the thing and the place stay the same."""
    sentences = allowed(sense.templates(part), sense.fillers(random), part)
    random.shuffle(sentences)
    chosen = tuple(sentences[: random.randint(*SENTENCES)])
    return Document(chosen, f"the word {sense.word}") if len(chosen) > 2 else None


def every_sentence(sense: Sense, part: Part) -> list[str]:
    """All sentences of one sense that a part may read, with every choice of fillers."""
    choices = {"name": sense.names, "thing": sense.things, "place": sense.places}
    sentences: dict[str, None] = {}
    for template in sense.templates(part):
        used = [slot for slot in choices if slot in slots(template)]
        for values in product(*(choices[slot] for slot in used)):
            sentences.update(dict.fromkeys(allowed([template], dict(zip(used, values, strict=True)), part)))
    return list(sentences)


def sense_examples(part: Part, count: int, random: Random, standing: set[str] | None = None) -> list[SenseExample]:
    """`count` different sentences for each sense; with `standing`, only sentences that stand there."""
    examples = []
    for sense in senses():
        found = [text for text in every_sentence(sense, part) if standing is None or text in standing]
        examples += [
            SenseExample(text, sense.word, sense.name) for text in random.sample(found, min(count, len(found)))
        ]
    return examples
