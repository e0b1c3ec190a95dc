"""The answer as the examiner sees it: an object that calls the other process and gives what came back."""

import inspect
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack

from bertedu.classroom.grading import exceptions
from bertedu.classroom.grading.channel import Channel, Gone, TooLong
from bertedu.classroom.grading.serialization import Packer, Unfit, Unpacker, bytes_of, write
from bertedu.course.verdict import StillRunning

thread_time = time.thread_time


class Ended(BaseException):
    """The process of the answer is gone. Not the answer's own doing as far as a check can tell."""


class Link:
    """The connection of one examination with the process of its answer."""

    def __init__(self, channel: Channel, process: int):
        self.channel = channel
        self.clock = (~process << 3) | 2  # the clock of that process's time at work
        self.used = 0.0
        self.count = 0
        self.gone = False

    def seconds(self) -> float:
        """How long the process of the answer has worked."""
        with suppress(OSError):  # it has ended
            self.used = time.clock_gettime(self.clock)
        return self.used

    def receive(self) -> tuple[dict, list[bytes]]:
        """The next message. An answer that ends its process, or takes too long, ends the check."""
        try:
            return self.channel.receive()
        except TooLong:
            raise StillRunning from None
        except Gone:
            self.gone = True
            raise Ended from None

    def send(self, body: dict, blobs: Sequence[bytes] = ()) -> None:
        """Send a message, which an answer that does not listen cannot hold up."""
        try:
            self.channel.send(body, blobs)
        except TooLong:
            raise StillRunning from None
        except Gone:
            self.gone = True
            raise Ended from None

    def call(self, inputs: tuple, named: dict) -> Any:
        """Call the answer in its process."""
        modes = [mode for mode in _get_current_function_mode_stack() if type(mode).__module__.startswith("bertedu.")]
        gradients = torch.is_grad_enabled()
        with torch._C.DisableTorchFunction():
            return self.call_quietly(inputs, named, modes, gradients)

    def call_quietly(self, inputs: tuple, named: dict, modes: list, gradients: bool) -> Any:
        """The same, where no mode of the check listens."""
        self.count += 1
        number, packer = self.count, Packer(trusted=True)
        body = {"call": number, "inputs": packer.pack(inputs), "named": packer.pack(named)}
        body |= {"modes": packer.pack(modes), "gradients": gradients}
        state = torch.get_rng_state().numpy().tobytes()
        self.send(body, [*map(bytes_of, packer.storages), state])
        message, blobs = self.receive()
        while "ask" in message:
            self.reply(packer.callables[message["ask"]], message, blobs)
            message, blobs = self.receive()
        torch.set_rng_state(torch.frombuffer(bytearray(blobs.pop()), dtype=torch.uint8))
        for place, blob in zip(message["changed"], blobs[message["new"] :], strict=True):
            write(packer.storages[place], blob)
        generators = [one for one in packer.objects if type(one).__name__ == "Random"]
        for generator, (version, numbers, gauss) in zip(generators, message["random"], strict=True):
            generator.setstate((version, tuple(numbers), gauss))
        for mode, seen in zip(modes, message["modes"], strict=True):
            own = vars(mode)
            own.update({name: value for name, value in seen.items() if type(value) is type(own.get(name, seen))})
        if "error" in message:
            raise exceptions.again(message["error"])
        result = self.read(message["result"], blobs[: message["new"]], packer, number)
        after = Unpacker(blobs[: message["new"]], packer.objects, packer.storages).unpack(message["after"])
        put_back([list(inputs), named], after)
        return result

    def read(self, node: Any, blobs: list[bytes], sent: Packer, number: int) -> Any:
        """The result, its gradients connected with the inputs."""
        reader = Unpacker(blobs, sent.objects, sent.storages)
        result = reader.unpack(node)
        inputs = [one for one in sent.graph if one.requires_grad]
        if not reader.graph or not inputs:
            return result
        raw = [one.detach() for one in reader.graph]
        connected = Remote.apply(self, number, raw, *inputs)
        again = Unpacker(blobs, sent.objects, sent.storages)
        again.storages, again.connected = reader.storages, list(connected)
        return again.unpack(node)

    def reply(self, function: Callable, message: dict, blobs: list[bytes]) -> None:
        """Run a function of the check's for the answer."""
        try:
            given = Unpacker(blobs)
            inputs, named = given.unpack(message["inputs"]), given.unpack(message["named"])
            result = function(*inputs, **named)
            packer = Packer(trusted=True)
            body = {"result": packer.pack(result)}
            self.send(body, [bytes_of(storage) for storage in packer.storages])
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
            self.send({"error": str(error)[:1000]})

    def backward(self, number: int, gradients: tuple) -> list:
        """The gradients of the inputs of an earlier call."""
        packer = Packer()
        node = packer.pack([None if one is None else one.contiguous() for one in gradients])
        self.send({"backward": number, "gradients": node}, [bytes_of(storage) for storage in packer.storages])
        message, blobs = self.receive()
        if "error" in message:
            raise exceptions.again(message["error"])
        found = Unpacker(blobs).unpack(message["gradients"])
        if not isinstance(found, list):
            raise Unfit("no gradients")
        return found


class Remote(torch.autograd.Function):
    """The answer as one operation of torch: its backward pass runs where its forward pass ran."""

    @staticmethod
    def forward(context: Any, link: Link, number: int, raw: list, *inputs: torch.Tensor) -> tuple:
        """The results that came."""
        context.link, context.number = link, number
        context.set_materialize_grads(False)
        return tuple(raw)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> tuple:
        """The gradients that came."""
        with torch._C.DisableTorchFunction():
            return (None, None, None, *context.link.backward(context.number, gradients))


class Answer:
    """Stands for a student's function in a check."""

    def __init__(self, link: Link, told: dict):
        self._link = link
        self.__name__ = str(told["name"])
        if told["parameters"] is not None:
            try:
                kinds = [
                    inspect.Parameter(str(name), list(inspect._ParameterKind)[kind])
                    for name, kind in told["parameters"]
                ]
                self.__signature__ = inspect.Signature(kinds)
            except (ValueError, TypeError, IndexError):
                pass

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self._link.call(inputs, named)


def put_back(given: Any, after: Any) -> None:
    """Do to lists and dicts what the answer did to its copies of them."""
    if type(given) is list and type(after) is list:
        for old, new in zip(given, after, strict=False):
            put_back(old, new)
        if len(given) != len(after) or any(kept(old, new) is not old for old, new in zip(given, after, strict=True)):
            given[:] = [kept(old, new) for old, new in zip(given, after, strict=False)] + after[len(given) :]
    elif type(given) is dict and type(after) is dict:
        made = {key: kept(given[key], new) if key in given else new for key, new in after.items()}
        if list(made) != list(given) or any(made[key] is not given[key] for key in made):
            given.clear()
            given.update(made)
    elif type(given) is tuple and type(after) is tuple:
        for old, new in zip(given, after, strict=False):
            put_back(old, new)
    elif type(given) is set and type(after) is set and given != after:
        given.clear()
        given.update(after)


def kept(old: Any, new: Any) -> Any:
    """The old object where the new one is its copy, else the new one."""
    if type(old) in (list, dict, tuple, set):
        put_back(old, new)
        return old if type(new) is type(old) and (type(old) is not tuple or len(old) == len(new)) else new
    if type(old) is type(new) and type(old) in (int, float, str, bool) and (old == new or old != old):
        return old
    return new
