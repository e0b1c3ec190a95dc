"""What the tokenizer hands to the model: rows of equal length, and for people the tokens that the numbers stand for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from bertedu.errors import UserError

TENSORS = ("input_ids", "token_type_ids", "attention_mask")
TRUNCATIONS = ("longest_first", "only_first", "only_second")
Offset = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Encoding(Mapping[str, Tensor]):
    """A batch of B texts (or pairs of texts) of T tokens, padded to the longest. `model(**encoding)` works.

    input_ids, token_type_ids (0 for the first text, 1 for the second) and attention_mask (1 for tokens,
    0 for padding) are torch.long [B, T]; as a mapping it holds these three. tokens and offsets have B lists of T
    entries: the token strings, and for each the (start, end) of its characters in the text that it came from,
    (0, 0) for special tokens and padding.
    """

    input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor
    tokens: list[list[str]]
    offsets: list[list[Offset]]

    def __iter__(self) -> Iterator[str]:
        return iter(TENSORS)

    def __len__(self) -> int:
        return len(TENSORS)

    def __getitem__(self, name: str) -> Tensor:
        if name not in TENSORS:
            raise KeyError(name)
        return getattr(self, name)


def without_space_before(offset: Offset, text: str) -> Offset:
    """The (start, end) of a token's characters in a text without the white space that belongs to some tokens."""
    start, end = offset
    return end - len(text[start:end].lstrip()), end


def check_text(text: Any) -> None:
    """Raise UserError for anything but a string."""
    if not isinstance(text, str):
        raise UserError(f"a text is a string, and this is {text!r} ({type(text).__name__}): give strings.")


def as_batch(text: Any, text_pair: Any) -> tuple[list[str], list[str | None]]:
    """Lists of first and of second texts (None where there is none), of equal length."""
    single = isinstance(text, str)
    if not single and not isinstance(text, Iterable):
        check_text(text)
    firsts = [text] if single else list(text)
    seconds: list[str | None]
    if text_pair is None:
        seconds = [None] * len(firsts)
    elif single == isinstance(text_pair, str):
        seconds = [text_pair] if single else list(text_pair)
    else:
        raise UserError("give one text with one second text, or a list of texts with a list of second texts.")
    if not firsts:
        raise UserError("there is no text to encode: the list is empty.")
    if len(firsts) != len(seconds):
        raise UserError(f"there are {len(firsts)} first texts and {len(seconds)} second texts: each needs its partner.")
    return firsts, seconds


def kept_lengths(first: int, second: int | None, room: int, truncation: str) -> tuple[int, int]:
    """How many tokens of the first and of the second text (None: there is none) stay when `room` tokens fit.

    "longest_first" shortens the longer text until both fit or are equally long, then both alike;
    "only_first" and "only_second" shorten that one text. Raises UserError where that text is too short.
    """
    excess = first + (second or 0) - room
    if excess <= 0:
        return first, second or 0
    if truncation == "longest_first":
        if second is None:
            return room, 0
        shorter = min(first, second, room // 2)
        longer = room - shorter
        return (shorter, longer) if first <= second else (longer, shorter)
    length = first if truncation == "only_first" else second
    if length is None:
        raise UserError(
            'truncation is "only_second", but there is no second text: use "longest_first" or "only_first".'
        )
    if length <= excess:
        raise UserError(
            f'truncation is "{truncation}", but the pair is {excess} tokens too long and that text has only {length}: '
            'raise max_length or use "longest_first".'
        )
    return (first - excess, second or 0) if truncation == "only_first" else (first, length - excess)
