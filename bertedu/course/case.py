"""The helper that examines an answer in words. Every exercise's check gets one.

A check calls the answer through `case.call`, then asserts. The first assertion that fails ends the check with
what was tried, what came, and what should have come.
"""

import warnings
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, NoReturn

import torch
from torch import Tensor

from bertedu.course.comparing import difference, holds_nan, is_close, kind, said, shape, type_name
from bertedu.course.copying import by_its_names, changed_input, copied
from bertedu.course.guessing import example, same_guess, shortened_to, type_of_guess
from bertedu.course.honest import has_doubles, honest, name_of
from bertedu.course.raising import text_of, told
from bertedu.course.stubs import LINE, code_that_raised, is_left_over
from bertedu.course.verdict import Ended, StillRunning
from bertedu.course.without import Watch

SEED = 20181011  # nobody's first guess: an answer that draws numbers of its own must not meet the case's
CAUSES = {  # words of an error message, and what usually causes it in any exercise
    "must be Tensor, not int": "Functions of torch take tensors. For a single number use those of math: math.sqrt(2).",
    "must be Tensor, not float": "Functions of torch take tensors. For a single number use those of math.",
    "must be real number, not Tensor": "Functions of math take single numbers. For tensors use those of torch.",
}


class Case:
    """One answer under examination. `case.answer` is what the learner handed in; randomness comes from
    `case.randn` and `case.randint`, the same on every call of check."""

    def __init__(self, number: str, answer: Any, seed: int = SEED, without: tuple[str, ...] = ()):
        self.number = number
        self.without = without
        self.answer = honest(answer)
        self.name = name_of(answer)
        self.generator = torch.Generator().manual_seed(seed)
        self.tried: list[str] = []  # all that was tried, for the last word
        self.doing = ""  # what is being tried now
        self.right: list[str] = []  # shapes found right in the present try
        self.in_place: str | None = None  # the first input that the answer changed
        self.causes: dict[str, str] = {}  # words of an error message, and what usually causes it in this exercise
        self.not_a_number = False  # whether a NaN came back
        self.doubles = False  # whether a call gave float64 for inputs that were not
        self.closing: tuple[str, ...] = ()

    # Inputs -----------------------------------------------------------------------------------------------------

    def randn(self, *size: int) -> Tensor:
        """Normal random numbers, float32."""
        return torch.randn(*size, generator=self.generator)

    def randint(self, low: int, high: int, size: Sequence[int]) -> Tensor:
        """Random integers from low to high - 1, int64."""
        return torch.randint(low, high, tuple(size), generator=self.generator)

    # Trying -----------------------------------------------------------------------------------------------------

    def call(self, *inputs: Any, tried: str, function: Callable | None = None, keeps_inputs: bool = True, **named: Any):
        """What the answer (or `function`: a method of what it returned) gives for copies of the inputs.

        `tried` completes "I called attention on …". An answer that raises, or returns None, ends the check.
        keeps_inputs=False where the task is to change an input.
        """
        function = function or self.answer
        self.begin(f"I called {self.name} on {tried}.", tried)
        given, given_named = copied(inputs), copied(named)
        result = self.protected(function, *given, **given_named)
        if keeps_inputs and self.in_place is None:
            self.in_place = changed_input(function, (inputs, named), (given, given_named))
        if result is None:
            self.fail(f"But {self.name} returned None. Does it end with `return`, in every branch?")
        self.doubles = has_doubles(result) and not has_doubles([*inputs, *named.values()])
        return result

    def begin(self, sentence: str, tried: str) -> None:
        """Start another try: `sentence` opens what is said if it fails."""
        self.doing, self.right = sentence, []
        if tried not in self.tried:
            self.tried.append(tried)

    def protected(self, function: Callable, *inputs: Any, **named: Any) -> Any:
        """Call learner's code; what it raises, or may not use, becomes a sentence."""
        inputs, named = by_its_names(function, inputs, named)
        if not self.without:
            return self.in_words(function, *inputs, **named)
        with Watch(self.without) as watch:
            try:
                return self.in_words(function, *inputs, **named)
            finally:
                if watch.used:
                    self.fail(f"But it uses {watch.used}, and that is what this exercise asks you to write yourself.")

    def in_words(self, function: Callable, *inputs: Any, **named: Any) -> Any:
        """Call learner's code; what it raises becomes a sentence."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is said of the answer should stand alone
                result = honest(function(*inputs, **named))
            self.not_a_number = self.not_a_number or holds_nan(result)
            return result
        except (StillRunning, KeyboardInterrupt):
            raise
        except Ended as end:
            if code_that_raised(end) is None:
                raise
            self.fail(*told(end, self.name))  # raised by the answer, as if it were the check
        except NotImplementedError as error:
            raised_by = code_that_raised(error)
            if error.args or raised_by is None:  # no stub: torch raises this type too
                self.fail(*self.raised(error))
            if not is_left_over(raised_by):
                raise Ended("not attempted yet") from None
            self.fail(
                f"But Python stopped at the line {LINE} in {raised_by.co_name}.",
                "That line only stands in for an answer. Delete it, and run the cell again.",
            )
        except BaseException as error:
            self.fail(*self.raised(error))

    def raised(self, error: BaseException) -> tuple[str, ...]:
        """What the answer raised and where, and what usually causes it in this exercise."""
        causes = [cause for words, cause in (self.causes | CAUSES).items() if words in text_of(error)]
        return (*told(error, self.name), *causes[:1])

    # Ending -----------------------------------------------------------------------------------------------------

    def said_so_far(self) -> tuple[str, ...]:
        """What was tried, and what was right about it, as one line (none before the first try)."""
        parts = [self.doing] if self.doing else []
        if self.right:
            parts.append(f"{'Shapes are' if len(self.right) > 1 else 'The shape is'} right: {', '.join(self.right)}.")
        return (" ".join(parts),) if parts else ()

    def fail(self, *lines: str) -> NoReturn:
        """End the check: not yet. The lines say what came, what was expected, what it looks like."""
        raise Ended("not yet", *self.said_so_far(), *lines)

    def almost(self, *lines: str) -> NoReturn:
        """End the check: almost. For an answer that misses one thing only."""
        raise Ended("almost", *self.said_so_far(), *lines)

    def close_with(self, *lines: str) -> None:
        """What to say after "yes"."""
        self.closing = lines

    def refuse_in_place(self) -> None:
        """Almost, where a call has changed one of its inputs."""
        if self.in_place:
            raise Ended(
                "almost",
                f"The result is right, but {self.name} changed its input `{self.in_place}` in place.",
                "Its caller may still need the old values: work on a new tensor, or on a copy.",
            )

    def refuse_nan(self) -> None:
        """Not yet, where something that came back holds a NaN: most comparisons with it are neither true nor false."""
        if self.not_a_number:
            raise Ended("not yet", f"What {self.name} returned holds a NaN, which is no number.")

    # Asserting --------------------------------------------------------------------------------------------------

    def expect(self, condition: Any, *lines: str) -> None:
        """Not yet, unless the condition holds."""
        if not condition:
            self.fail(*lines)

    def is_a(self, name: str, got: Any, types: type | UnionType | tuple[type, ...], wanted: str) -> None:
        """Not yet, unless `got` is of one of the types; `wanted` names them: "a list of strings"."""
        if not isinstance(got, types):
            self.fail(f"But {name} should be {wanted}, and it is {said(got)}.")

    def parts(self, got: Any, *names: str) -> tuple:
        """The parts of a returned tuple, e.g. `values, weights = case.parts(result, "values", "weights")`."""
        wanted = f"return {', '.join(names)}"
        if not isinstance(got, tuple | list):
            self.fail(f"But it returned {type_name(got)}, and {len(names)} things are asked for: `{wanted}`.")
        if len(got) != len(names):
            self.fail(f"But it returned {len(got)} things, and {len(names)} are asked for: `{wanted}`.")
        return tuple(got)

    def same_shape(self, name: str, got: Any, expected: Sequence[int] | Tensor, *advice: str) -> None:
        """Not yet, unless `got` is a tensor of that shape."""
        self.is_a(name, got, Tensor, "a tensor")
        size = list(expected.shape if isinstance(expected, Tensor) else expected)
        if list(got.shape) != size:
            self.fail(f"But {name} has the shape {shape(got)}, and {size} is expected.", *advice)
        entry = f"{name} {shape(got)}"
        if entry not in self.right:
            self.right.append(entry)

    def dtype(self, name: str, got: Tensor, expected: torch.dtype, *advice: str) -> None:
        """Not yet, unless the tensor is of that type."""
        self.is_a(name, got, Tensor, "a tensor")
        if got.dtype != expected:
            self.fail(f"But {name} has the type {kind(got.dtype)}, and {kind(expected)} is expected.", *advice)

    def close(
        self, name: str, got: Any, expected: Tensor, *advice: str, tolerance: float = 1e-5, mistakes: dict | None = None
    ) -> None:
        """Not yet, unless `got` has the shape and the numbers of `expected`.

        mistakes: for known mistakes, what would have come (a tensor) by the sentence that explains it:
        {"Your columns sum to 1, so …": wrong}. The sentence of the one that came is said; else the advice.
        """
        if not isinstance(expected, Tensor):
            expected = torch.tensor(expected)
        if isinstance(got, int | float) and expected.ndim == 0:
            got = torch.tensor(got)
        self.same_shape(name, got, expected)
        if is_close(got, expected, tolerance):
            return
        known = [
            sentence for sentence, wrong in (mistakes or {}).items() if is_close(got, torch.as_tensor(wrong), nan=True)
        ]
        self.fail(f"But {difference(name, got, expected, tolerance)}", *(known[:1] or advice))

    def equal(self, name: str, got: Any, expected: Any, *advice: str, mistakes: Sequence[tuple] = ()) -> None:
        """Not yet, unless two plain values (numbers, strings, lists, dicts) are equal.

        mistakes: pairs of what a known mistake gives and the sentence that explains it.
        """
        if same(plain(got), plain(expected)):
            return
        known = [sentence for wrong, sentence in mistakes if same(plain(got), plain(wrong))]
        self.fail(f"But {name} is {said(got)}, and should be {said(expected)}.", *(known[:1] or advice))

    def predicted(self, expected: Any, otherwise: str, mistakes: Sequence[tuple] = (), tolerance: float = 1e-3) -> None:
        """For "predict": compare the answer with what happens, without telling it.

        mistakes: pairs of a wrong guess and the sentence that explains it; else `otherwise` is said.
        """
        guess = plain(self.answer)
        self.doing = f"You answered {said(guess)}."
        if type_of_guess(guess) != type_of_guess(plain(expected)):
            self.fail(f"An answer here is written like this: {example(plain(expected))}")
        if same_guess(guess, plain(expected), tolerance):
            return
        known = [sentence for wrong, sentence in mistakes if same_guess(guess, plain(wrong), tolerance)]
        if shortened_to(guess, plain(expected), tolerance):
            known.append("If you rounded, give one decimal more, or a fraction such as 2 / 7.")
        self.fail(*(known[:1] or [otherwise]))

    def gradient_flows(self, *inputs: Tensor, names: Sequence[str], part: int = 0, tried: str, **named: Any) -> None:
        """Not yet, unless a finite gradient reaches every one of the inputs (float tensors, in order) from the
        result, or from that part of a returned tuple."""
        self.refuse_in_place()
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        self.begin(f"I called {self.name} on {tried} and asked for gradients.", "gradients")
        result = self.protected(self.answer, *(leaf.clone() for leaf in leaves), **copied(named))
        result = result[part] if isinstance(result, tuple | list) else result
        self.is_a("the result", result, Tensor, "a tensor")
        if not result.requires_grad:
            self.fail(
                "But the result is cut off from its inputs, and a model that learns needs the gradient.",
                "Is there a `.detach()`, `.data`, `.item()`, `.tolist()` or `torch.no_grad()` on the way, or a "
                "`from_pretrained`, which freezes?",
            )
        weights = torch.randn(result.shape, generator=self.generator).to(result.dtype)
        gradients = torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True)
        for name, gradient in zip(names, gradients, strict=True):
            if gradient is None or not bool((gradient != 0).any()):
                self.fail(f"But no gradient reaches {name}: is it detached, rounded or made anew on the way?")
            if not bool(gradient.isfinite().all()):
                self.fail(
                    f"But the gradient of {name} is nan or infinite, and one such step spoils every weight.",
                    "Is there a root or a logarithm of 0, a division by 0, or a torch.where over one? Backward goes "
                    "through both of its branches.",
                )


def plain(value: Any) -> Any:
    """Tensors and arrays as lists and numbers, tuples as lists, sizes as lists, so that equal things compare equal."""
    value = honest(value)
    if isinstance(value, Tensor) or type(value).__module__ == "numpy":
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def same(got: Any, expected: Any) -> bool:
    """Whether two plain values are equal. A class of the learner's own is not asked."""
    if type(got) is type(expected) and isinstance(got, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    if type(got) is type(expected) and isinstance(got, dict):
        return got.keys() == expected.keys() and all(same(got[key], expected[key]) for key in expected)
    return (type(got) is type(expected) or type(got).__module__ == "builtins") and bool(got == expected)
