"""The small world told in two languages: English, and a made-up language with its own words and its own word order.

Nobody translates here. Both languages tell facts of the same world, each in sentences of its own, as two Wikipedias do.
Dufter and Schütze (2020, arXiv 2005.00396) study multilingual models in this way: their second language is English with
other ids. Ours can also change the order: verb last, adjective after its noun, postpositions in place of prepositions.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from random import Random
from typing import TypeVar

from bertedu.corpora.world.facts import kinds

__all__ = ["ENGLISH", "NAMES_AND_NUMBERS", "Language", "Sentence", "Word", "lexicon", "tell", "telling"]

T = TypeVar("T")
EACH = 8  # things of each topic
NAMES = ("anna", "peter", "maria", "tom", "julia", "paul")
NUMBERS = ("7", "5", "9", "3", "8")
NAMES_AND_NUMBERS = (*NAMES, *NUMBERS)
TOPICS = {"animals": 0.32, "work": 0.25, "countries": 0.20, "goods": 0.14, "music": 0.09}
ADJECTIVES = {
    "animals": ("hungry", "wild", "small", "tame"),
    "work": ("busy", "early", "tired"),
    "music": ("famous", "shy"),
}
COMMON = ("old", "good", "new", "quiet")  # adjectives of all topics
TABLES = {  # a topic's file of facts, and its columns
    "animals": ("animal", "animal", "food", "home"),
    "work": ("profession", "profession", "place", "tool"),
    "countries": ("country", "country", "capital", "continent"),
    "goods": ("product", "product", "source"),
    "music": ("instrument", "instrument", "player"),
}
CONSONANTS, VOWELS, ACCENTED = "bdfgklmnprstvz", "aeiou", "áéíóú"
ENDINGS = {"noun": "ol", "adjective": "em", "verb": "ask", "name": "ia", "other": ""}


@dataclass(frozen=True)
class Word:
    """An English word and its class: noun, adjective, verb, name or other. The class decides the other ending."""

    text: str
    kind: str = "other"


@dataclass(frozen=True)
class Phrase:
    """A noun with what belongs to it: a determiner, adjectives and a preposition, each of them possibly missing."""

    noun: Word
    adjectives: tuple[Word, ...] = ()
    determiner: Word | None = None
    preposition: Word | None = None


@dataclass(frozen=True)
class Sentence:
    """What is told, in no language yet: an opening ("anna says that", "at 7"), a subject, a verb, and what follows."""

    topic: str
    opening: tuple[Word, ...]
    subject: Phrase
    verb: Word
    rest: tuple[Phrase, ...]

    def words(self) -> Iterator[Word]:
        """All its words."""
        yield from self.opening
        for phrase in (self.subject, *self.rest):
            parts = (phrase.preposition, phrase.determiner, *phrase.adjectives, phrase.noun)
            yield from (part for part in parts if part)
        yield self.verb


@dataclass(frozen=True)
class Language:
    """How a language tells a sentence; the defaults are those of English.

    own_words: the words are made up, but for those in `shared`. `words` maps each English word to the one of this
    language: to a different one for each, and none of the made-up ones is English. They come in pairs that differ only
    by an accent.
    """

    own_words: bool = False
    verb_last: bool = False
    adjective_after: bool = False
    postpositions: bool = False
    shared: Collection[str] = ()
    words: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        english = {word.text: word.text for word in lexicon()}
        made_up = {text: word for text, word in made_up_words().items() if text not in self.shared}
        object.__setattr__(self, "words", {**english, **made_up} if self.own_words else english)

    def say(self, sentence: Sentence) -> str:
        """The sentence in this language, words with spaces between them."""
        verb, phrases = [sentence.verb], [self.order(phrase) for phrase in sentence.rest]
        middle = [*phrases, verb] if self.verb_last else [verb, *phrases]
        told = [*sentence.opening, *self.order(sentence.subject), *(word for part in middle for word in part)]
        return " ".join(self.words[word.text] for word in told)

    def order(self, phrase: Phrase) -> list[Word]:
        """The words of a phrase in the order of this language."""
        adjectives = list(phrase.adjectives)
        words = [phrase.noun, *adjectives] if self.adjective_after else [*adjectives, phrase.noun]
        words = [phrase.determiner, *words] if phrase.determiner else words
        if phrase.preposition is None:
            return words
        return [*words, phrase.preposition] if self.postpositions else [phrase.preposition, *words]


def stems() -> list[tuple[str, str]]:
    """Pairs of stems, such as "talu" and "tálu", in an order that looks random and is always the same."""
    syllables = [consonant + vowel for consonant, vowel in product(CONSONANTS, VOWELS)]
    pairs = list(product(syllables, repeat=2))
    Random("stems").shuffle(pairs)
    return [(first + second, first[0] + ACCENTED[VOWELS.index(first[1])] + second) for first, second in pairs]


@cache
def made_up_words() -> dict[str, str]:
    """A word of its own for every English word of the world: a stem, and the ending of the word's class."""
    by_kind: dict[str, list[str]] = {}
    for word in lexicon():
        by_kind.setdefault(word.kind, []).append(word.text)
    left, made_up = iter(stems()), {}
    for kind, texts in by_kind.items():
        for first in range(0, len(texts), 2):
            for text, stem in zip(texts[first : first + 2], next(left), strict=False):
                made_up[text] = stem + ENDINGS[kind]
    return made_up


