"""The rows of the task data that ship, read once, and what their baselines reach: for the tests of these data."""

from functools import cache
from pathlib import Path

from bertedu.corpora.tasks.files import TASKS
from bertedu.registry import TASKS as TASK_CLASSES

DATA = Path(__file__).resolve().parents[2] / "data"
TASK_OF = {
    "sentiment": "classification",
    "aspects": "multi-label",
    "topics": "classification",
    "entities": "entities",
    "parts_of_speech": "tagging",
    "questions": "question-answering",
    "inference": "classification",
    "similarity": "similarity",
    "choices": "multiple-choice",
    "summaries": "summarization",
}


@cache
def rows(folder: str, part: str) -> list:
    """The rows of a folder of data/tasks, such as inference or stress/inference."""
    task = folder.removeprefix("stress/")
    return TASK_CLASSES[TASK_OF[task]].read_rows(str(DATA / "tasks" / folder / f"{part}.{TASKS[task][0]}"))


def baseline(folder: str, part: str = "test") -> dict[str, dict[str, float]]:
    task = TASK_CLASSES[TASK_OF[folder.removeprefix("stress/")]]
    return task.baselines(rows(folder, "train"), rows(folder, part))
