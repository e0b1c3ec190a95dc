"""Values as bytes, in a form that holds data only: what a student's process sends must not be able to run anything.

A message is a line of JSON (a tree of nodes) and the storages of its tensors. Tensors that share memory share it on
the other side too, and whatever is no data arrives as a stand-in that has only the name of its type. The examiner,
who is trusted, may also send pickled objects (a tokenizer, a configuration); the way back has no pickle.
"""

import io
import json
import pickle
import random
from collections.abc import Callable
from math import prod
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from bertedu.course.honest import honest

MOST_BYTES = 64 * 2**20  # of one message
MOST_NUMBERS = 2**26  # in one tensor, however little memory its strides need
MOST_NODES = 500_000
DTYPES = {str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}
EMBEDDING = ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")


class Unfit(ValueError):
    """A message that is no message: too long, too deep, or not made by `Packer`."""


class Packer:
    """Makes one message. `known` are objects that the other side already has: they are sent as their number."""

    def __init__(self, trusted: bool = False, known: list[Any] | None = None, storages: list | None = None):
        self.trusted = trusted
        self.known = {id(value): place for place, value in enumerate(known or [])}
        self.old = {storage.data_ptr(): place for place, storage in enumerate(storages or []) if storage.nbytes()}
        self.storages: list[Any] = []
        self.new: dict[int, int] = {}
        self.objects: list[Any] = []  # what `Unpacker.objects` will hold, in the same order
        self.callables: list[Callable] = []
        self.graph: list[Tensor] = []  # tensors sent that have a gradient to give
        self.nodes = 0

    def pack(self, value: Any, depth: int = 0) -> Any:
        """The node of a value."""
        self.nodes += 1
        if depth > 60 or self.nodes > MOST_NODES:
            raise Unfit("what came back is too deep or too long")
        if id(value) in self.known and not isinstance(value, bool | int | str | float | None):
            return {"known": self.known[id(value)]}
        value = honest(value)
        kind = type(value)
        if value is None or kind in (bool, int, float):
            return value if kind is not int or abs(value) < 10**300 else self.stand_in(value)
        if kind is str:
            return {"s": value.encode("utf-8", "surrogatepass").hex()} if not value.isprintable() else value
        if kind is Tensor or kind is nn.Parameter:
            return self.tensor(value)
        if kind in (list, tuple, set, frozenset):
            return {kind.__name__: [self.pack(item, depth + 1) for item in value]}
        if kind is dict:
            return {"dict": [[self.pack(key, depth + 1), self.pack(item, depth + 1)] for key, item in value.items()]}
        return self.other(value, depth)

    def other(self, value: Any, depth: int) -> Any:
        """The node of what is neither a plain value nor a container."""
        kind = type(value)
        if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind in "biufU":
            return {"numpy": str(value.dtype), "of": self.pack(value.tolist(), depth + 1), "shape": list(value.shape)}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value)}
        if isinstance(value, torch.Size):
            return {"size": list(value)}
        if kind is random.Random:
            self.objects.append(value)
            return {"random": json.dumps(value.getstate())}
        if kind is nn.Embedding and not self.trusted:
            return {"embedding": {name: getattr(value, name) for name in EMBEDDING}, "of": self.tensor(value.weight)}
        if isinstance(value, tuple):  # a named tuple, as torch's topk returns
            return {"tuple": [self.pack(item, depth + 1) for item in value]}
        if hasattr(value, "__next__") and not self.trusted:
            return {"iterator": [self.pack(item, depth + 1) for item, _ in zip(value, range(10_000), strict=False)]}
        if self.trusted:
            return self.object(value)
        return self.stand_in(value)

    def object(self, value: Any) -> Any:
        """The node of an object that the examiner hands to the answer: a copy of it, or a way to call it."""
        self.objects.append(value)
        try:
            return {"pickle": pickle.dumps(value).hex()}
        except (pickle.PicklingError, AttributeError, TypeError):
            self.callables.append(value)
            return {"call": len(self.callables) - 1}

    def stand_in(self, value: Any) -> Any:
        """The node of something that cannot be sent."""
        return {"type": type(value).__name__[:60]}

    def tensor(self, value: Tensor) -> Any:
        """The node of a tensor; its numbers travel with the storages."""
        if value.layout != torch.strided or value.is_quantized or value.numel() > MOST_NUMBERS or value.is_conj():
            return self.stand_in(value)
        storage = value.untyped_storage()
        where = {"old": self.old[storage.data_ptr()]} if storage.data_ptr() in self.old else self.fresh(storage)
        node = {"tensor": str(value.dtype), "shape": list(value.shape), "stride": list(value.stride()), **where}
        node |= {"offset": value.storage_offset(), "grad": value.requires_grad, "leaf": value.is_leaf}
        node["parameter"] = type(value) is nn.Parameter
        self.objects.append(value)
        if value.requires_grad:
            node["graph"] = len(self.graph)
            self.graph.append(value)
        return node

    def fresh(self, storage: Any) -> dict[str, int]:
        """A storage of this message, once."""
        if storage.data_ptr() not in self.new or not storage.nbytes():
            self.new[storage.data_ptr()] = len(self.storages)
            self.storages.append(storage)
        return {"new": self.new[storage.data_ptr()]}


