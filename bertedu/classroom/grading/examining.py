"""The examination of one answer: the check runs here, the student's code in a process of its own.

An examiner is a fresh copy of the warm process. It starts the answer's process, which has no way to write a verdict:
it sends values, and the examiner judges them. A few exercises hand in classes or models, whose inside the check
examines; those checks run beside the answer, after `review` has refused every answer that reaches behind the scenes.
"""

import gc
import os
import resource
import shutil
import socket
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import torch

from bertedu.classroom.grading import answering, exceptions, proxy
from bertedu.classroom.grading.channel import Channel, Gone
from bertedu.classroom.grading.emptied import empty_package
from bertedu.classroom.grading.limits import Limits, confine, end_all, lower
from bertedu.classroom.grading.proxy import Answer, Ended, Link
from bertedu.classroom.grading.serialization import Unpacker
from bertedu.course import checking
from bertedu.course.exercise import Exercise
from bertedu.course.guarding import within
from bertedu.course.loading import find
from bertedu.course.raising import told as told_in_words
from bertedu.course.settings import own_settings
from bertedu.course.verdict import StillRunning, Verdict

MEMORY = 2 * 2**30  # of an examiner, beyond what the libraries have mapped
WRONG = """\
def stub(*_, **__):
    raise NotImplementedError
class Stub:
    __init__ = stub
"""
STOPPED = "Your answer ended the process that it runs in, so it could not be examined."


@dataclass(frozen=True)
class Task:
    """One answer: the exercise, the released code that it needs, the cell, and what the cell hands in."""

    number: str
    helpers: str
    source: str
    asked: str


def examined(task: Task, limits: Limits) -> dict[str, Any]:
    """The verdict on one answer, as data. Starts the answer's process, and ends it."""
    gc.freeze()
    began = time.monotonic()
    ours, theirs = socket.socketpair()
    folder = Path(tempfile.mkdtemp(prefix="answer-"))
    process = os.fork()
    if not process:
        ours.close()
        child(task, limits, folder, theirs)
    theirs.close()
    link = Link(Channel(ours), process)
    link.channel.deadline = began + limits.waiting
    time.thread_time = lambda: proxy.thread_time() + link.seconds()  # the check's clock counts the answer's work too
    checking.SECONDS = limits.seconds
    exceptions.remember(task.source)
    lower(
        resource.RLIMIT_AS, psutil.Process().memory_info().vms + MEMORY
    )  # what an answer sends may ask for any amount
    missing: list[str] = []
    try:
        verdict = judged(find(task.number), link, missing)
    finally:
        ours.close()
        end_all(process)
        shutil.rmtree(folder, ignore_errors=True)
    return {**asdict(verdict), "missing": missing, "seconds": round(time.monotonic() - began, 2)}


def child(task: Task, limits: Limits, folder: Path, end: socket.socket) -> None:
    """The life of the answer's process. Never returns."""
    try:
        os.setsid()
        kept = end.fileno()
        answering.silence()
        os.closerange(3, kept)
        os.closerange(kept + 1, 4096)
        exercise = find(task.number)
        with_package = exercise.runs != "apart" or "bertedu" in task.helpers
        channel = Channel(end)
        if exercise.runs == "compiled":  # its compiler alone maps more than a gigabyte
            limits = replace(limits, memory=2 * limits.memory)
        missing = confine(limits, folder, with_package)
        channel.send({"missing": missing})
        if exercise.beside:
            beside(task, channel)
        else:
            if not with_package:
                empty_package()
            answering.serve(channel, task.helpers, task.source, task.asked)
    except Gone:
        pass
    finally:
        os._exit(0)


