"""Translations: texts found, kept and marked fuzzy; nothing lost; checks that answer in German; notebooks of it."""

import re
import shutil
from functools import cache
from pathlib import Path

import nbformat
import pytest
from babel.messages import Catalog
from support.proofs import PROOFS

from bertedu.classroom.markup import markdown_html
from bertedu.classroom.translation.answers import Answers, in_language, phrases
from bertedu.classroom.translation.catalogues import (
    PLACEHOLDER,
    SHARED,
    catalogue_path,
    messages,
    prose_texts,
    read_catalogue,
    template,
    update,
    update_one,
)
from bertedu.classroom.translation.notebooks import answering, build, mend_links, translated, words_of
from bertedu.classroom.translation.patterns import Phrases
from bertedu.classroom.translation.prose import rewritten
from bertedu.classroom.translation.refusals import check
from bertedu.classroom.translation.sentences import sentences
from bertedu.course import checking
from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source
from bertedu.errors import UserError

PLACES = Places()
CHAPTERS = PLACES.all_sources()
(START,) = PLACES.all_sources(("0",))


@pytest.fixture(autouse=True)
def no_ticks(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")


def together(html: str) -> str:
    return re.sub(r"\s+", " ", html)


# Texts in Markdown and Python -----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", CHAPTERS, ids=lambda path: path.name[:2])
def test_markdown_that_nobody_translated_reads_otherwise(source):
    for cell in read_source(source).cells:
        if cell.cell_type == "markdown":
            same = rewritten(cell.source, lambda text, what, line: text)
            assert together(markdown_html(same)) == together(markdown_html(cell.source))


def test_a_block_of_code_a_formula_or_a_tag_is_translated_and_a_label_is_not():
    source = (
        "## A head\n\n```sh\nrun this\n```\n\n$$\\text{a formula}$$\n\n- one\n  item\n- `code`\n\n| a row | of two |\n"
        "|---|---|\n\n> A quotation\n> here.\n\n<details><summary>The answer</summary>\n\n"
        '<svg aria-label="What it\nshows"><text x="1">a label</text></svg>'
    )
    found = []
    rewritten(source, lambda text, what, line: (found.append((text, line)), text)[1])
    assert found == [
        ("A head", 0),
        ("one item", 8),
        ("| a row | of two |", 12),
        ("A quotation here.", 15),
        ("The answer", 18),
        ("What it shows", 20),
        ("a label", 21),
    ]


def test_a_reference_names_another_line():
    lines = START.read_text(encoding="utf-8").splitlines()
    for text in prose_texts(START, PLACES):
        assert text.words.split()[0] in lines[text.line - 1], text


def test_a_sentence_of_a_check_is_not_found_or_a_docstring_is(tmp_path):
    path = tmp_path / "chapter.py"
    path.write_text(
        '"""No text."""\nNAMES = ("not a text",)\ndef examine(case):\n    """Nor this."""\n'
        '    text = "an input of the answer"\n    case.causes = {"words of an error": "A cause of it."}\n'
        '    case.call(text, tried=f"{text!r}, twice")\n'
        "    case.fail(f\"But {'an' if text else 'a'} {case.name} gave {len(text)} and {text[0]}.\\nMore of it.\")\n"
    )
    assert [(one.text, one.line) for one in sentences(path)] == [
        ("A cause of it.", 6),
        ("{text}, twice", 7),
        ("But an {name} gave {text} and {text2}.", 8),
        ("More of it.", 8),
        ("But a {name} gave {text} and {text2}.", 8),
        ("More of it.", 8),
    ]


# Catalogues -----------------------------------------------------------------------------------------------------


def written(path: Path, **pairs: str) -> Catalog:
    catalogue = Catalog(charset="utf-8")
    for text in pairs.values():
        catalogue.add(text, locations=[("a.py", 1)])
    update_one(path, "de", catalogue)
    return read_catalogue(path)


def test_a_changed_paragraph_keeps_its_translation_as_if_it_were_right(tmp_path):
    path = tmp_path / "chapter_00.po"
    written(path, a="The model reads tokens, not text.", b="Another.")
    path.write_text(
        path.read_text().replace('tokens, not text."\nmsgstr ""', 'tokens, not text."\nmsgstr "Das Modell."')
    )
    kept = written(path, a="The model reads tokens, not text.", b="Another.")
    assert kept["The model reads tokens, not text."].string == "Das Modell."
    changed = written(path, a="The model reads only tokens, not text.", b="Another.")
    (message,) = (one for one in messages(changed) if one.string)
    assert message.fuzzy and message.string == "Das Modell." and "only" in message.id
    assert "previous" not in message.string and '#| msgid "The model reads tokens' in path.read_text()


def test_an_update_without_changes_writes_the_file_again(tmp_path):
    path = tmp_path / "chapter_00.po"
    written(path, a="92 % of them")
    before = path.read_text().replace("2026", "1999").replace("2027", "1999")
    path.write_text(before)
    written(path, a="92 % of them")
    assert path.read_text() == before and "c-format" not in before and "python-format" not in before


@pytest.mark.parametrize("name", ["00", SHARED])
def test_the_german_of_chapter_00_or_of_all_chapters_falls_behind(name):
    """Who changes an English sentence need not know German: it stays English until somebody translates it."""
    kept = read_catalogue(catalogue_path("de", name, PLACES))
    german = {message.id for message in messages(kept) if message.string and not message.fuzzy}
    wanted = {message.id for message in messages(template(name, PLACES))}
    assert len(german & wanted) >= 0.95 * len(wanted), (
        f"run `bertedu translate update de 00`, and translate: {sorted(wanted ^ german)[:5]}"
    )


def test_the_german_has_straight_quotes_in_prose():
    for message in messages(read_catalogue(catalogue_path("de", "00", PLACES))):
        prose = message.locations[0][0].startswith("notebooks/")
        assert not prose or '"' not in re.sub(r"`[^`]*`", "", message.string), message.string


# What a translation must not lose -------------------------------------------------------------------------------

LOSSES = [
    ("But {name} is wrong.", "Aber es ist falsch.", "the placeholder 'name' is lost"),
    ("But {name} is wrong.", "Aber {nam} ist falsch.", "the placeholder 'nam' is not in the English"),
    ("Go to [01](01_a.ipynb).", "Weiter.", "the link '01_a.ipynb' is lost"),
    ("Go to [01](01_a.ipynb).", "Zu [01](02_b.ipynb).", "the link '02_b.ipynb' is not in the English"),
    ("Use `clone()` here.", "Benutze clone() hier.", "the code 'clone()' is lost"),
    ("A <b>word</b> here", "Ein Wort hier", "the tag '</b>' is lost"),
    ("That is $x^2$ here", "Das ist x hier", "the formula '$x^2$' is lost"),
    ("●○○○ · 3 minutes", "●●○○ · 3 Minuten", "the mark '●○○○' is lost"),
    ("A sentence.", "# Ein Satz.", "begins a list, heading"),
    ("A sentence.", "Ein Satz.\\nZwei", "has a line break"),
]


@pytest.mark.parametrize(("english", "german", "said"), LOSSES, ids=[loss[2][:28] for loss in LOSSES])
def test_a_translation_loses_what_the_notebook_needs(english, german, said, tmp_path):
    folder = tmp_path / "data" / "translations" / "de"
    folder.mkdir(parents=True)
    entry = f'#: bertedu/course/case.py:1\nmsgid "{english}"\nmsgstr "{german}"\n'
    (folder / "shared.po").write_text(f'msgid ""\nmsgstr ""\n"Language: de\\n"\n\n{entry}', encoding="utf-8")
    with pytest.raises(UserError) as refused:
        check("de", Places(tmp_path))
    assert said in str(refused.value) and "shared.po, line 6" in str(refused.value), refused.value
    (folder / "shared.po").write_text(f'msgid ""\nmsgstr ""\n"Language: de\\n"\n\n#, fuzzy\n{entry}', encoding="utf-8")
    assert [count.fuzzy for count in check("de", Places(tmp_path))] == [1]  # what is not used is not refused


def test_the_shipped_german_has_lost_something():
    assert [count.missing for count in check("de")] == [0, 0]


@pytest.mark.parametrize(
    ("language", "said"), [("xx_yy_zz", "no code of a language"), ("../de", "no code"), ("fr", "translate update fr")]
)
def test_a_language_that_is_none_ends_in_a_traceback(language, said):
    with pytest.raises(UserError, match=said):
        check(language)


def test_a_damaged_catalogue_ends_in_a_traceback(tmp_path):
    path = tmp_path / "shared.po"
    path.write_text('msgid "a"\nmsgstr "b"\nno catalogue', encoding="utf-8")
    with pytest.raises(UserError, match=r"shared\.po, line 3"):
        read_catalogue(path)


# Answers in German ----------------------------------------------------------------------------------------------


def test_a_value_goes_to_another_place_or_stays_english():
    phrases = Phrases(
        [
            ("But {name} is {got}, and should be {wanted}.", "Aber {wanted} statt {got} für {name}."),
            ("the result", "das Ergebnis"),
            ("I called {name} on {tried}.", "{name} mit {tried}."),
            ("{items} and {items2}", "{items} und {items2}"),
            ("a tensor, whole", "ein Tensor"),
            ("It happened in your line: {line}", "Zeile: {line}"),
            ("The shape is right: {right}.", "Form: {right}."),
        ]
    )
    assert phrases.say("But the result is 3, and should be 4.") == "Aber 4 statt 3 für das Ergebnis."
    assert phrases.say("I called f on a tensor, whole and 2.") == "f mit ein Tensor und 2."
    assert phrases.say("I called f on 1. The shape is right: the result [2, 3].") == (
        "f mit 1. Form: das Ergebnis [2, 3]."
    )
    assert phrases.say("It happened in your line: the result") == "Zeile: the result"
    assert phrases.say("Nobody knows this.") == "Nobody knows this."


def english_left(german: str) -> list[str]:
    """The pieces of two words or more of English texts that are in a German answer; Python's own words aside."""
    told = "\n".join(
        line for line in german.splitlines() if "wurde abgebrochen mit" not in line and "Zeile:" not in line
    )
    left = []
    for english, german in said_by_checks():
        pieces = re.split(r"\{\w+\}|(?<=[.?!:]) ", english)
        left += [piece for piece in pieces if len(piece.split()) >= 2 and piece.strip() in told and piece not in german]
    return left


@cache
def said_by_checks() -> list[tuple[str, str]]:
    catalogues = [read_catalogue(catalogue_path("de", name, PLACES)) for name in (SHARED, "00")]
    every = [message for catalogue in catalogues for message in messages(catalogue)]
    return [(message.id, message.string) for message in every if message.locations[0][0].startswith("bertedu/course")]


@pytest.mark.parametrize("number", ["0.1", "0.2", "0.3", "0.4"])
def test_a_mistake_hears_english(number):
    answers = in_language("de")
    for answer in [*(wrong for wrong, _ in PROOFS[number]["wrong"]), *PROOFS[number]["accepted"], None, "odd"]:
        german, english = answers.check(number, answer), checking.check(number, answer)
        assert not english_left(str(german)), german
        assert (german.status, german.passed, len(german.lines)) == (english.status, english.passed, len(english.lines))
        assert all(one != other for one, other in zip(german.lines, english.lines, strict=True)), german
        assert german._repr_html_().count("<strong>") == 1 and str(english).splitlines()[0] not in str(german)


def test_a_hint_or_a_refusal_is_english(monkeypatch):
    monkeypatch.setattr(checking, "hints_given", {})
    answers = in_language("de")
    said = [str(answers.hint("0.2")) for _ in range(3)]
    assert said[0].startswith("Tipp 1 von 2 · 0.2 Maskiere ein Token\n") and said[2].startswith(
        "Alle Tipps zu 0.2 · Mask"
    )
    assert not any(map(english_left, said))
    for call in (answers.check, answers.hint):
        with pytest.raises(UserError, match=r"Es gibt keine Aufgabe '0\.9'"):
            call("0.9")


def test_a_quiz_gives_another_answer_for_right_or_stays_english():
    german, english = in_language("de").questions(0), Answers("en").questions(0)
    for one, other in zip(german, english, strict=True):
        assert one["question"] != other["question"]
        pairs = list(zip(one["answers"], other["answers"], strict=True))
        assert all(a["correct"] == b["correct"] and a["feedback"] != b["feedback"] for a, b in pairs)


def test_a_language_without_translation_answers_nothing():
    with pytest.raises(UserError, match="choose one of de"):
        in_language("fr")


def test_a_chapter_that_is_not_translated_says_nothing():
    assert "Tipp 1 von 2 · 3.1" in in_language("de").hint("3.1").replace("2 von 2", "1 von 2")
    assert phrases("de", "03").say("not yet") == "noch nicht"


# Notebooks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solved", [True, False])
def test_a_translated_notebook_is_no_notebook_or_other_code(solved, tmp_path):
    words = words_of("de", "00", PLACES)
    german = translated(START, "de", words, solved)
    english = translated(START, "de", {}, solved)
    mend_links(german, PLACES.notebooks, tmp_path, {START.with_suffix(".ipynb").name})
    nbformat.validate(german)
    assert [(c.id, c.cell_type, c.metadata) for c in german.cells] == [
        (c.id, c.cell_type, c.metadata) for c in english.cells
    ]
    for one, other in zip(german.cells, english.cells, strict=True):
        if one.cell_type == "code":
            assert re.sub("#.*", "", one.source) == re.sub("#.*", "", other.source)
            compile(one.source, "cell", "exec")
            assert not re.search(r"from bertedu\.course import .*(check|hint|quiz)", one.source)
        elif re.search(r"[a-z]{3}", other.source):
            assert one.source != other.source
            for target in re.findall(r"\]\(([^)]+)\)", one.source):
                assert (tmp_path / target).exists(), target
    assert any("# Du bist dran" in cell.source for cell in german.cells) != solved


def test_an_import_that_is_not_translated_is_lost():
    code = answering("from bertedu.course import about, check, hint as h\nx = 1", "de")
    assert code.splitlines() == [
        "from bertedu.classroom.translation.answers import in_language",
        "from bertedu.course import about",
        "",
        'check, h = in_language("de").check, in_language("de").hint',
        "x = 1",
    ]
    assert answering("x = 'bertedu.course'", "de") == "x = 'bertedu.course'"


def test_a_fuzzy_translation_is_shown(tmp_path):
    folder = tmp_path / "data" / "translations" / "de"
    shutil.copytree(PLACES.data / "translations" / "de", folder)
    path = folder / "chapter_00.po"
    path.write_text(path.read_text().replace('msgid "The proof"', '#, fuzzy\nmsgid "The proof"'), encoding="utf-8")
    words = words_of("de", "00", Places(tmp_path))
    assert words["The proof"] == "The proof" and words["Summary"] == "Zusammenfassung"


@pytest.mark.parametrize(
    ("folder", "chapters", "said"),
    [
        ("notebooks", ("0",), "English notebooks"),
        ("notebooks/solutions", ("0",), "English"),
        ("x", ("99",), "no source"),
    ],
)
def test_a_build_overwrites_the_english_notebooks(folder, chapters, said):
    with pytest.raises(UserError, match=said):
        build("de", chapters, PLACES.root / folder)


def test_an_update_of_no_language_writes_a_folder():
    with pytest.raises(UserError, match="no code of a language"):
        update("deutsch!", ("0",))
    assert PLACEHOLDER.findall("{a} {b}") == ["a", "b"]