class Unpacker:
    """Reads the nodes of one message. Raises Unfit where something does not fit together."""

    def __init__(self, blobs: list[bytes], known: list[Any] | None = None, storages: list | None = None):
        self.known = known or []
        self.old = storages or []
        self.storages = [storage_of(blob) for blob in blobs]
        self.objects: list[Any] = []
        self.graph: list[Tensor] = []
        self.connected: list[Tensor] | None = None  # what stands for the tensors with a gradient, on a second reading
        self.trusted = False
        self.caller: Callable[[int], Callable] | None = None

    def unpack(self, node: Any) -> Any:
        """The value of a node."""
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise Unfit("a bare list")
            return node
        for name, read in READERS.items():
            if name in node:
                return read(self, node)
        raise Unfit("an unknown kind of value")

    def items(self, node: Any) -> list:
        """The values of a list of nodes."""
        return [self.unpack(item) for item in node]

    def known_object(self, node: dict) -> Any:
        """Something that this side sent before."""
        return self.known[node["known"]]

    def array(self, node: dict) -> Any:
        """A NumPy array or number."""
        made = numpy.array(self.unpack(node["of"]), dtype=node["numpy"]).reshape(node["shape"])
        return made if node["shape"] else made[()]

    def random(self, node: dict) -> Any:
        """A generator of random numbers, in the same state."""
        made = random.Random()
        version, numbers, gauss = json.loads(node["random"])
        made.setstate((version, tuple(numbers), gauss))
        self.objects.append(made)
        return made

    def embedding(self, node: dict) -> Any:
        """A table of vectors."""
        options = {name: node["embedding"][name] for name in EMBEDDING}
        weight = self.tensor(node["of"])
        if options["num_embeddings"] * options["embedding_dim"] > MOST_NUMBERS:
            raise Unfit("a table without end")
        made = nn.Embedding(**options)
        made.weight = nn.Parameter(weight.detach(), requires_grad=bool(node["of"]["grad"]))
        return made

    def stand_in(self, node: dict) -> Any:
        """An object that has nothing but the name of its type."""
        return type(str(node["type"]), (), {"__module__": "answer"})()

    def pickled(self, node: dict) -> Any:
        """A copy of an object of the examiner's. Only where the sender is trusted."""
        if not self.trusted:
            raise Unfit("a pickle")
        made = pickle.load(io.BytesIO(bytes.fromhex(node["pickle"])))
        self.objects.append(made)
        return made

    def callback(self, node: dict) -> Any:
        """A function that asks the examiner."""
        if not self.trusted or self.caller is None:
            raise Unfit("a function")
        made = self.caller(node["call"])
        self.objects.append(made)
        return made

    def tensor(self, node: dict) -> Tensor:
        """A tensor over its storage, inside whose bounds it must lie."""
        dtype, shape, stride, offset = DTYPES[node["tensor"]], node["shape"], node["stride"], node["offset"]
        storage = self.old[node["old"]] if "old" in node else self.storages[node["new"]]
        numbers = (*shape, *stride, offset)
        if not all(type(number) is int and 0 <= number < 2**40 for number in numbers) or len(shape) != len(stride):
            raise Unfit("a tensor with impossible sizes")
        last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
        if prod(shape) > MOST_NUMBERS or (prod(shape) and (last + 1) * dtype.itemsize > storage.nbytes()):
            raise Unfit("a tensor outside its memory")
        made = torch.empty(0, dtype=dtype).set_(storage, offset if prod(shape) else 0, shape, stride)
        if node["grad"] and self.connected is not None:
            made = self.connected[len(self.graph)]
            self.graph.append(made)
            return made
        if node["parameter"]:
            made = nn.Parameter(made, requires_grad=bool(node["grad"]))
        if node["grad"]:
            self.graph.append(made.requires_grad_())
            if self.trusted and not node["leaf"]:
                made = made.clone()  # the answer may change it in place, as it could the examiner's
        self.objects.append(made)
        return made


READERS: dict[str, Callable[[Unpacker, dict], Any]] = {
    "known": Unpacker.known_object,
    "s": lambda self, node: bytes.fromhex(node["s"]).decode("utf-8", "surrogatepass"),
    "tensor": Unpacker.tensor,
    "list": lambda self, node: self.items(node["list"]),
    "tuple": lambda self, node: tuple(self.items(node["tuple"])),
    "set": lambda self, node: set(self.items(node["set"])),
    "frozenset": lambda self, node: frozenset(self.items(node["frozenset"])),
    "dict": lambda self, node: {self.unpack(key): self.unpack(item) for key, item in node["dict"]},
    "numpy": Unpacker.array,
    "dtype": lambda self, node: DTYPES[node["dtype"]],
    "size": lambda self, node: torch.Size(node["size"]),
    "random": Unpacker.random,
    "embedding": Unpacker.embedding,
    "iterator": lambda self, node: (item for item in self.items(node["iterator"])),
    "pickle": Unpacker.pickled,
    "call": Unpacker.callback,
    "type": Unpacker.stand_in,
}


def storage_of(blob: bytes) -> Any:
    """A storage of torch's with these bytes."""
    if not blob:
        return torch.empty(0, dtype=torch.uint8).untyped_storage()
    return torch.frombuffer(bytearray(blob), dtype=torch.uint8).clone().untyped_storage()


def bytes_of(storage: Any) -> bytes:
    """The bytes of a storage."""
    if not storage.nbytes():
        return b""
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,)).numpy().tobytes()


def write(storage: Any, blob: bytes) -> None:
    """Put other bytes into a storage of the same size."""
    if len(blob) != storage.nbytes():
        raise Unfit("another amount of memory")
    if blob:
        now = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))
        now.copy_(torch.frombuffer(bytearray(blob), dtype=torch.uint8))
