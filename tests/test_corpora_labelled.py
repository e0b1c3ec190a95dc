"""Labelled data from files: real sets whole, values that come back as they were written, and every form of file."""

import csv
import gzip
import json
import warnings
from collections import Counter

import pytest

from bertedu.corpora.readers.labelled import Answer, LabelledText, Question, Summary, TaggedWords
from bertedu.corpora.task_data import read_choices, read_labelled, read_questions, read_summaries, read_tagged
from bertedu.errors import UserError

HARD_TEXTS = [
    'He said "no", then\tleft.',
    '"',
    '""quoted""',
    "two\nlines",
    "three\r\n\r\nlines",
    " space around ",
    "comma, comma,, ;",
    "\u2028 and \x85 are not line ends here",
    "emoji 😀 and e\u0301",
    "\\n is not a line end, nor is \\",
    "# not a comment",
    "a" * 200_000,  # more than the csv module takes by itself
]


def test_banking77_keeps_texts_with_line_breaks(datasets_folder):
    folder = datasets_folder / "banking77"
    labels = json.loads((folder / "categories.json").read_text(encoding="utf-8"))
    train, test = (read_labelled(folder / f"{split}.csv.gz", labels=labels) for split in ("train", "test"))
    assert (len(train), len(test)) == (10_003, 3_080)
    assert sum(example.text.count("\n") for example in train) == 13
    counts = Counter(example.label for example in train)
    assert len(counts) == 77 and (min(counts.values()), max(counts.values())) == (35, 187)
    assert set(Counter(example.label for example in test).values()) == {40}
    assert train[0] == LabelledText("I am still waiting on my card?", "card_arrival")


def test_cad_nli_keeps_rows_with_quotes(datasets_folder):
    rows = {"original": (1_666, 200, 400), "all_combined": (8_330, 1_000, 2_000)}
    for part, sizes in rows.items():
        for split, size in zip(("train", "dev", "test"), sizes, strict=True):
            examples = read_labelled(datasets_folder / "cad_nli" / part / f"{split}.tsv.gz")
            assert len(examples) == size and all(example.pair for example in examples)
            if (part, split) == ("all_combined", "train"):
                counts = Counter(example.label for example in examples)
                assert counts == {"entailment": 2_770, "neutral": 2_778, "contradiction": 2_782}
                assert any('"' in example.text + str(example.pair) for example in examples)
                assert not any('""' in example.text + str(example.pair) for example in examples)


def test_stsb_quotes_swallow_no_rows(datasets_folder):
    for split, size in (("train", 1_000), ("dev", 375), ("test", 375)):
        examples = read_labelled(
            datasets_folder / "stsb_open_subset" / f"sts-{split}.csv.gz",
            problem_type="regression",
            header=("group", "genre", "year", "id", "score", "sentence1", "sentence2"),
            delimiter="\t",
            quoting=False,
        )
        assert len(examples) == size
        assert all(isinstance(example.label, float) and 0 <= example.label <= 5 for example in examples)
    assert examples[0].label == 2.8 and examples[0].pair == "Two small boys in a woody area looking at a shed."


def test_movie_sentences_are_all_read_with_their_labels(datasets_folder):
    folder = datasets_folder / "mr_sentence_polarity"
    examples = read_labelled([folder / "rt-polarity.neg.gz", folder / "rt-polarity.pos.gz"])
    assert Counter(example.label for example in examples) == {"neg": 5_331, "pos": 5_331}
    tokens = Counter()
    for example in examples:
        tokens[example.label] += len(example.text.split())
    assert tokens == {"neg": 111_628, "pos": 112_445}


def test_wnut17_keeps_sentences_apart(datasets_folder):
    sizes = {
        "wnut17train.conll.gz": (3_394, 62_730, 1_975),
        "emerging.dev.conll.gz": (1_009, 15_733, 836),
        "emerging.test.annotated.gz": (1_287, 23_394, 1_079),
    }
    for name, (sentences, words, entities) in sizes.items():
        examples = read_tagged(datasets_folder / "wnut17" / name)
        assert len(examples) == sentences
        assert sum(len(example.words) for example in examples) == words
        assert sum(tag.startswith("B-") for example in examples for tag in example.tags) == entities
        assert examples[0].words[0].isprintable()  # the file of dev begins with a byte-order mark


