"""Plain-text files as documents: three ways of writing, books, and files that cannot be used."""

import gzip
import warnings
from pathlib import Path

import pytest

from bertedu.corpora.readers import files_corpus, read_documents, text_documents
from bertedu.corpora.task_data import read_labelled, read_tagged
from bertedu.errors import UserError

WRAPPED = """The first sentence is wrapped
by hand. The second follows
it at once.

The third opens another
paragraph, and so on.
"""


def sentences(text: str) -> list[list[str]]:
    return [list(document.sentences) for document in text_documents(text, "file.txt")]


def test_a_hard_wrapped_line_is_no_sentence():
    assert sentences(WRAPPED) == [
        [
            "The first sentence is wrapped by hand.",
            "The second follows it at once.",
            "The third opens another paragraph, and so on.",
        ]
    ]


def test_windows_line_ends_change_no_sentence():
    assert sentences(WRAPPED.replace("\n", "\r\n")) == sentences(WRAPPED)


def test_a_sentence_in_berts_own_format_is_taken_as_it_is():
    text = "Mr. Smith No. 4 came.\nHe saw W. H. O. was here.\n\nAnother document.\nIts end.\n\nA third.\n"
    assert sentences(text) == [
        ["Mr. Smith No. 4 came.", "He saw W. H. O. was here."],
        ["Another document.", "Its end."],
        ["A third."],
    ]


def test_a_paragraph_on_one_line_is_split_into_sentences():
    text = "It begins here. It goes on.\nIt begins again. It goes on again. It ends.\n\nA new one. Its end.\n"
    assert sentences(text) == [
        [
            "It begins here.",
            "It goes on.",
            "It begins again.",
            "It goes on again.",
            "It ends.",
            "A new one.",
            "Its end.",
        ]
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "CHAPTER II.",
        "Chapter 12",
        "CHAPTER I--ANCIENT ENGLAND AND THE ROMANS.",
        "2.  The Council",
        "IV.",
        "= Title =",
        "The Storm",
    ],
)
def test_a_document_ends_with_its_chapter(heading: str):
    assert sentences(f"It is late. They all go home.\n\n{heading}\n\nIt is early. They all get up.\n") == [
        ["It is late.", "They all go home."],
        ["It is early.", "They all get up."],
    ]


def test_a_table_of_contents_or_a_signature_becomes_no_sentence():
    text = "CONTENTS\n\n  The Storm     1\n  The Calm      7\n\nL. Frank Baum\n\nIt is late. They all go home.\n"
    assert sentences(text) == [["It is late.", "They all go home."]]


def test_a_short_answer_in_a_dialogue_ends_no_document():
    assert sentences("“Who is it?” he asked.\n\n“I,” she said.\n\n“Enter!”\n\nShe came in.\n") == [
        ["“Who is it?” he asked.", "“I,” she said.", "“Enter!”", "She came in."]
    ]


def test_marks_of_italics_and_illustrations_leave_the_text():
    text = "He _may_ see it, but _“You do!”_ she\nsaid of snake_case_names.\n\n[Illustration: A cat.\n\nOn a mat]\n\n"
    assert sentences(text + "It is _all\nthere_ is.\n") == [
        ["He may see it, but “You do!” she said of snake_case_names.", "It is all there is."]
    ]


def test_marks_of_italics_around_nothing_leave_nothing():
    nothing = f"_{' ' * 70}_"
    assert sentences(f"{nothing}\n") == []
    assert sentences(f"{nothing}\n\nIt sat on\nthe mat. It slept\nand woke up.\n") == [
        ["It sat on the mat.", "It slept and woke up."]
    ]
    assert sentences(f"It sat.\nIt slept.\nIt woke.\n{nothing}\n") == [["It sat.", "It slept.", "It woke."]]


def test_the_marks_of_wikitext_become_no_words():
    text = " = Ships = \n The well @-@ armed <unk> had 1 @,@ 500 men . It sank in 1 @.@ 5 hours . \n"
    (document,) = text_documents(text, "a.txt")
    assert document.sentences == ("The well-armed [UNK] had 1,500 men .", "It sank in 1.5 hours .")


