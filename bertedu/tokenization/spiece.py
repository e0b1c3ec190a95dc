"""SentencePiece's own file (spiece.model, spm.model): a protobuf, of which only the few fields that matter are read.

A protobuf is a row of fields. Each begins with a number, whose last three bits say how the value is stored (0: a number
of 7 bits a byte, 1: 8 bytes, 2: a length and so many bytes, 5: 4 bytes) and whose other bits say which field it is.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bertedu.errors import UserError
from bertedu.files import read_bytes
from bertedu.tokenization.unigram import Piece

PIECES, TRAINER, NORMALIZER = 1, 2, 3  # fields of the file
TEXT, SCORE, KIND = 1, 2, 3  # fields of a piece
MODEL_TYPE, CHARSMAP = 3, 2  # fields of the trainer's and of the normalizer's settings
UNIGRAM, NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 1, 1, 2, 3, 4, 5


def read_spiece(path: Path) -> tuple[list[Piece], list[str], bytes]:
    """The pieces with their scores, those that control or users' settings made, and the table of characters."""
    pieces, special, charsmap = [], [], b""
    try:
        for field, value in fields(read_bytes(path)):
            if field == PIECES:
                piece = dict(fields(value))
                pieces.append((piece[TEXT].decode(), struct.unpack("<f", piece.get(SCORE, b"\0\0\0\0"))[0]))
                kind = piece.get(KIND, NORMAL)
                if kind in (CONTROL, USER_DEFINED):
                    special.append(pieces[-1][0])
                elif kind not in (NORMAL, UNKNOWN):
                    raise UserError(f"{path}: the piece {pieces[-1][0]!r} is a byte or unused, which is not read here.")
            elif field == TRAINER and dict(fields(value)).get(MODEL_TYPE, UNIGRAM) != UNIGRAM:
                raise UserError(f"{path}: the model is not Unigram: choose the files of another checkpoint.")
            elif field == NORMALIZER:
                charsmap = dict(fields(value)).get(CHARSMAP, b"")
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: not a SentencePiece model, or damaged: fetch it again.") from error
    return pieces, special, charsmap


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: which one, and its value, a number or bytes."""
    position = 0
    while position < len(data):
        key, position = number(data, position)
        if key & 7 == 0:
            value, position = number(data, position)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(key & 7)
        if length is None:
            length, position = number(data, position)
        if key & 7 not in (1, 2, 5) or position + length > len(data):
            raise IndexError("no protobuf")
        yield key >> 3, data[position : position + length]
        position += length


def number(data: bytes, position: int) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position
