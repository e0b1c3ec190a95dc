"""The process of an answer: runs the student's code on what the examiner sends, and sends back what comes."""

import inspect
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy
import torch

from bertedu.classroom.grading import exceptions
from bertedu.classroom.grading.channel import Channel, Gone
from bertedu.classroom.grading.serialization import Packer, Unpacker, bytes_of
from bertedu.course.honest import is_the_packages, name_of
from bertedu.course.stubs import never_reached


class Nothing:
    """What a call of `check` or `hint` gives while a cell is graded."""

    passed = False

    def __repr__(self) -> str:
        return ""


def nothing(*_: Any, **__: Any) -> Nothing:
    """Stands for `check`, `hint`, `display` and the like in the cell of an answer."""
    return Nothing()


def silence() -> None:
    """No input; what is printed goes nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode, closefd=False) for number, mode in enumerate("rww"))  # noqa: SIM115


def run_cells(helpers: str, source: str, asked: str) -> Any:
    """What the cell of an answer hands in: the expression `asked`, after the helpers and the cell have run."""
    names: dict[str, Any] = {"__name__": "__main__", "check": nothing, "hint": nothing, "display": nothing}
    exec(compile(helpers, "<released>", "exec"), names)
    names |= {"check": nothing, "hint": nothing}
    exceptions.remember(source)
    exec(compile(source, exceptions.ANSWER, "exec"), names)
    return eval(compile(asked, "<released>", "eval"), names)


def serve(channel: Channel, helpers: str, source: str, asked: str) -> None:
    """Run the cell, describe the answer, then answer calls until the examiner has enough."""
    torch.default_generator.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    try:
        answer = run_cells(helpers, source, asked)
    except BaseException as error:
        channel.send({"failed": exceptions.as_data(error)})
        return
    channel.send(described(answer))
    calls: dict[int, tuple[list, list]] = {}
    while True:
        try:
            message, blobs = channel.receive()
        except Gone:
            return
        if "backward" in message:
            reply = backward(calls[message["backward"]], message, blobs)
        else:
            reply = call(channel, answer, message, blobs, calls)
        try:
            channel.send(*reply)
        except ValueError as error:
            channel.send({"error": exceptions.as_data(error)})


def described(answer: Any) -> dict[str, Any]:
    """What the examiner must know of an answer before it calls it."""
    if not callable(answer):
        packer = Packer()
        try:
            return {"value": packer.pack(answer), "data": [bytes_of(one).hex() for one in packer.storages]}
        except Exception:
            return {"value": {"type": type(answer).__name__[:60]}, "data": []}
    try:
        parameters = [[name, int(one.kind)] for name, one in inspect.signature(answer).parameters.items()]
    except Exception:
        parameters = None
    own = {"is_class": isinstance(answer, type), "packages": is_the_packages(answer), "parameters": parameters}
    return {"name": name_of(answer), "left_over": never_reached(answer), **own}


def call(channel: Channel, answer: Any, message: dict, blobs: list[bytes], calls: dict) -> tuple[dict, list[bytes]]:
    """Call the answer: what it returned, and what it did to its inputs."""
    torch.set_rng_state(torch.frombuffer(bytearray(blobs.pop()), dtype=torch.uint8))
    given = Unpacker(blobs)
    given.trusted = True
    given.caller = lambda number: asking(channel, number)
    inputs, named, modes = (
        given.unpack(message["inputs"]),
        given.unpack(message["named"]),
        given.unpack(message["modes"]),
    )
    before = [bytes_of(storage) for storage in given.storages]
    try:
        result = within_modes(modes, answer, inputs, named, message["gradients"])
        packer = Packer(known=given.objects, storages=given.storages)
        body = {"result": packer.pack(result), "after": packer.pack([list(inputs), named])}
    except BaseException as error:
        packer, body = Packer(), {"error": exceptions.as_data(error)}
    calls[message["call"]] = (given.graph, packer.graph)
    changed = {
        place: bytes_of(storage)
        for place, storage in enumerate(given.storages)
        if storage.nbytes() == len(before[place]) and bytes_of(storage) != before[place]
    }
    body |= {"changed": list(changed), "modes": [plain_state(mode) for mode in modes], "new": len(packer.storages)}
    body["random"] = [list_of(one) for one in given.objects if type(one) is random.Random]
    blobs = [*map(bytes_of, packer.storages), *changed.values(), torch.get_rng_state().numpy().tobytes()]
    return body, blobs


def list_of(generator: random.Random) -> list:
    """The state of a generator as JSON has it."""
    version, numbers, gauss = generator.getstate()
    return [version, list(numbers), gauss]


def plain_state(mode: Any) -> dict[str, Any]:
    """What a recording mode has seen: its numbers and texts."""
    return {name: value for name, value in vars(mode).items() if type(value) in (int, str, float, bool)}


def within_modes(modes: list, answer: Callable, inputs: tuple, named: dict, gradients: bool) -> Any:
    """Call the answer while recording modes of the check are on."""
    if modes:
        with modes[0]:
            return within_modes(modes[1:], answer, inputs, named, gradients)
    with torch.set_grad_enabled(gradients):
        return answer(*inputs, **named)


def asking(channel: Channel, number: int) -> Callable:
    """A function of the examiner's, called from the answer."""

    def ask(*inputs: Any, **named: Any) -> Any:
        packer = Packer()
        body = {"ask": number, "inputs": packer.pack(inputs), "named": packer.pack(named)}
        channel.send(body, [bytes_of(storage) for storage in packer.storages])
        message, blobs = channel.receive()
        if "error" in message:
            raise RuntimeError(message["error"])
        reply = Unpacker(blobs)
        reply.trusted = True
        return reply.unpack(message["result"])

    return ask


def backward(kept: tuple[list, list], message: dict, blobs: list[bytes]) -> tuple[dict, list[bytes]]:
    """The gradients of a call's inputs, from those of its results."""
    leaves, results = kept
    try:
        reader = Unpacker(blobs)
        gradients = reader.unpack(message["gradients"])
        chosen = [(one, gradient) for one, gradient in zip(results, gradients, strict=True) if gradient is not None]
        found = torch.autograd.grad(
            [one for one, _ in chosen], leaves, [gradient for _, gradient in chosen], True, allow_unused=True
        )
        packer = Packer()
        node = packer.pack([None if one is None else one.detach() for one in found])
    except BaseException as error:
        return {"error": exceptions.as_data(error)}, []
    return {"gradients": node}, [bytes_of(storage) for storage in packer.storages]
