"""Questions on short stories, in SQuAD's form; a third of them cannot be answered from the story."""

import re
from random import Random
from typing import Any

from bertedu.corpora.tasks.grammar import Deck, Lists, fill, lists_of

STORIES = {"train": 270, "validation": 70, "test": 70}
FACTS = (2, 3)  # kinds of facts in a story, each told of two people
UNANSWERABLE = 1 / 3
QUESTIONS = 4  # of each story
FILLED = 0.5  # of the stories have a sentence that says nothing

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
    question, slot = random.choice(asked)
    return fill(question, lists, random, dict(values)), values[slot], sentence


def unanswerable(fact: Fact, twin: Fact, names: list[str], things: Lists, random: Random) -> str | None:
    """A question on a fact that nobody told: about another person's thing, or about what is not in the story."""
    _, values, asked = fact
    question, slot = random.choice(asked)
    mixed = {name: value for name, value in values.items() if name != slot and f"{name}}}" in question}
    changed = random.choice(list(mixed))
    if len(mixed) > 1 and random.random() < 0.5:
        mixed[changed] = twin[1][changed]  # who did one thing, and the other's thing
    elif changed in "xy":
        mixed[changed] = names[-1]
    elif things[changed]:
        mixed[changed] = random.choice(things[changed])
    else:
        return None
    return fill(question, things, random, mixed)


def story(lists: Lists, facts: Deck, random: Random) -> tuple[str, list[tuple[str, str | None, str]]]:
    """A context and its questions: each with its answer (None where there is none) and the sentence of the answer."""
    names, things = random.sample(lists["name"], len(lists["name"])), dict(lists)
    pairs: list[tuple[str, tuple[Fact, Fact]]] = []
    while len(pairs) < random.choice(FACTS) and len(names) > 5:
        line = facts.draw()
        if any(line == other for other, _ in pairs):
            continue
        slots = [slot for slot in lists if f"{slot}}}" in line]
        if all(len(things[slot]) > 1 for slot in slots):
            pairs.append((line, (tell(line, names, things, random), tell(line, names, things, random))))
    asked: dict[str, tuple[str | None, str]] = {}
    for _ in range(5 * QUESTIONS):
        fact, twin = random.sample(random.choice(pairs)[1], 2)
        if len(asked) == QUESTIONS:
            break
        if random.random() < UNANSWERABLE:
            if question := unanswerable(fact, twin, names, things, random):
                asked.setdefault(question, (None, ""))
        else:
            question, answer, sentence = answerable(fact, lists, random)
            asked.setdefault(question, (answer, sentence))
    sentences = [fact[0] for _, both in pairs for fact in both]
    if random.random() < FILLED:
        sentences.append(random.choice(lists["filler"]))
    random.shuffle(sentences)
    return " ".join(sentences), [(question, *found) for question, found in asked.items()]


def rows(part: str, random: Random) -> list[dict[str, Any]]:
    """The stories of a part as SQuAD's articles of one paragraph each."""
    lists = lists_of("questions", part)
    facts = Deck(lists["facts"], random)
    articles = []
    for number in range(STORIES[part]):
        context, asked = story(lists, facts, random)
        entries = []
        for place, (question, answer, sentence) in enumerate(asked):
            entry: dict[str, Any] = {"id": f"{part}-{number}-{place}", "question": question, "answers": []}
            if answer is not None:
                within = re.search(rf"\b{re.escape(answer)}\b", sentence, re.IGNORECASE)
                assert within, f"{answer!r} does not stand in {sentence!r}"
                start = context.index(sentence) + within.start()
                entry["answers"] = [{"text": context[start : start + len(answer)], "answer_start": start}]
            entries.append({**entry, "is_impossible": answer is None})
        articles.append({"title": f"story {number}", "paragraphs": [{"context": context, "qas": entries}]})
    return articles
