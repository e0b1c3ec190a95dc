"""Sentences in CoNLL columns: comments, marks and blanks that are no words, and tags of each scheme."""

import json
import random

import pytest

from bertedu.corpora.readers import read_conll
from bertedu.corpora.readers.labelled import TaggedWords
from bertedu.corpora.task_data import read_tagged
from bertedu.errors import UserError
from bertedu.registry import TASKS


def test_the_column_of_tags_asked_for_is_read(tmp_path):
    conll = "-DOCSTART- -X- O O\n\nCats NNS B-NP O\nsing VBP B-VP O\n"
    (tmp_path / "a.conll").write_text(conll, encoding="utf-8")
    assert read_conll(tmp_path / "a.conll") == [TaggedWords(("Cats", "sing"), ("O", "O"))]
    assert read_conll(tmp_path / "a.conll", scheme=None, tag_column=1)[0].tags == ("NNS", "VBP")
    with pytest.raises(UserError, match="no column 4 among 4"):
        read_conll(tmp_path / "a.conll", tag_column=4)
    with pytest.raises(UserError, match="'IOB' is none"):
        read_conll(tmp_path / "a.conll", scheme="IOB", tag_column=2)


def test_conll_2003_as_first_given_out_is_read(tmp_path):
    """IOB1 begins an entity with I-, and with B- where it stands directly behind another of its type."""
    iob1 = "-DOCSTART- O\n\nAnn I-person\nLee I-person\nmet O\nBo I-person\nCy B-person\nBern I-place\n\nOslo I-place\n"
    (tmp_path / "a.conll").write_text(iob1, encoding="utf-8")
    first, second = read_conll(tmp_path / "a.conll")
    assert first.tags == ("B-person", "I-person", "O", "B-person", "B-person", "B-place")
    assert second.tags == ("B-place",)
    (tmp_path / "a.conll").write_text(iob1 + "\nRome B-place\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 3: the tag 'I-person' goes on with nothing"):
        read_conll(tmp_path / "a.conll")  # a B- behind nothing: the file is in BIO, and line 3 a mistake


def test_a_tag_of_bioes_is_read_and_a_closed_list_kept(tmp_path):
    (tmp_path / "a.conll").write_text("New\tB-place\nYork\tE-place\nsings\tO\nOslo\tS-place\n", encoding="utf-8")
    assert read_tagged(tmp_path / "a.conll", scheme="BIOES")[0].tags[1] == "E-place"
    with pytest.raises(UserError, match="line 4: the tag 'S-place' is none of the 3 tags"):
        read_tagged(tmp_path / "a.conll", scheme="BIOES", labels=["O", "B-place", "E-place"])


def sentences(path, content: str, **options) -> list[tuple[str, ...]]:
    """The words of each sentence with their tags (word/tag)."""
    path.write_text(content, encoding="utf-8")
    read = read_conll(path, **options)
    return [tuple(f"{word}/{tag}" for word, tag in zip(one.words, one.tags, strict=True)) for one in read]


@pytest.mark.parametrize(
    "comment", ["# id 1 domain=en", "# id 4cfb-08\tdomain=en", "# a comment of six words\n# another one"]
)
@pytest.mark.parametrize("row", ["{} _ _ {}", "{}\t_\t_\t{}", "{} {}", "{}\t{}"])
def test_a_comment_is_no_word(tmp_path, comment, row):
    block = "\n".join([comment, row.format("Anna", "B-person"), row.format("sings", "O")]) + "\n\n"
    read = sentences(tmp_path / "a.conll", f"\n{comment}\n\n" + block * 2)
    assert read == [("Anna/B-person", "sings/O")] * 2


@pytest.mark.parametrize("between", [" ", "\t"])
def test_a_hashtag_is_no_comment(tmp_path, between):
    lines = ["#tag O", "# O", "yes O", "", "# O", "#one B-x", "# I-x", "", "# O"]
    read = sentences(tmp_path / "a.conll", "\n".join(line.replace(" ", between) for line in lines))
    assert read == [("#tag/O", "#/O", "yes/O"), ("#/O", "#one/B-x", "#/I-x"), ("#/O",)]