def test_ud_english_counts_neither_multiword_tokens_nor_empty_nodes(datasets_folder):
    for split, sentences, words in (("train", 12_544, 204_577), ("dev", 2_001, 25_147), ("test", 2_077, 25_094)):
        examples = read_tagged(datasets_folder / "ud_english_ewt" / f"en_ewt-ud-{split}.conllu.gz")
        counts = Counter(tag for example in examples for tag in example.tags)
        assert (len(examples), sum(counts.values()), len(counts)) == (sentences, words, 17)
        if split == "train":
            assert counts["NOUN"] == 34_751 and counts["X"] == 400
    examples = read_tagged(datasets_folder / "ud_english_ewt" / "en_ewt-ud-test.conllu.gz", tags="xpos")
    assert len({tag for example in examples for tag in example.tags}) == 48


def test_squad_keeps_questions_and_offsets(datasets_folder):
    squad = read_questions(datasets_folder / "squad_v2_half_dev" / "dev-v2.0.json.gz")
    assert len(squad) == 6_078 and sum(question.is_impossible for question in squad) == 3_168
    assert (len({question.title for question in squad}), len({question.context for question in squad})) == (16, 646)
    assert {len(question.answers) for question in squad} == {0, 2, 3, 4, 5, 6}
    xquad = read_questions(datasets_folder / "xquad_en" / "xquad.en.json.gz")
    assert len(xquad) == 1_190 and not any(question.is_impossible for question in xquad)
    for question in squad + xquad:
        for answer in question.answers:
            assert question.context[answer.start : answer.start + len(answer.text)] == answer.text


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_value_survives_its_way_through_a_table(tmp_path, name, line_end):
    with open(tmp_path / name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="," if name == "a.csv" else "\t", lineterminator=line_end)
        writer.writerows([["sentence1", "sentence2", "label"], *([text, text[::-1], "a, b"] for text in HARD_TEXTS)])
    expected = [LabelledText(text, "a, b", text[::-1]) for text in HARD_TEXTS]
    assert read_labelled(tmp_path / name) == expected


def test_quotes_that_are_part_of_a_text_are_no_marks(tmp_path):
    texts = ['"One" he said', '"', 'two "', '""three""', "four"]
    (tmp_path / "a.csv").write_text("".join(f"{text}\tb\n" for text in texts), encoding="utf-8")
    examples = read_labelled(tmp_path / "a.csv", header=("text", "label"), delimiter="\t", quoting=False)
    assert [example.text for example in examples] == texts


