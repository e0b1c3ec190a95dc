"""Files in other encodings: told by name, with the line and what to do, wherever a file is read."""

import pytest

from bertedu.corpora.readers.opening import read_plain_text
from bertedu.errors import UserError
from bertedu.files import read_text
from bertedu.utf8 import decode

READERS = [read_text, read_plain_text]


@pytest.mark.parametrize("read", READERS)
def test_latin1_is_recognised_and_refused(tmp_path, read):
    path = tmp_path / "book.txt"
    path.write_bytes("one\ntwo\ncaf\xe9\n".encode("latin1"))
    with pytest.raises(UserError, match=r"book\.txt, line 3: byte 0xe9 is not UTF-8 \(as Latin-1 the line is 'café'\)"):
        read(path)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
@pytest.mark.parametrize("order", ["LE", "BE"])
def test_utf_16_and_utf_32_get_their_own_advice(tmp_path, read, encoding, order):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\ufeff[PAD]\n".encode(f"{encoding}-{order}"))
    with pytest.raises(UserError, match=rf"vocab\.txt is {encoding}: .*iconv -f {encoding.lower()} -t utf-8"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_a_byte_order_mark_becomes_no_token(tmp_path, read):
    (tmp_path / "book.txt").write_bytes(b"\xef\xbb\xbfOnce")
    assert read(tmp_path / "book.txt") == "Once"


def test_a_file_of_two_encodings_is_not_converted_as_a_whole():
    with pytest.raises(UserError, match=r"line 2: .* and line 1 is, so that two encodings are mixed"):
        decode("thé\n".encode() + "café\n".encode("latin1"), "a.csv")
