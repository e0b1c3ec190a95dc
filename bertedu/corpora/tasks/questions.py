"""Questions on short stories, in SQuAD's form; about a third of them cannot be answered from the story."""

import re
from random import Random
from typing import Any

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of

STORIES = {"train": 650, "validation": 110, "test": 110}
PLAIN = 2 / 3  # of the stories tell each kind of fact of one person, the others of two
FACTS = {"plain": (1, 2), "two": (1,)}  # kinds of facts in a story
UNANSWERABLE = 1 / 3
QUESTIONS = 3  # of each story
MIXED_UP = {"plain": 0.2, "two": 0.5}  # of those questions; the others ask for what a sentence does not tell
FILLED = 0.2  # of the stories have a sentence that says nothing

UNTOLD = "-"

Fact = tuple[str, dict[str, str], list[list[str]]]  # the sentence, what fills its slots, its questions with their slots


def tell(line: str, names: list[str], things: Lists, random: Random) -> Fact:
    """A fact of the next people among names; what fills the slots is used up in `things`."""
    wordings, _, asked = line.partition(" => ")
    template = random.choice(wordings.split(" / "))
    values = {slot: names.pop() for slot in "xy" if f"{{{slot}}}" in template}
    sentence = fill(template, things, random, values)
    for name, value in values.items():
        if name in things:
            things[name] = tuple(word for word in things[name] if word != value)
    return sentence, values, [one.split(" = ") for one in asked.split(" ; ")]


def answerable(fact: Fact, lists: Lists, random: Random) -> tuple[str, str, str]:
    """A question on a fact, the answer, and the sentence where it stands."""
    sentence, values, asked = fact
    question, slot = random.choice([one for one in asked if one[1] != UNTOLD])
    return fill(question, lists, random, dict(values)), values[slot], sentence


def untold(fact: Fact, lists: Lists, random: Random) -> str | None:
    """A question for what the sentence does not tell: when, where it says who and what."""
    _, values, asked = fact
    questions = [question for question, slot in asked if slot == UNTOLD]
    return fill(random.choice(questions), lists, random, dict(values)) if questions else None


def mixed_up(fact: Fact, others: list[Fact], names: list[str], things: Lists, random: Random) -> str | None:
    """A question on a fact that nobody told: about another person's thing, or about what is not in the story."""
    _, values, asked = fact
    question, slot = random.choice([one for one in asked if one[1] != UNTOLD])
    mixed = {name: value for name, value in values.items() if name != slot and f"{name}}}" in question}
    changed = random.choice(list(mixed))
    elsewhere = [other[1][changed] for other in others if changed in other[1]]
    if len(mixed) > 1 and elsewhere and random.random() < 0.5:
        mixed[changed] = random.choice(elsewhere)  # who did one thing, and the other's thing
    elif changed in "xy":
        mixed[changed] = names[-1]
    elif things[changed]:
        mixed[changed] = random.choice(things[changed])
    else:
        return None
    return fill(question, things, random, mixed)


def tell_all(kind: str, names: list[str], things: Lists, facts: Deck, random: Random) -> list[Fact]:
    """The facts of a story. What fills their slots is used up in names and things: nothing fits two of them."""
    people = 2 if kind == "two" else 1
    lines: list[str] = []
    told: list[Fact] = []
    for _ in range(random.choice(FACTS[kind])):
        line = next(
            line
            for line in iter(facts.draw, None)
            if line not in lines and all(len(things[slot]) >= people for slot in things if f"{slot}}}" in line)
        )
        lines.append(line)
        told += [tell(line, names, things, random) for _ in range(people)]
    return told


def story(kind: str, lists: Lists, facts: Deck, random: Random) -> tuple[str, list[tuple[str, str | None, str]]]:
    """A context and its questions: each with its answer (None where there is none) and the sentence of the answer.

    In a story of kind "plain" everybody does something else, in one of kind "two" two people do the same sort of thing.
    """
    names, things = random.sample(lists["name"], len(lists["name"])), dict(lists)
    told = tell_all(kind, names, things, facts, random)
    asked: dict[str, tuple[str | None, str]] = {}
    for _ in range(5 * QUESTIONS):
        if len(asked) == QUESTIONS:
            break
        fact = random.choice(told)
        if random.random() < UNANSWERABLE:
            others = [other for other in told if other is not fact and (kind == "plain" or other[2] == fact[2])]
            mixed = random.random() < MIXED_UP[kind]
            question = mixed_up(fact, others, names, things, random) if mixed else untold(fact, lists, random)
            if question:
                asked.setdefault(question, (None, ""))
        else:
            asking, answer, sentence = answerable(fact, lists, random)
            asked.setdefault(asking, (answer, sentence))
    sentences = [sentence for sentence, _, _ in told]
    if random.random() < FILLED:
        sentences.append(random.choice(lists["filler"]))
    random.shuffle(sentences)
    return " ".join(sentences), [(question, *found) for question, found in asked.items()]


def rows(part: str, random: Random, stories: int | None = None) -> list[dict[str, Any]]:
    """The stories of a part as SQuAD's articles of one paragraph each: as many as in the files, or so many.

    The id of a question begins with the kind of its story.
    """
    lists = lists_of("questions", part)
    facts = Deck(lists["facts"], random)
    articles = []
    for number in range(stories or STORIES[part]):
        kind = "plain" if random.random() < PLAIN else "two"
        context, asked = story(kind, lists, facts, random)
        entries = []
        for place, (question, answer, sentence) in enumerate(asked):
            entry: dict[str, Any] = {"id": f"{kind}-{part}-{number}-{place}", "question": question, "answers": []}
            if answer is not None:
                within = re.search(rf"\b{re.escape(answer)}\b", sentence, re.IGNORECASE)
                assert within, f"{answer!r} does not stand in {sentence!r}"
                start = context.index(sentence) + within.start()
                entry["answers"] = [{"text": context[start : start + len(answer)], "answer_start": start}]
            entries.append({**entry, "is_impossible": answer is None})
        articles.append({"title": f"story {number}", "paragraphs": [{"context": context, "qas": entries}]})
    return articles