def judged(exercise: Exercise, link: Link, missing: list[str]) -> Verdict:
    """The verdict on the answer at the other end."""
    with checking.ORIGINALS.restored(), own_settings():
        try:
            missing += [str(word) for word in link.receive()[0]["missing"]]
            told, _ = within(checking.SECONDS, link.receive)
            if "failed" in told:
                return failed(exercise, told["failed"])
            if exercise.beside and "verdict" in told:  # from any other answer, a verdict is only data
                return from_data(exercise, told["verdict"])
            return examine(exercise, link, told)
        except StillRunning:
            slow = f"It was still running after {checking.SECONDS:g} seconds, so I stopped it."
            return Verdict(exercise.number, "not yet", (slow + " Is there a loop that never ends?",))
        except Ended:
            return Verdict(exercise.number, "not yet", (STOPPED,))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError, MemoryError) as error:
            return Verdict(
                exercise.number, "not yet", ("What came back could not be read.",), (type(error).__name__, "")
            )


def examine(exercise: Exercise, link: Link, told: dict) -> Verdict:
    """Run the check in this process on what stands for the answer."""
    if told.get("packages"):
        return Verdict(exercise.number, "not yet", ("I was given the package's own. Hand in what you wrote yourself.",))
    answer: Any
    if "value" in told:
        node = told["value"]
        reader = Unpacker([bytes.fromhex(blob) for blob in told["data"]])
        answer = ... if node == {"type": "ellipsis"} else reader.unpack(node)
    elif told["is_class"]:
        answer = type(str(told["name"]), (), {})
    else:
        answer = Answer(link, told)
    verdict = checking.examine(exercise, answer)
    if link.gone and not verdict.passed:
        return Verdict(exercise.number, "not yet", (STOPPED,))
    if verdict.passed and told.get("left_over"):
        extra = f"You can delete the line {checking.LINE}: Python never gets there."
        verdict = Verdict(verdict.number, verdict.status, (*verdict.lines, extra))
    return verdict


def failed(exercise: Exercise, told: dict) -> Verdict:
    """The verdict on a cell that raised before it handed anything in."""
    error = exceptions.again(told)
    if isinstance(error, NotImplementedError):
        return checking.not_attempted(exercise.number)
    return Verdict(exercise.number, "not yet", told_in_words(error, "your cell"))


def beside(task: Task, channel: Channel) -> None:
    """The check in the answer's own process, with a control: what passes must not make a stub pass too."""
    exercise = find(task.number)
    try:
        answer = answering.run_cells(task.helpers, task.source, task.asked)
    except BaseException as error:
        channel.send({"failed": exceptions.as_data(error)})
        return
    with checking.ORIGINALS.restored(), own_settings():
        verdict = checking.examine(exercise, answer)
        changed = bool(checking.ORIGINALS.replaced())
        control = checking.examine(exercise, wrong_answer(exercise.kind))
    if verdict.passed and (changed or control.status != "not attempted yet"):
        verdict = Verdict(task.number, "not yet", ("The answer changes functions of torch or of the package.",))
    channel.send({"verdict": asdict(verdict)})


def from_data(exercise: Exercise, told: dict) -> Verdict:
    """A verdict that came as data."""
    statuses: dict[str, Any] = {name: name for name in ("yes", "almost", "not yet", "not attempted yet")}
    lines = tuple(str(line)[:1000] for line in told["lines"][:20])
    trouble = told["trouble"] and (str(told["trouble"][0]), str(told["trouble"][1]))
    return Verdict(exercise.number, statuses[told["status"]], lines, trouble)


def wrong_answer(kind: str) -> Any:
    """An answer that is known to be wrong, from a file that is nobody's library."""
    names: dict[str, Any] = {}
    exec(compile(WRONG, "<control>", "exec"), names)
    return names["Stub" if kind == "class" else "stub"]


def warm() -> None:
    """Do once what the first use of the libraries takes time for. No gradients: their threads do not survive a fork."""
    torch.set_num_threads(1)
    with own_settings():
        torch.einsum("ij,jk->ik", torch.randn(4, 4).softmax(-1), torch.randn(4, 4)).topk(2)
