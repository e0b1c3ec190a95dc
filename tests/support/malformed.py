"""Small files of several formats, well formed until a test changes them."""

import json
from pathlib import Path

from bertedu.corpora.task_data import read_labelled

CONLLU_WORD = "{}\tsings\tsing\t{}\tVBZ\t_\t0\troot\t_\t_\n"


def squad(**changes) -> dict:
    """A whole file of one question whose answer stands at character 10, with changes to that question."""
    entry = {"id": "q1", "question": "Who sings?", "answers": [{"text": "the cat", "answer_start": 10}], **changes}
    paragraph = {"context": "At night, the cat sings.", "qas": [entry]}
    return {"version": "v2.0", "data": [{"title": "Cats", "paragraphs": [paragraph]}]}


def scores(path: Path):
    return read_labelled(path, problem_type="regression")


def as_bytes(content: str | bytes | dict) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()