def test_a_table_of_an_old_spreadsheet_is_read(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,label\rone,a\rtwo,b\r")
    assert read_labelled(tmp_path / "a.csv") == [LabelledText("one", "a"), LabelledText("two", "b")]


def test_a_value_survives_its_way_through_json_lines(tmp_path):
    lines = [json.dumps({"text": text, "labels": ["x", "y, z"]}, ensure_ascii=False) + "\n" for text in HARD_TEXTS]
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    examples = read_labelled(tmp_path / "a.jsonl", problem_type="multi_label_classification", label="labels")
    assert [example.text for example in examples] == HARD_TEXTS
    assert examples[0].label == ("x", "y, z")


def test_the_limit_of_the_csv_module_is_given_back(tmp_path):
    before = 131_072
    csv.field_size_limit(before)
    (tmp_path / "a.csv").write_text('text,label\n"a,b\n', encoding="utf-8")
    with pytest.raises(UserError):
        read_labelled(tmp_path / "a.csv")
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("as_bytes", [lambda text: text, lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_byte_order_marks_and_windows_line_ends_are_no_part_of_a_value(tmp_path, as_bytes, suffix):
    def written(name: str, text: str):
        data = as_bytes(text.encode())
        (tmp_path / (name + suffix)).write_bytes(gzip.compress(data) if suffix else data)
        return tmp_path / (name + suffix)

    expected = [LabelledText("one", "a"), LabelledText("two", "b")]
    assert read_labelled(written("a.csv", "text,label\none,a\ntwo,b\n")) == expected
    assert read_labelled(written("a.tsv", "text\tlabel\none\ta\ntwo\tb"), quoting=False) == expected
    assert read_labelled(written("a.jsonl", '{"text":"one","label":"a"}\n{"text":"two","label":"b"}')) == expected
    assert read_labelled({"a": written("1.txt", "one\n"), "b": written("2.txt", "two")}) == expected
    assert read_labelled([written("x.a", "one\n"), written("b.txt", "two\n")]) == expected
    sentences = [TaggedWords(("A", "cat"), ("O", "B-x-y")), TaggedWords(("No",), ("O",))]
    assert read_tagged(written("a.conll", "A\tO\ncat\tB-x-y\n \t\n\nNo\tO\n")) == sentences
    conllu = "# x\n1-2\tdon't" + "\t_" * 8 + "\n1\tdo\tdo\tAUX\tVB" + "\t_" * 5 + "\n2\tn't\tnot\tPART\tRB" + "\t_" * 5
    conllu += "\n2.1\tso" + "\t_" * 8 + "\n"
    assert read_tagged(written("a.conllu", conllu)) == [TaggedWords(("do", "n't"), ("AUX", "PART"))]


def test_a_folder_for_each_label_reads_texts_alone(tmp_path):
    for label, text in (("neg", "Bad.\r\n\r\nVery.\r\n"), ("pos", "Good.\n")):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(text, encoding="utf-8", newline="")
        (tmp_path / label / ".hidden").write_bytes(b"\xff")
    (tmp_path / "README").write_text("Two folders.", encoding="utf-8")
    assert read_labelled(tmp_path) == [LabelledText("Bad.\n\nVery.", "neg"), LabelledText("Good.", "pos")]
    with pytest.raises(UserError, match="'neg' is none of the 2 labels"):
        read_labelled(tmp_path, labels=["good", "bad"])
    with pytest.raises(UserError, match="a name is one label"):
        read_labelled(tmp_path, problem_type="regression")
    (tmp_path / "pos" / "more").mkdir()
    with pytest.raises(UserError, match=r"more is a folder among the texts of 'pos'"):
        read_labelled(tmp_path)
    with pytest.raises(UserError, match="has 1 folder"):
        read_labelled(tmp_path / "pos")


def test_what_systems_and_editors_leave_in_a_folder_is_no_text(tmp_path):
    for place in (
        "neg/1.txt",
        "pos/1.txt",
        "pos/1.txt~",
        "pos/#1.txt#",
        "pos/Thumbs.db",
        "neg/desktop.ini",
        "__MACOSX/1",
    ):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(place)
    assert [(row.text, row.label) for row in read_labelled(tmp_path)] == [("neg/1.txt", "neg"), ("pos/1.txt", "pos")]
    (tmp_path / "Pos").mkdir()
    (tmp_path / "Pos" / "1.txt").write_text("a")
    with pytest.warns(UserWarning, match=r"pos: the labels 'Pos' and 'pos' look alike"):
        assert len(read_labelled(tmp_path)) == 3


def test_the_unlabelled_reviews_of_imdb_become_no_class(tmp_path):
    for label in ("neg", "pos", "unsup"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text("a film")
    with pytest.raises(UserError, match=r"unsup holds texts without a label, as in the set IMDB: move it"):
        read_labelled(tmp_path)


def test_files_by_label_lose_no_line_and_no_file(tmp_path):
    (tmp_path / "a.pos").write_text("One.\n\nTwo.\n", encoding="utf-8")
    (tmp_path / "a.neg").write_text("One.\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.pos, line 2: the text is ''"):
        read_labelled([tmp_path / "a.neg", tmp_path / "a.pos"])
    with pytest.raises(UserError, match="both name the label 'neg'"):
        read_labelled([tmp_path / "a.neg", tmp_path / "b.neg"])
    with pytest.raises(UserError, match="a file for each label"):
        read_labelled([tmp_path / "a.neg"])


def test_a_number_and_a_list_are_read_as_the_task_wants(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": 3, "score": 3, "labels": []}\n', encoding="utf-8")
    assert read_labelled(path)[0].label == "3"
    score = read_labelled(path, label="score", problem_type="regression")[0].label
    assert score == 3.0 and isinstance(score, float)
    assert read_labelled(path, label="labels", problem_type="multi_label_classification")[0].label == ()
    with pytest.raises(UserError, match=r"the label is \[\]"):
        read_labelled(path, label="labels")
    with pytest.raises(UserError, match="'ranking' is none"):
        read_labelled(path, problem_type="ranking")
    (tmp_path / "a.csv").write_text('text,labels\na,"joy, fear"\nb,\n', encoding="utf-8")
    examples = read_labelled(tmp_path / "a.csv", problem_type="multi_label_classification", labels=("fear", "joy"))
    assert [example.label for example in examples] == [("joy", "fear"), ()]


def test_a_header_line_becomes_no_row(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,b\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 1 is the header itself"):
        read_labelled(tmp_path / "a.csv", header=("text", "label"))


def test_a_summary_and_a_question_in_json_lines_are_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"article": "Long.", "highlights": "Short."}\n', encoding="utf-8")
    assert read_summaries(path) == [Summary("Long.", "Short.")]
    answered = {"id": "1", "question": "Who?", "context": "A cat.", "answers": {"text": ["cat"], "answer_start": [2]}}
    unanswered = answered | {"id": "2", "title": "Cats", "answers": []}
    path.write_text(json.dumps(answered) + "\n" + json.dumps(unanswered) + "\n", encoding="utf-8")
    assert read_questions(path) == [
        Question("1", "Who?", "A cat.", (Answer("cat", 2),)),
        Question("2", "Who?", "A cat.", (), True, "Cats"),
    ]


def test_the_second_text_of_a_pair_is_asked_for_where_the_first_row_has_none(tmp_path):
    path = tmp_path / "a.jsonl"
    alone, pair = {"premise": "a", "label": "x"}, {"premise": "b", "hypothesis": "c", "label": "y"}
    for rows, line in (([alone, pair], 1), ([pair, alone], 2)):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with pytest.raises(UserError, match=f"line {line}: there is no column 'hypothesis' .*: add it to this row"):
            read_labelled(path)
    path.write_text(json.dumps(alone) + "\n", encoding="utf-8")
    assert read_labelled(path) == [LabelledText("a", "x")]


def test_rows_without_an_agreed_label_become_no_class(tmp_path):
    """SNLI and MultiNLI write - where no three of the five annotators agreed."""
    path = tmp_path / "a.tsv"
    path.write_text("gold_label\tsentence1\tsentence2\nneutral\ta\tb\n-\ta\tc\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"line 3: the gold_label is '-', .*: remove such rows"):
        read_labelled(path)
    path.write_text("label\ttext\n+\ta\n-\tb\n", encoding="utf-8")
    assert [example.label for example in read_labelled(path)] == ["+", "-"]  # elsewhere it is a name like others


@pytest.mark.parametrize(
    "names",
    [
        *(("question", "sentence"), ("text", "pair"), ("text", "text_pair"), ("sentence1", "sentence2")),
        *(("premise", "hypothesis"), ("question1", "question2"), ("text1", "text2")),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_second_text_of_a_pair_comes_second(tmp_path, names, turned):
    """In QNLI the sentence is the second text, and a single text where there is no question."""
    columns, values = [*names, "label"], ["first", "second", "x"]
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        lines = [delimiter.join(line[::-1] if turned else line) + "\n" for line in (columns, values)]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
        assert read_labelled(tmp_path / name) == [LabelledText("first", "x", "second")]
        assert read_labelled(tmp_path / name, pair=names[1]) == [LabelledText("first", "x", "second")]
        assert read_labelled(tmp_path / name, text=names[0]) == [LabelledText("first", "x")]


def test_a_text_alone_is_read_without_a_pair(tmp_path):
    for name in ("text", "sentence", "sentence1", "premise", "question1", "text1"):
        (tmp_path / "a.csv").write_text(f"{name},label,idx\nfirst,x,0\n", encoding="utf-8")
        assert read_labelled(tmp_path / "a.csv") == [LabelledText("first", "x")]


def test_the_pair_that_is_chosen_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("question,sentence,other,label\na,b,c,x\n", encoding="utf-8")
    assert read_labelled(tmp_path / "a.csv") == [LabelledText("a", "x", "b")]
    assert read_labelled(tmp_path / "a.csv", pair="other") == [LabelledText("b", "x", "c")]


# Rows as people and programs write them -------------------------------------------------------------------------------

ROW = {"text": "a", "label": "x"}


def labelled(path, content: str, **options) -> list[LabelledText]:
    path.write_text(content, encoding="utf-8")
    return read_labelled(path, **options)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.ndjson", "a.json.gz"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_of_objects_is_read_as_lines_of_them_are(name, indent, tmp_path):
    rows = [ROW, {"text": "b", "label": "y"}]
    lines = "\n".join(json.dumps(row) for row in rows) + "\n\n \n"
    for content in (lines, json.dumps(rows, indent=indent)):
        data = content.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        assert read_labelled(tmp_path / name) == [LabelledText("a", "x"), LabelledText("b", "y")]


@pytest.mark.parametrize(
    "content",
    ['{"text": "a", "label": "x"},\n', '{"text": "a",}\n', "{'text': 'a'}\n", '[{"text": "a"},]', '{"a":1}{"a":1}'],
)
def test_what_is_nearly_json_is_told_how_a_line_is_written(content, tmp_path):
    with pytest.raises(UserError, match=r"a.jsonl, line 1, column \d+: not valid JSON .*write one object a line \("):
        labelled(tmp_path / "a.jsonl", content)


def test_an_entry_of_a_list_is_named_by_its_number(tmp_path):
    with pytest.raises(UserError, match=r"a.json, entry 2: there is no column 'label'"):
        labelled(tmp_path / "a.json", json.dumps([ROW, {"text": "b"}]))
    with pytest.raises(UserError, match=r"a.json, entry 1: 7 is not an object"):
        labelled(tmp_path / "a.json", "[7]")


@pytest.mark.parametrize("read", [read_labelled, read_tagged, read_questions, read_choices, read_summaries])
@pytest.mark.parametrize("content", ["[]", " [ ]\n"])
def test_a_list_of_nothing_is_refused_by_every_reader(read, content, tmp_path):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UserError, match=r"a.json (is a list without an entry|has no list 'data')"):
        read(tmp_path / "a.json")


def test_questions_in_a_list_are_read_as_rows_and_those_in_a_table_refused(tmp_path):
    row = {"id": "1", "context": "a b", "question": "q", "answers": {"text": ["b"], "answer_start": [2]}}
    (tmp_path / "a.json").write_text(json.dumps([row]))
    assert read_questions(tmp_path / "a.json") == [Question("1", "q", "a b", (Answer("b", 2),))]
    (tmp_path / "a.csv").write_text("question,context,answer\nq,a b,b\n")
    with pytest.raises(UserError, match=r"a.csv: where an answer stands in its text cannot be said in a table"):
        read_questions(tmp_path / "a.csv")


@pytest.mark.parametrize("missing", ["nan", "NaN", "<NA>", "#N/A", " NaT ", "-nan", "#NAME?", "#DIV/0!", "#VALUE!"])
def test_an_empty_cell_of_a_library_is_no_label_and_no_text(missing, tmp_path):
    for row in (f"a,{missing}", f"{missing},x"):
        with pytest.raises(UserError, match=r"a.csv, line 3: .* is '.*', as an empty cell is written"):
            labelled(tmp_path / "a.csv", f"text,label\nb,y\n{row}\n")
    with pytest.warns(
        UserWarning, match=r"a.csv, line 3: 'NA' is taken as it stands, where pandas would read an empty"
    ):
        kept = labelled(tmp_path / "a.csv", "text,label\nnan bread,nano\nNA,null\nNone,none\n")
    assert [(row.text, row.label) for row in kept] == [("nan bread", "nano"), ("NA", "null"), ("None", "none")]


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ("\"['x', 'y']\"", ("x", "y")),
        ('"[""x"", ""y""]"', ("x", "y")),
        ("[]", ()),
        ('"[1, 2]"', ("1", "2")),
        ("[x", ("[x",)),
        ("\"('x', 'y')\"", ("x", "y")),
        ("\"('x',)\"", ("x",)),
        ("\"{'y', 'x'}\"", ("y", "x")),
        ("(x)", ("(x)",)),
        ('"(x), (y)"', ("(x)", "(y)")),
    ],
)
def test_the_text_of_a_list_is_the_labels_in_it(written, labels, tmp_path):
    problem = "multi_label_classification"
    assert labelled(tmp_path / "a.csv", f"text,labels\na,{written}\n", problem_type=problem)[0].label == labels


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["x|y", "x"], "line 1: the label 'x|y' has a '|': write commas"),
        (["x", "x; y"], "line 2: the label 'x; y' has a ';': write commas"),
        (["y", "x, y, x"], r"line 2: the labels \('x', 'y', 'x'\) name one twice"),
        ([[0, 1, 1], [1, 0, 0]], r"line 1: the labels are \[0, 1, 1\], a 0 or 1 for each class"),
        (["[0, 1]", "[1, 0]"], r"line 1: the labels are \[0, 1\], a 0 or 1 for each class"),
        ([[False, True], [True, True]], r"line 1: the labels are \[False, True\], a 0 or 1 for each class"),
        ([[0.0, 1.0], [1.0, 0.0]], r"line 1: the labels are \[0.0, 1.0\], a 0 or 1 for each class"),
        (["['x' 'y']", "['x']"], r"line 1: the labels are \"\['x' 'y'\]\": give a list"),  # as numpy shows them
        (["[x, y]", "[x]"], r"line 1: the labels are '\[x, y\]': give a list"),
        (["[1 2]", "[1]"], r"line 1: the labels are '\[1 2\]': give a list"),
        (["{'x': 1}", "{}"], r"line 1: the labels are \"\{'x': 1\}\": give a list"),
    ],
)
def test_labels_that_no_commas_divide_are_refused(rows, says, tmp_path):
    content = "".join(json.dumps({"text": "a", "labels": row}) + "\n" for row in rows)
    with pytest.raises(UserError, match=says.replace("|", "[|]")):
        labelled(tmp_path / "a.jsonl", content, problem_type="multi_label_classification")


@pytest.mark.parametrize(
    "labels",
    [
        *(["x", "X"], ["café", "cafe\u0301"], ["Straße", "STRASSE"], ["1", "\uff11"], ["1", "01"], ["+2", "2"]),
        *(["positive", "po\u00adsitive"], ["a b", "a  b"], ["a b", "a\u00a0b"], ["x\u200by", "xy"]),
    ],
)
def test_labels_that_look_alike_are_pointed_out(labels, tmp_path):
    content = "".join(json.dumps({"text": "a", "label": label}) + "\n" for label in ["y", *labels])
    with pytest.warns(UserWarning, match=r"a.jsonl, line 3: the labels .* look alike and are learned as two"):
        assert len({row.label for row in labelled(tmp_path / "a.jsonl", content)}) == 3


@pytest.mark.parametrize("labels", [["1", "-1"], ["1", "11", "10"], ["0", "00a"], ["a-b", "a b", "ab"], ["+", "-"]])
def test_labels_that_differ_are_not_pointed_out(labels, tmp_path):
    content = "".join(json.dumps({"text": "a", "label": label}) + "\n" for label in labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [row.label for row in labelled(tmp_path / "a.jsonl", content)] == labels


def test_the_list_of_a_row_is_no_label(tmp_path):
    with pytest.raises(
        UserError, match=r"a.csv, line 2: the label is \"\['x'\]\", a list: write one name, or choose the"
    ):
        labelled(tmp_path / "a.csv", "text,label\na,['x']\nb,['y']\n")
    assert labelled(tmp_path / "a.csv", "text,label\na,[other]\nb,y\n")[0].label == "[other]"


@pytest.mark.parametrize("turned", [False, True])
def test_rows_that_a_quote_has_swallowed_are_pointed_out(turned, tmp_path):
    """Read as the rules of quotes say, and as `pandas` does, such a row is one text of three lines."""
    good, bad = [("a", "x"), ("b", "y"), ("Hello, you\nyou, too", "y")], ("c,x\nd,y\ne", "x")
    if turned:
        bad = ("c\nx,d\ny,e", "x")
    with (tmp_path / "a.csv").open("w", newline="") as file:
        rows = [("text", "label"), *good, bad]
        csv.writer(file).writerows([row[::-1] for row in rows] if turned else rows)
    with pytest.warns(UserWarning, match=r"a.csv, line 6: the text has several lines, and one of them a label"):
        assert [(row.text, row.label) for row in read_labelled(tmp_path / "a.csv")] == [*good, bad]


def test_a_text_of_several_lines_may_end_as_a_row_does(tmp_path):
    rows = [("Who came?\nAnn,y", "y"), ("x, said he,\nand went", "x"), ("a, z\nb", "y")]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [(row.text, row.label) for row in read_labelled(tmp_path / "a.csv")] == rows


@pytest.mark.parametrize("score", [-0.3, 5.3])
def test_a_score_far_outside_the_scale_that_was_seen_is_refused(score, tmp_path):
    options = {"problem_type": "regression", "scale": (0.0, 5.0)}
    assert len(labelled(tmp_path / "a.csv", "text,score\na,-0.2\nb,5.2\n", **options)) == 2
    with pytest.raises(UserError, match=rf"a.csv, line 2: the score is '{score}', and scores run from 0 to 5"):
        labelled(tmp_path / "a.csv", f"text,score\na,{score}\n", **options)


def test_of_several_columns_of_labels_the_one_that_is_taken_is_said(tmp_path):
    with pytest.warns(UserWarning, match=r"line 2: the column 'label' is taken, and not 'category' or 'score'"):
        assert labelled(tmp_path / "a.csv", "text,score,category,label\na,1,2,x\n")[0].label == "x"
    row = {"tokens": ["a"], "pos_tags": ["NN"], "ner_tags": ["B-x"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    with pytest.warns(UserWarning, match=r"line 1: the column 'ner_tags' is taken, and not 'pos_tags'"):
        assert read_tagged(tmp_path / "a.jsonl", scheme=None)[0].tags == ("B-x",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_tagged(tmp_path / "a.jsonl", tags="pos_tags", scheme=None)[0].tags == ("NN",)


@pytest.mark.parametrize("column", ["text", "summary"])
def test_an_empty_cell_is_no_summary_and_no_text_of_one(column, tmp_path):
    (tmp_path / "a.csv").write_text("text,summary\na b c,a\n" + ("nan,a\n" if column == "text" else "a b,nan\n"))
    with pytest.raises(UserError, match=rf"a.csv, line 3: {column} is 'nan', as an empty cell is written"):
        read_summaries(tmp_path / "a.csv")


def test_an_empty_cell_is_no_question_with_choices(tmp_path):
    (tmp_path / "a.csv").write_text("question,choice1,choice2,answer\nq,a,b,1\nnan,a,b,2\n")
    with pytest.raises(UserError, match=r"a.csv, line 3: question is 'nan', as an empty cell is written"):
        read_choices(tmp_path / "a.csv")


def test_the_number_of_rows_that_nobody_labelled_is_no_class(tmp_path):
    with pytest.raises(UserError, match=r"a.csv, line 5: the label is '-1', and others count from 0"):
        labelled(tmp_path / "a.csv", "text,label\na,0\na,1\na,2\na,-1\n")
    kept = labelled(tmp_path / "a.csv", "text,label\na,0\na,1\na,-1\n")  # a scale around 0
    assert {row.label for row in kept} == {"-1", "0", "1"}


@pytest.mark.parametrize("unseen", ["\u200b", "\ufeff", "\u00ad\u200e"])
def test_a_text_in_which_nothing_can_be_seen_is_empty(unseen, tmp_path):
    with pytest.raises(UserError, match=r"line 1: text is .* which is empty"):
        labelled(tmp_path / "a.jsonl", json.dumps({"text": unseen, "label": "x"}))


def test_names_of_columns_that_are_none_get_the_advice_to_write_some(tmp_path):
    with pytest.raises(
        UserError, match=r"rename one of 'good film', 'pos' to 'text'.* write a line of names before them"
    ):
        labelled(tmp_path / "a.csv", "good film,pos\nbad film,neg\n")


@pytest.mark.parametrize("name", ["tasks/reviews", "reviews.xlsx", "reviews.csv"])
def test_a_file_that_is_not_there_is_said_to_be_missing_whatever_its_name(name, tmp_path):
    with pytest.raises(UserError, match=rf"{name} cannot be read \(No such file or directory\): check the name"):
        read_labelled(tmp_path / name)