def test_a_comment_inside_a_sentence_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"line 2: 1 column .'# so it goes on'. where there should be 2"):
        sentences(tmp_path / "a.conll", "Anna\tO\n# so it goes on\nsings\tO\n")


def test_a_word_with_a_blank_in_it_is_no_comment(tmp_path):
    assert sentences(tmp_path / "a.conll", "Anna\tO\n\n# 1\tB-x\n") == [("Anna/O",), ("# 1/B-x",)]


@pytest.mark.parametrize("between", [" ", "\t"])
@pytest.mark.parametrize("blanks", [" ", "\t", "  \t"])
def test_a_blank_at_the_end_of_a_line_makes_no_tag(tmp_path, between, blanks):
    read = sentences(tmp_path / "a.conll", f"Anna{between}B-x{blanks}\nsings{between}O\nloud{between}O{blanks}\n")
    assert read == [("Anna/B-x", "sings/O", "loud/O")]
    with pytest.raises(UserError, match=r"line 2: 1 column .* where there should be 2"):
        sentences(tmp_path / "a.conll", f"Anna{between}B-x\nsings{blanks}\n")


@pytest.mark.parametrize("mark", ["-DOCSTART-", "-DOCSTART- -X- O O", "-DOCSTART-\tO"])
def test_the_start_of_a_document_without_tags_is_passed_over(tmp_path, mark):
    for content in (f"{mark}\n\nAnna\tO\n\n{mark}\n\nBo\tO\n", f"{mark}\nAnna\tO\n\n{mark}\nBo\tO\n"):
        assert sentences(tmp_path / "a.conll", content) == [("Anna/O",), ("Bo/O",)]


@pytest.mark.parametrize(
    ("tags", "line", "tag", "remedy"),
    [
        ("B-x O", 1, "B-x", "'S-x' for one word"),
        ("O B-x", 2, "B-x", "'S-x' for one word"),
        ("B-x I-x", 2, "I-x", "write 'E-x'"),
        ("B-x I-x O", 2, "I-x", "write 'E-x'"),
        ("B-x B-x E-x", 1, "B-x", "'S-x' for one word"),
        ("B-x S-x", 1, "B-x", "'S-x' for one word"),
    ],
)
def test_an_open_entity_of_bioes_is_refused(tmp_path, tags, line, tag, remedy):
    content = "".join(f"word\t{tag}\n" for tag in tags.split())
    with pytest.raises(UserError, match=f"line {line}: the tag '{tag}' .*{remedy}"):
        sentences(tmp_path / "a.conll", content, scheme="BIOES")
    if "S-x" not in tags and "E-x" not in tags:
        assert sentences(tmp_path / "a.conll", content)  # in BIO an entity ends where another tag stands


def test_a_whole_entity_of_bioes_is_read(tmp_path):
    tags = ("B-x", "E-x", "S-x", "B-x", "I-x", "I-x", "E-x", "B-y", "E-y", "O")
    content = "".join(f"word\t{tag}\n" for tag in tags)
    read = sentences(tmp_path / "a.conll", content, scheme="BIOES")
    assert read == [tuple(f"word/{tag}" for tag in tags)]


@pytest.mark.parametrize("name", ["a.conllu", "A.CoNLLU"])
@pytest.mark.parametrize("task", ["entities", "tagging"])
def test_parts_of_speech_are_not_learned_as_entities(tmp_path, name, task):
    """No tag of CoNLL-U begins with B-, so that F1 would stay 0 without a word of why."""
    lines = ("1\tDogs\tdog\tNOUN" + "\t_" * 6 + "\n", "2\tbark\tbark\tVERB" + "\t_" * 6 + "\n")
    path = tmp_path / name
    path.write_text("".join(lines), encoding="utf-8")
    expected = [TaggedWords(("Dogs", "bark"), ("NOUN", "VERB"))]
    if task == "tagging":
        assert TASKS[task].read_rows(str(path)) == read_tagged(path) == read_tagged(path, scheme=None) == expected
        return
    with pytest.raises(UserError, match=rf"{name} is CoNLL-U, .* no tags of the scheme BIO: choose the task tagging"):
        TASKS[task].read_rows(str(path))
    with pytest.raises(UserError, match="no tags of the scheme BIOES"):
        read_tagged(path, scheme="BIOES")


