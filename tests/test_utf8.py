"""Files in other encodings: told by name, with the line and what to do, wherever a file is read."""

import pytest

from bertedu.corpora.readers.opening import read_plain_text
from bertedu.errors import UserError
from bertedu.files import read_text
from bertedu.utf8 import decode, without_unseen

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


def test_windows_1252_is_not_taken_for_latin1():
    with pytest.raises(UserError, match=r"as Windows-1252 the line is 'it’s'\).*iconv -f cp1252"):
        decode("one\nit’s\n".encode("cp1252"), "a.csv")


@pytest.mark.parametrize(
    ("begins", "says"),
    [
        (b"\x1f\x8b\x08", "compressed with gzip: give its name the ending .gz"),
        (b"PK\x03\x04\x14", "a zip archive, perhaps a spreadsheet: unpack it, or save the sheet as CSV"),
        (b"PAR1", "a Parquet file: save it as"),
        (b"%PDF-1.7", "a PDF: save its text"),
        (b"\x89HDF\r\n", "an HDF5 file"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n",
            "a pointer of Git LFS: fetch the file",
        ),
    ],
)
def test_a_file_that_is_no_text_is_called_what_it_is(begins, says):
    with pytest.raises(UserError, match=f"a.csv is {says}"):
        decode(begins + b"\0\xff" * (b"git" not in begins), "a.csv")


def test_byte_order_marks_of_files_that_were_put_together_are_removed():
    assert decode("\ufeff\ufefftext,label\n".encode(), "a.csv") == "text,label\n"


@pytest.mark.parametrize("unseen", [" ", "\u200b", "\ufeff", "\u00ad", "\0", "\u200f \u2060"])
def test_what_nobody_sees_at_the_ends_is_taken_off_and_nothing_inside(unseen):
    assert without_unseen(f"{unseen}می\u200cشود{unseen}") == "می\u200cشود"
    assert without_unseen(unseen * 3) == ""
