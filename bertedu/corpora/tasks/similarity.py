"""Pairs of sentences with a score: 5 the same in other words, 4 but for a detail, 3 an important part differs,
2 the roles exchanged, other people, or the event denied, 1 another event with the same people or things, 0 nothing in
common.
"""

from random import Random

from bertedu.corpora.tasks.grammar import Lists, fill, lists_of, with_capitals

SIZES = {"train": 1500, "validation": 300, "test": 300}
SCORES = range(6)
PLAIN = ("thing", "town", "day")  # slots whose change is an important part


def drawn(event: int, lists: Lists, random: Random) -> dict[str, str]:
    """Values for the people and for all slots of an event."""
    values = dict(zip("xy", random.sample(lists["name"], 2), strict=True))
    fill(lists["events"][event], lists, random, values)
    return values


def second(score: int, event: int, wording: str, values: dict[str, str], lists: Lists, random: Random) -> str | None:
    """The other sentence of a pair: of this score, or None where the event has none."""
    if score == 0:
        values = {key: value for key, value in values.items() if key in PLAIN}  # so that these are not drawn again
        other = random.choice([number for number in range(len(lists["events"])) if number != event])
        apart = {key: tuple(v for v in lists[key] if v not in values.values()) for key in PLAIN}
        people = tuple(name for name in lists["name"] if name not in wording)
        values = dict(zip("xy", random.sample(people, 2), strict=True))
        return fill(random.choice(lists["events"][other].split(" / ")), {**lists, **apart}, random, values)
    if score == 1:
        other = random.choice([number for number in range(len(lists["events"])) if number != event])
        template = random.choice(lists["events"][other].split(" / "))
        return fill(template, lists, random, dict(values))
    if score == 2 and "{x}" in wording and random.random() < 0.4:
        others = [name for name in lists["name"] if name not in values.values()]
        return fill(wording, lists, random, {**values, **dict(zip("xy", random.sample(others, 2), strict=True))})
    if score == 2 and ("y" not in values or random.random() < 0.5):
        return fill(lists["denied"][event], lists, random, dict(values))
    if score == 2:
        exchanged = {**values, "x": values["y"], "y": values["x"]}
        asymmetric = "{y}" in lists["events"][event] and "married" not in lists["events"][event]
        return fill(wording, lists, random, exchanged) if asymmetric else None
    if score == 3:
        slots = [slot for slot in PLAIN if f"{{{slot}}}" in wording]
        if not slots:
            return None
        changed = random.choice(slots)
        free = [word for word in lists[changed] if word not in values.values()]
        return fill(wording, lists, random, {**values, changed: random.choice(free)})
    text = fill(wording, lists, random, dict(values))
    return text + random.choice(lists["detail"]) if score == 4 else text


def rows(part: str, random: Random) -> list[dict[str, str]]:
    """The rows of a part, as many of each score."""
    lists = lists_of("similarity", part)
    found: dict[tuple[str, str], int] = {}
    for score in SCORES:
        wanted = len(found) + SIZES[part] // len(SCORES)
        while len(found) < wanted:
            event = random.randrange(len(lists["events"]))
            values = drawn(event, lists, random)
            one, other = random.sample(lists["events"][event].split(" / "), 2)
            first = fill(one, lists, random, dict(values))
            answer = second(score, event, other if score else first, values, lists, random)
            if answer and answer != first:
                pair = tuple(f"{with_capitals(text)}." for text in (first, answer))
                if random.random() < 0.5:
                    pair = pair[::-1]
                found.setdefault((pair[0], pair[1]), score)
    shuffled = list(found.items())
    random.shuffle(shuffled)
    return [{"sentence1": first, "sentence2": last, "score": str(score)} for (first, last), score in shuffled]