# The first column of a file is not always the word --------------------------------------------------------------------

WORDS_OF_TWO = [("Anna", "Berg", "sings"), ("She", "left", "Bonn")]
TAGS_OF_TWO = [("B-PER", "I-PER", "O"), ("O", "O", "B-LOC")]


def layout(line, apart="\t") -> str:
    """The two sentences as a file; line makes the columns of a word from sentence, place, word and tag."""
    pairs = [list(zip(*both, strict=True)) for both in zip(WORDS_OF_TWO, TAGS_OF_TWO, strict=True)]
    return "\n".join(
        "".join(apart.join(map(str, line(s, i, word, tag))) + "\n" for i, (word, tag) in enumerate(pair))
        for s, pair in enumerate(pairs)
    )


RIGHT_LAYOUTS = {
    "word tag": lambda s, i, word, tag: (word, tag),
    "from 1": lambda s, i, word, tag: (i + 1, word, tag),
    "from 0": lambda s, i, word, tag: (i, word, tag),
    "on and on": lambda s, i, word, tag: (3 * s + i + 1, word, tag),
    "with parts of speech": lambda s, i, word, tag: (i + 1, word, "X", tag),
    "four columns of CoNLL-2003": lambda s, i, word, tag: (word, "NNP", "I-NP", tag),
    "MultiCoNER": lambda s, i, word, tag: (word, "_", "_", tag),
}
REFUSED_LAYOUTS = {
    "only numbers and words": (lambda s, i, word, tag: (i + 1, word), "write the word and its tag after the number"),
    "sentence number": (lambda s, i, word, tag: (s + 1, word, tag), "for a whole sentence"),
    "CoNLL-2012": (lambda s, i, word, tag: ("bc/cnn/00", 0, i, word, tag), "for a whole sentence"),
    "CoNLL-U": (lambda s, i, word, tag: (i + 1, word, *"______", tag, "_"), "ten columns of CoNLL-U"),
    "GermEval 2014": (lambda s, i, word, tag: (i + 1, word, tag, "O"), "two columns of tags"),
    "tag first": (lambda s, i, word, tag: (tag, word), "stands before the word"),
    "no tags": (lambda s, i, word, tag: (word, "X", "_"), "is '_' for every word"),
}


@pytest.mark.parametrize("apart", ["\t", " "])
@pytest.mark.parametrize("name", RIGHT_LAYOUTS)
def test_the_words_are_words_whatever_counts_before_them(tmp_path, name, apart):
    (tmp_path / "a.conll").write_text(layout(RIGHT_LAYOUTS[name], apart), encoding="utf-8")
    found = read_conll(tmp_path / "a.conll")
    assert [one.words for one in found] == WORDS_OF_TWO and [one.tags for one in found] == TAGS_OF_TWO


