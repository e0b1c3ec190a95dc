"""What an answer may not use, seen while it runs: torch's own solution of an exercise, or the package's."""

import re
import sys
from types import FrameType
from typing import Any

from torch.overrides import TorchFunctionMode

from bertedu.course.raising import LIBRARIES, PACKAGE


class Watch(TorchFunctionMode):
    """While it is on, `used` becomes the first function or class in `without` that the answer uses.

    An alias, a module such as nn.LayerNorm, torch.ops, a subclass: all of them end in the same function. Python tells
    of the calls that Python code makes, torch of those that come from elsewhere (map, partial). Where a grader runs the
    answer in another process, this mode is sent there with each call.

    without holds names: of a function or class, as its own file has it ("Encoder", "EncoderLayer.forward"); of a module
    ("torch.optim"); of a function of torch, from one word to another ("layer_norm" is native_layer_norm too).
    """

    def __init__(self, without: tuple[str, ...]):
        super().__init__()
        self.without = without
        self.words = re.compile(rf"(?<![a-z])({'|'.join(map(re.escape, without))})(?![a-z])")
        self.used = ""
        self.before: Any = None

    def __reduce__(self) -> tuple:
        return Watch, (self.without,)

    def __enter__(self) -> "Watch":
        self.before = sys.getprofile()
        super().__enter__()
        sys.setprofile(self.listen)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.setprofile(self.before)
        super().__exit__(*error)

    def __torch_function__(self, function: Any, types: Any, inputs: tuple = (), named: dict | None = None) -> Any:
        self.called(getattr(function, "__name__", ""), sys._getframe(1))
        return function(*inputs, **(named or {}))

    def listen(self, frame: FrameType, event: str, function: Any) -> None:
        """Python calls this at each call and each return."""
        if event == "call":
            self.entered(frame)
        elif event == "c_call":
            self.called(getattr(function, "__name__", ""), frame)

    def called(self, name: str, frame: FrameType) -> None:
        """A function that is not written in Python, called in this frame."""
        if not self.used and self.words.search(name) and by_the_answer(frame):
            self.used = f"torch's `{name}`"

    def entered(self, frame: FrameType) -> None:
        """A Python function that begins: the package's own counts, and a library's if the answer uses it."""
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if self.used or not file.startswith(LIBRARIES):
            return
        named = [entry for entry in self.without if name == entry or name.startswith(entry + ".")]
        paths = {entry: "/" + entry.replace(".", "/") for entry in self.without}
        inside = [entry for entry, path in paths.items() if f"{path}/" in file or file.endswith(f"{path}.py")]
        if file.startswith(PACKAGE):
            self.used = f"the package's `{named[0]}`" if named else ""
        elif (named or inside) and by_the_answer(frame.f_back):
            self.used = f"`{named[0] if named else inside[0]}`"


MACHINERY = tuple(f"{PACKAGE}/{name}" for name in ("course/case.py", "course/without.py", "classroom/grading/"))


def by_the_answer(frame: FrameType | None) -> bool:
    """Whether the nearest code above a library's is not the package's: that uses what it likes."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE):
            if not file.startswith(MACHINERY):
                return False
        elif not file.startswith((*LIBRARIES, "<frozen")):
            return True
        frame = frame.f_back
    return True