def test_a_whole_book_is_cut_into_documents():
    book = "\n\n".join(f"Sentence number {n} is here.\nIts companion of {n} is\nthere." for n in range(300))
    documents = sentences(book)
    assert 20 <= len(documents) <= 30
    assert all(18 <= len(document) <= 30 and len(document) % 2 == 0 for document in documents)
    assert [line for document in documents for line in document] == [
        line for n in range(300) for line in (f"Sentence number {n} is here.", f"Its companion of {n} is there.")
    ]


def test_one_endless_paragraph_is_kept():
    assert len(sentences(" ".join(f"Sentence number {n} is here." for n in range(100)))) == 1


def test_a_folder_and_a_compressed_file_are_read_in_order(tmp_path):
    (tmp_path / "b.txt").write_text(WRAPPED, encoding="utf-8")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("\ufeffÀ propos. It is so.".encode()))
    (tmp_path / "c.md").write_text("Not a text. Not read.", encoding="utf-8")
    from_folder = read_documents(tmp_path)
    assert [document.source for document in from_folder] == ["a.txt.gz", "b.txt"]
    assert from_folder[0].sentences == ("À propos.", "It is so.")
    assert read_documents([tmp_path / "b.txt", tmp_path / "a.txt.gz"]) == from_folder[::-1]


def gzipped(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def test_a_file_that_cannot_be_read_is_refused_in_words(tmp_path):
    def message(*paths: Path) -> str:
        with pytest.raises(UserError) as caught:
            read_documents(paths)
        assert "\n" not in str(caught.value) and str(paths[-1]) in str(caught.value)
        return str(caught.value)

    latin = "One line.\ncaf\u00e9.\n".encode("latin1")
    (tmp_path / "latin.txt").write_bytes(latin)
    assert "line 2" in message(tmp_path / "latin.txt")
    assert "line 2" in message(gzipped(tmp_path / "latin.txt.gz", latin))
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"Some text. " * 99)[:-9])
    (tmp_path / "not.txt.gz").write_bytes(b"plain")
    assert "whole gzip file" in message(tmp_path / "cut.txt.gz")
    assert "whole gzip file" in message(tmp_path / "not.txt.gz")
    assert "check the name" in message(tmp_path / "missing.txt")
    assert "check the name" in message(tmp_path / "missing.txt.gz")
    (tmp_path / "folder").mkdir()
    assert "without .txt" in message(tmp_path / "folder")
    (tmp_path / "empty.txt").write_text("\n\nTITLE\n", encoding="utf-8")
    assert "holds no sentence" in message(tmp_path / "empty.txt")


def test_a_tiny_corpus_keeps_something_to_train_on(tmp_path):
    for n in range(40):  # whichever side the hash would choose
        (tmp_path / "a.txt").write_text(f"Number {n} is here. It ends.", encoding="utf-8")
        corpus = files_corpus(tmp_path / "a.txt")
        assert len(corpus.train) == 1 and not corpus.validation
        assert any("validation set is empty" in note for note in corpus.notes)


def test_real_books_are_read_whole(datasets_folder):
    books = datasets_folder / "public_domain_books"
    names = ("00055_the_wonderful_wizard_of_oz", "01342_pride_and_prejudice", "00236_the_jungle_book")
    corpus = files_corpus([books / f"{name}.txt.gz" for name in names])
    assert corpus.name == "3 files" and len(corpus.train) > 400
    lines = list(corpus.train_sentences())
    assert "Mr. Bennet replied that he had not." in lines
    assert "“You want to tell me, and I have no objection to hearing it.”" in lines
    assert not any("[Illustration" in line or line.startswith("Chapter ") for line in lines)
    lengths = [len(document.sentences) for document in corpus.train]
    assert 15 < sum(lengths) / len(lengths) < 30 and max(lengths) < 80
    assert 12 < sum(len(line.split()) for line in lines) / len(lines) < 25