@pytest.mark.parametrize("name", REFUSED_LAYOUTS)
def test_a_first_column_without_words_is_refused(tmp_path, name):
    line, said = REFUSED_LAYOUTS[name]
    (tmp_path / "a.conll").write_text(layout(line), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_conll(tmp_path / "a.conll", scheme=None)


def test_a_tag_column_is_counted_in_the_whole_line(tmp_path):
    (tmp_path / "a.conll").write_text(layout(lambda s, i, w, t: (i + 1, w, t, "X")), encoding="utf-8")
    assert [one.tags for one in read_conll(tmp_path / "a.conll", tag_column=2)] == TAGS_OF_TWO


def test_a_sentence_that_counts_among_others_is_made_of_words(tmp_path):
    (tmp_path / "a.conll").write_text("1\tO\n2\tO\n3\tO\n\nGo\tO\nnow\tO\n", encoding="utf-8")
    assert [one.words for one in read_conll(tmp_path / "a.conll")] == [("1", "2", "3"), ("Go", "now")]


def test_numbered_parts_of_a_word_are_passed_over(tmp_path):
    (tmp_path / "a.conll").write_text("1-2\tim\tO\n1\tin\tO\n2\tdem\tO\n3\tHaus\tB-LOC\n", encoding="utf-8")
    assert read_conll(tmp_path / "a.conll")[0].words == ("in", "dem", "Haus")


# Other schemes than BIO -----------------------------------------------------------------------------------------------

LETTERS = {"BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}  # begins, goes on, ends, alone


def tags_in(scheme: str, bio: tuple[str, ...]) -> list[str]:
    """Tags of BIO as another scheme writes them."""
    begins, goes_on, ends, alone = LETTERS[scheme]
    found = []
    for tag, after in zip(bio, [*bio[1:], "O"], strict=True):
        last = after != f"I-{tag[2:]}"
        letter = {"B": alone if last else begins, "I": ends if last else goes_on, "O": "O"}[tag[0]]
        found.append(letter + tag[1:])
    return found


@pytest.mark.parametrize("scheme", LETTERS)
@pytest.mark.parametrize("form", ["conll", "jsonl", "json"])
def test_every_scheme_of_entities_is_read_as_bio(scheme, form, tmp_path):
    rng = random.Random(0)
    bio = []
    for _ in range(50):
        tags: list[str] = []
        for _ in range(rng.randint(1, 9)):
            new = [f"B-{kind}" for kind in ("x", "y")]
            tags.append(rng.choice(["O", *new, *([f"I-{tags[-1][2:]}"] * 2 if tags and tags[-1] != "O" else [])]))
        bio.append(tuple(tags))
    bio.append(("B-x", "I-x", "I-x", "O", "B-y"))  # with each letter
    rows = [{"words": ["w"] * len(tags), "tags": tags_in(scheme, tags)} for tags in bio]
    path = tmp_path / f"a.{form}"
    if form == "conll":
        path.write_text("\n".join("".join(f"w\t{tag}\n" for tag in row["tags"]) for row in rows))
    else:
        path.write_text(json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows)))
    assert [row.tags for row in read_tagged(path)] == bio
    known = {tag for tags in bio for tag in tags}
    assert [row.tags for row in read_tagged(path, labels=known)] == bio
    with pytest.raises(UserError, match=r"'[BI]-y' is none of"):
        read_tagged(path, labels=[tag for tag in known if not tag.endswith("y")])


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        ("B-x L-x L-x", "line 3: the tag 'L-x' goes on with nothing"),
        ("B-x O U-x", "line 1: the tag 'B-x' leaves its entity open .* 'U-x' for one word alone, or end it with 'L-x'"),
        ("B-x M-x O S-x", "line 2: the tag 'M-x' leaves its entity open .* write 'E-x'"),
        ("B-x M-x L-x", "'M-x' is not of the scheme BIO"),
    ],
)
def test_a_tag_that_breaks_the_scheme_of_its_file_is_named_as_it_stands_there(tags, says, tmp_path):
    (tmp_path / "a.conll").write_text("".join(f"w\t{tag}\n" for tag in tags.split()))
    with pytest.raises(UserError, match=says):
        read_tagged(tmp_path / "a.conll")


@pytest.mark.parametrize("header", ["word\ttag", "Token\tPOS\tNER_Tag", "words labels"])
@pytest.mark.parametrize("scheme", ["BIO", None])
def test_a_line_that_names_the_columns_is_no_word(header, scheme, tmp_path):
    apart = "\t" if "\t" in header else " "
    middle = ["X"] * (len(header.split()) - 2)
    lines = [header, *(apart.join([word, *middle, tag]) for word, tag in (("Ann", "B-x"), ("sings", "O")))]
    (tmp_path / "a.tsv").write_text("\n".join(lines) + "\n")
    assert read_conll(tmp_path / "a.tsv", scheme) == [TaggedWords(("Ann", "sings"), ("B-x", "O"))]


