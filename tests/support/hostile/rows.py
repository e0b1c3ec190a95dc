"""Files of questions, choices and summaries, damaged or with strange values: each reader against a simpler one."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bertedu.corpora.task_data import read_choices, read_questions, read_summaries
from support.hostile.oracle import STRANGE, WORDS, Input, damaged, decoded, lines_of, sentence


def squad(rng: random.Random, folder: Path) -> Input:
    """Questions with answers in a context, now and then with a strange value."""
    path = folder / "a.json"
    entries = []
    context = sentence(rng) + " the cat sings."
    for number in range(rng.randint(1, 4)):
        answer = {"text": "the cat", "answer_start": context.index("the cat")}
        entries.append({"id": f"q{number}", "question": sentence(rng), "answers": [answer], "is_impossible": False})
    strange = rng.random() < 0.4
    if strange:
        place = rng.choice((rng.choice(entries), entries[0]["answers"][0]))
        place[rng.choice(list(place))] = rng.choice(STRANGE)
    whole: Any = {"data": [{"title": rng.choice(WORDS), "paragraphs": [{"context": context, "qas": entries}]}]}
    data, hurt = damaged(rng, json.dumps(whole).encode())
    path.write_bytes(data)

    def simpler() -> list[Any]:
        paragraphs = [p for article in json.loads(decoded(path))["data"] for p in article["paragraphs"]]
        return [
            (q["id"], q["question"], p["context"], [(a["text"], a["answer_start"]) for a in q.get("answers", [])])
            for p in paragraphs
            for q in p["qas"]
        ]

    def read() -> list[Any]:
        found = read_questions(path)
        return [(q.id, q.question, q.context, [(a.text, a.start) for a in q.answers]) for q in found]

    return Input(read, simpler, not (hurt or strange), str(path))


def choices(rng: random.Random, folder: Path) -> Input:
    """Questions with choices."""
    path = folder / "a.jsonl"
    rows = [
        {"question": sentence(rng), "choices": ["a b", "c", "d"], "label": rng.randrange(3)}
        for _ in range(rng.randint(1, 5))
    ]
    strange = rng.random() < 0.4
    if strange:
        rng.choice(rows)[rng.choice(("question", "choices", "label"))] = rng.choice(STRANGE)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = [(row["question"], row["choices"], row["label"]) for row in rows]
    return Input(
        lambda: [(row.question, list(row.choices), row.label) for row in read_choices(path)],
        lambda: expected,
        not strange,
        str(path),
    )


def summaries(rng: random.Random, folder: Path) -> Input:
    """Texts with summaries."""
    path = folder / "a.jsonl"
    rows = [{"text": sentence(rng), "summary": sentence(rng)} for _ in range(rng.randint(1, 5))]
    data, hurt = damaged(rng, "".join(json.dumps(row) + "\n" for row in rows).encode())
    path.write_bytes(data)

    def simpler() -> list[tuple[str, str]]:
        found = [json.loads(line) for line in lines_of(path)]
        return [(row["text"], row["summary"]) for row in found]

    return Input(lambda: [(row.text, row.summary) for row in read_summaries(path)], simpler, not hurt, str(path))


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "SQuAD": squad,
    "multiple choice": choices,
    "summaries": summaries,
}