def test_control_characters_leave_a_text_as_they_leave_berts_tokenizer(tmp_path):
    lines = ["The cat sat on the mat.", "It was tired.", "It slept."]
    for name, text in (("clean.txt", lines), ("dirty.txt", [f"\0{line[:5]}\x1b\x07{line[5:]}\x7f" for line in lines])):
        (tmp_path / name).write_text("\n".join(text * 3))
    clean, dirty = ([one.sentences for one in read_documents(tmp_path / name)] for name in ("clean.txt", "dirty.txt"))
    assert clean == dirty


def test_utf_16_without_a_mark_is_told_and_not_read_as_letters(tmp_path):
    (tmp_path / "wide.txt").write_bytes("The cat sat on the mat. It was tired.\n".encode("utf-16-le") * 20)
    with pytest.raises(UserError, match=r"wide\.txt has a NUL in every few characters, as UTF-16 has"):
        read_documents(tmp_path / "wide.txt")


ONE_SENTENCE_A_LINE = {
    "Hindi": "यह एक घर है।", "Chinese": "我喜欢北京。", "Thai": "นี่คือบ้านของเรา", "English without stops": "we went home",
    "Amharic": "ይህ ቤት ነው።", "Urdu": "یہ گھر ہے۔",
}  # fmt: skip


@pytest.mark.parametrize("language", ONE_SENTENCE_A_LINE)
def test_one_sentence_a_line_is_read_in_every_language(language):
    line = ONE_SENTENCE_A_LINE[language]
    found = text_documents("\n\n".join("\n".join([line] * 8) for _ in range(120)), "a.txt")
    assert [document.sentences for document in found] == [(line,) * 8] * 120


def test_chinese_that_is_wrapped_by_hand_gets_no_spaces():
    paragraph = "我们在北京的大学里学习自然\n语言处理。今天的天气很好我们\n去公园。明天见。"
    (document,) = text_documents(f"{paragraph}\n\n{paragraph}", "a.txt")
    assert document.sentences[:2] == ("我们在北京的大学里学习自然语言处理。", "今天的天气很好我们去公园。")


def test_a_line_of_zero_width_spaces_ends_a_paragraph():
    for unseen in ("\u200b", "\ufeff \u00ad", "\u00a0", ""):
        assert sentences(f"The cat sat\n{unseen}\nIt was tired. It slept.\n") == sentences(
            "The cat sat\n\nIt was tired. It slept.\n"
        )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"text": "The cat sat. It slept."}', "holds JSON lines"),
        ("<p>The cat sat. It slept.</p>", "holds lines with tags"),
    ],
)
def test_lines_of_another_format_are_no_text(line, says, tmp_path):
    (tmp_path / "a.txt").write_text(f"{line}\n\n" * 10)
    with pytest.raises(UserError, match=rf"a.txt {says}.*: save the text in it alone"):
        read_documents(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text(f"The cat sat. It slept.\n\n{line}\n\n" * 10)  # a text that shows such lines
    assert read_documents(tmp_path / "a.txt")


@pytest.mark.parametrize("read_as", ["latin1", "cp1252"])
def test_text_that_was_read_in_a_wrong_encoding_is_pointed_out(read_as, tmp_path):
    right = "Il \u00e9tait l\u00e0. Elle dit \u2014 \u00ab oui \u00bb.\n" * 3
    (tmp_path / "a.txt").write_text("Hier.\n" + right.encode().decode(read_as, "replace"), encoding="utf-8")
    with pytest.warns(
        UserWarning, match=r"a.txt, line 2: '\u00c3\u00a9' looks like UTF-8 that was read as Windows-1252"
    ):
        read_documents(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text(
        f"\u00c2ge, S\u00c3O PAULO, \u00e2ge \u20ac 3, \u00c2 \u00bb. {right}", encoding="utf-8"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_documents(tmp_path / "a.txt")


def test_a_name_that_is_too_long_for_a_file_is_refused_in_words():
    for read in (read_documents, read_labelled, read_tagged):
        with pytest.raises(UserError, match=r"cannot be read \(File name too long\)"):
            read("x" * 5000 + ".csv")