@pytest.mark.parametrize("content", ["Ann,B-x\nsings,O\n", "word,tag\nAnn,B-x\n"])
def test_words_and_tags_with_commas_between_are_refused_with_what_to_write(content, tmp_path):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(UserError, match=r"a.csv, line 1: .* has commas between columns: write a word, a TAB"):
        read_tagged(tmp_path / "a.csv")


def test_what_nobody_sees_at_the_end_of_a_tag_makes_no_tag_of_its_own(tmp_path):
    (tmp_path / "a.conll").write_text("Ann\tB-x\u200b\nBo\tB-x\nand\tO\ufeff\n", encoding="utf-8")
    assert read_conll(tmp_path / "a.conll")[0].tags == ("B-x", "B-x", "O")


@pytest.mark.parametrize("first", ["{n}.", "0{n}", "{n})", "1:{n}", "2-{n}", "s1.{n}", "{n}:"])
def test_a_column_that_counts_the_words_in_another_way_is_refused(first, tmp_path):
    words = ["Ann", "met", "Bo", "in", "Oslo"]
    lines = [f"{first.format(n=number)}\t{word}\tO" for number, word in enumerate(words, start=1)]
    (tmp_path / "a.tsv").write_text("\n".join([*lines, "", *lines[:3]]))
    with pytest.raises(UserError, match=r"a.tsv, line 1: the first column is '.*1.*', which counts the words"):
        read_conll(tmp_path / "a.tsv")
    (tmp_path / "a.tsv").write_text("\n".join(f"{first.format(n=n)} NUM" for n in (3, 1, 2)))  # numbers that are words
    assert len(read_conll(tmp_path / "a.tsv", scheme=None)[0].words) == 3


def test_two_columns_of_tags_for_the_same_types_are_not_guessed_between(tmp_path):
    """As conlleval writes them, the right tags and then the model's; or outer and inner ones."""
    (tmp_path / "a.conll").write_text("Ann B-x O\nmet O O\nBo O B-x\n")
    with pytest.raises(UserError, match=r"a.conll, line 1: two columns have tags of the type 'x'"):
        read_conll(tmp_path / "a.conll")
    assert read_conll(tmp_path / "a.conll", tag_column=1)[0].tags == ("B-x", "O", "O")
    (tmp_path / "a.conll").write_text("Ann U-x _ B-x\nmet O _ O\nBo O _ U-x\n")
    with pytest.raises(UserError, match="two columns have tags of the type 'x'"):
        read_conll(tmp_path / "a.conll")
    (tmp_path / "a.conll").write_text("Ann B-NP B-x\nmet B-VP O\nBo B-NP B-x\n")  # phrases, and entities
    assert read_conll(tmp_path / "a.conll")[0].tags == ("B-x", "O", "B-x")


def test_a_last_column_without_tags_is_refused_in_the_shortest_file(tmp_path):
    (tmp_path / "a.txt").write_text("1\tAnn\tNOUN\t_\n2\tmet\tVERB\t_\n")
    with pytest.raises(UserError, match=r"a.txt, line 1: the last column is '_' for every word: write the tags there"):
        read_conll(tmp_path / "a.txt", scheme=None)


@pytest.mark.parametrize("pair", [("B-x", "B-X"), ("B-x", "B-\u200bx"), ("B-x y", "B-x\u00a0y")])
def test_tags_that_look_alike_are_pointed_out(pair, tmp_path):
    (tmp_path / "a.conll").write_text("".join(f"w\t{tag}\n" for tag in ("O", *pair)), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"a.conll, line 3: the tags .* look alike and are learned as two"):
        assert set(read_conll(tmp_path / "a.conll")[0].tags) == {"O", *pair}


@pytest.mark.parametrize("scheme", ["BIO", None])
@pytest.mark.parametrize("ignored", [-100, "-100"])
def test_what_a_loss_passes_over_is_no_tag(ignored, scheme, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"words": ["a", "b"], "tags": ["O", ignored]}))
    with pytest.raises(UserError, match=r"a.jsonl, line 1: the tag is -100, which marks what is not to be learned"):
        read_tagged(tmp_path / "a.jsonl", scheme=scheme)