@cache
def rows(topic: str) -> tuple[tuple[str, ...], ...]:
    """The first things of a topic that have a single word in each of its columns."""
    name, *columns = TABLES[topic]
    (kind,) = (kind for kind in kinds() if kind.name == name)
    found = [tuple(row.get(column, "").lower() for column in columns) for row in kind.rows]
    return tuple(row for row in found if all(value.isalpha() for value in row))[:EACH]


def choose(random: Random, things: Sequence[T]) -> T:
    """One of them; the second half as often as the first, the third a third as often (Zipf's law of word counts)."""
    return random.choices(things, [1 / rank for rank in range(1, len(things) + 1)])[0]


def noun_phrase(noun: str, adjectives: Sequence[str] = (), the: bool = True, before: str = "") -> Phrase:
    """A noun, with "the" or without, after a preposition or not."""
    return Phrase(
        Word(noun, "noun"),
        tuple(Word(adjective, "adjective") for adjective in adjectives),
        Word("the") if the else None,
        Word(before) if before else None,
    )


def adjectives(random: Random, topic: str) -> list[str]:
    """For a subject: an adjective of its topic, one of all topics, or none."""
    if random.random() < 0.6:
        return [choose(random, ADJECTIVES[topic])]
    return few_adjectives(random, 0.5)


def few_adjectives(random: Random, share: float = 0.3) -> list[str]:
    """For another noun: sometimes an adjective of all topics."""
    return [choose(random, COMMON)] if random.random() < share else []


def animals(random: Random) -> tuple[Phrase, str, list[Phrase]]:
    """What an animal eats, where it sleeps, what it leaves."""
    animal, food, home = choose(random, rows("animals"))
    subject, chance = noun_phrase(animal, adjectives(random, "animals")), random.random()
    if chance < 0.4:
        return subject, "eats", [noun_phrase(food, the=False)]
    place = noun_phrase(home, few_adjectives(random), before="in" if chance < 0.8 else "")
    return subject, "sleeps" if chance < 0.8 else "leaves", [place]


def work(random: Random) -> tuple[Phrase, str, list[Phrase]]:
    """Where people work, and what they need there."""
    person, place, tool = choose(random, rows("work"))
    subject = noun_phrase(person, adjectives(random, "work"))
    if random.random() < 0.5:
        return subject, "works", [noun_phrase(place, few_adjectives(random), before="at")]
    return subject, "needs", [noun_phrase(tool, few_adjectives(random)), noun_phrase(place, before="at")]


def countries(random: Random) -> tuple[Phrase, str, list[Phrase]]:
    """The capital of a country, or its continent."""
    country, capital, continent = choose(random, rows("countries"))
    if random.random() < 0.5:
        of = noun_phrase(country, the=False, before="of")
        return noun_phrase(capital, the=False), "is", [noun_phrase("capital"), of]
    return noun_phrase(country, the=False), "lies", [noun_phrase(continent, the=False, before="in")]


def goods(random: Random) -> tuple[Phrase, str, list[Phrase]]:
    """What things are made from."""
    product_name, source = choose(random, rows("goods"))
    maker = noun_phrase(choose(random, ("workers", "people", "factories")), the=False)
    made = noun_phrase(product_name, few_adjectives(random), the=False)
    return maker, "make", [made, noun_phrase(source, few_adjectives(random), the=False, before="from")]


def music(random: Random) -> tuple[Phrase, str, list[Phrase]]:
    """Who plays which instrument, and for whom."""
    instrument, player = choose(random, rows("music"))
    rest = [noun_phrase(instrument, few_adjectives(random))]
    if random.random() < 0.4:
        rest.append(Phrase(Word(choose(random, NAMES), "name"), preposition=Word("for")))
    return noun_phrase(player, adjectives(random, "music")), "plays", rest


TELLING = {"animals": animals, "work": work, "countries": countries, "goods": goods, "music": music}


def tell(random: Random) -> Sentence:
    """A random sentence about a random topic."""
    topic = random.choices(list(TOPICS), list(TOPICS.values()))[0]
    subject, verb, rest = TELLING[topic](random)
    opening: tuple[Word, ...] = ()
    if random.random() < 0.25:
        opening = (Word("at"), Word(choose(random, NUMBERS)))
    elif random.random() < 0.2:
        opening = (Word(choose(random, NAMES), "name"), Word("says", "verb"), Word("that"))
    return Sentence(topic, opening, subject, Word(verb, "verb"), tuple(rest))


def telling(language: Language, count: int, seed: int | str) -> tuple[list[str], list[str]]:
    """So many sentences in a language, and their topics; the same for the same seed everywhere."""
    random = Random(seed)
    sentences = [tell(random) for _ in range(count)]
    return [language.say(sentence) for sentence in sentences], [sentence.topic for sentence in sentences]


@cache
def lexicon() -> tuple[Word, ...]:
    """Every word of the world, the same word in one class only, in the order of the alphabet within each class."""
    random, found = Random("lexicon"), dict[str, Word]()
    for _ in range(8000):
        for word in tell(random).words():
            found.setdefault(word.text, word)
    return tuple(sorted(found.values(), key=lambda word: (word.kind, word.text)))


ENGLISH = Language()
