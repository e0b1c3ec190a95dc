"""The website's pages, before Sphinx sees them: links, guesses, solutions, quizzes, terms, and the check of links."""

import re
from pathlib import Path

import nbformat
import pytest
from support.faults import assert_none
from support.repository import REPOSITORY

from bertedu.address import REPOSITORY as REPOSITORY_ADDRESS
from bertedu.classroom.overview import chapters
from bertedu.course.building.places import Places
from bertedu.errors import UserError
from bertedu.interview.bank import questions
from bertedu.website.chapters import bar, chapter_page, stored
from bertedu.website.checking import check_links
from bertedu.website.front import PARTS, course_facts, promise
from bertedu.website.glossary import bold_terms, terms
from bertedu.website.pages import CLONE, write_tree
from bertedu.website.quizzes import quiz_html
from bertedu.website.reference import PARTS as REFERENCE
from bertedu.website.reference import page as reference_page
from bertedu.website.tree import Tree, sections, slug

HEADING, MARK = re.compile(r"^#+ (.+)$", re.MULTILINE), re.compile(r"^\((\S+)\)=$", re.MULTILINE)
LINK_TO_A_HEADING = re.compile(r"\]\(/([^)\s]+\.md)#([^)\s]+)\)")
TOLD_AFTER = ("05", "08", "09", "10", "25")  # the chapters after which a page says how many hours have gone
CHAPTERS = chapters(REPOSITORY / "bertedu" / "chapters")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All that Sphinx would read, the chapters and the terms."""
    folder = tmp_path_factory.mktemp("site") / "source"
    found, listed = write_tree(REPOSITORY, folder)
    return folder, found, listed


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture
def tree(tmp_path):
    return Tree(REPOSITORY, tmp_path, {"docs/family.md": "guides/family", "docs/teaching/README.md": "teaching/index"})


# Links ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("[a](family.md)", "[a](/guides/family.md)"),
        ("[a](family.md#one)", "[a](/guides/family.md#one)"),
        ("[`a`](teaching/README.md)", "[`a`](/teaching/index.md)"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("[a](#here)", "[a](#here)"),
        ("`[a](family.md)`", "`[a](family.md)`"),
        ("![of [MASK]](images/report.png)", "![of [MASK]](/pictures/docs/images/report.png)"),
    ],
)
def test_a_link_leads_to_the_page_of_its_file(written, leads_to, tree):
    assert tree.linked(written, "docs/results.md") == leads_to


def test_a_link_to_a_file_without_a_page_leads_to_the_repository(tree):
    text = tree.linked("[a](../bertedu/model/bert.py)", "docs/results.md")
    assert re.fullmatch(r"\[a\]\(https://github.com/\w+/bertedu/blob/main/bertedu/model/bert.py\)", text)


def test_a_link_to_a_heading_leads_to_a_page_that_has_it(made):
    """Sphinx refuses the others, but only where the whole site is built."""
    folder, _, _ = made
    headings = {path: {slug(line) for line in HEADING.findall(text_of(path))} for path in folder.rglob("*.md")}
    places = {path: found | set(MARK.findall(text_of(path))) for path, found in headings.items()}
    assert_none(
        f"{path.relative_to(folder)}: {page}#{place}"
        for path in places
        for page, place in LINK_TO_A_HEADING.findall(text_of(path))
        if place not in places[folder / page]
    )


def test_a_page_is_cut_at_its_headings():
    assert sections("before\n## One\ntext\n## Two\n") == ("before\n", [("One", "text\n"), ("Two", "")])
    assert slug("What came before BERT, and `after`") == "what-came-before-bert-and-after"


# Chapters -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Chapter 03 as pages with and without solutions."""
    one = stored(next(one for one in CHAPTERS if one.number == "03"), Places(REPOSITORY))
    there = Tree(REPOSITORY, tmp_path_factory.mktemp("three"), {})
    return one, chapter_page(one, there, True), chapter_page(one, there, False), there


def test_what_a_guess_shows_is_there_and_folded(three):
    one, page, _, _ = three
    guesses = [cell for cell in page.cells if "guess" in cell.metadata.get("tags", [])]
    assert guesses and all(cell.outputs and "hide-output" in cell.metadata.tags for cell in guesses)
    assert not any(cell.outputs for cell in one.learner.cells if "guess" in cell.metadata.get("tags", []))


def test_solutions_are_folded_and_a_class_gets_none(three):
    one, page, without, _ = three
    folded = [cell.source for cell in page.cells if "<summary>A solution</summary>" in cell.source]
    assert len(folded) == len(one.chapter.exercises) and all(text.startswith("<details>") for text in folded)
    text = nbformat.writes(without)
    assert "A solution</summary>" not in text and "BEGIN SOLUTION" not in text + nbformat.writes(page)


def test_pictures_are_files_with_words(three):
    _, page, _, there = three
    html = [
        output.data.get("text/html", "")
        for cell in page.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    shown = [text for text in html if text.startswith("<img")]
    assert shown and all(re.search(r'alt="[^"]{20,}"', text) for text in shown)
    for text in shown:
        assert (there.folder / re.search(r'src="\.\./([^"]+)"', text)[1]).stat().st_size > 1000
    assert "image/png" not in nbformat.writes(page)


def test_nothing_on_a_page_needs_a_kernel(made):
    folder, found, _ = made
    for one in found:
        text = (folder / f"{one.page}.ipynb").read_text(encoding="utf-8")
        assert "application/javascript" not in text and "widget-view" not in text, one.page


def test_every_quiz_has_the_answers_and_feedback_of_the_notebook(made):
    folder, found, _ = made
    for one in found:
        assert '<div class=\\"quiz\\"' in (folder / f"{one.page}.ipynb").read_text(encoding="utf-8"), one.page
    html = quiz_html("ch03_self_attention", "3")
    assert html.count("<fieldset") == 8 and html.count('data-right="true"') == 9  # one question has two right answers
    assert html.count("<p hidden>") == html.count("<button")


# Terms, the bank, the reference ---------------------------------------------------------------------------------


def test_every_term_has_a_sentence_that_names_it(made):
    _, _, listed = made
    assert len(listed) > 200
    assert [term.name for term in listed] == sorted(
        {term.name for term in listed}, key=lambda n: n.casefold().replace("-", " ")
    )
    for term in listed:
        assert term.name.casefold().replace("-", " ") in term.sentence.casefold().replace("-", " "), term
        assert "**" not in term.sentence and "](" not in term.sentence


def test_a_term_that_no_chapter_defines_is_refused(made):
    _, found, _ = made
    with pytest.raises(UserError, match="lists flux capacitor, which no chapter has in bold"):
        terms(["query", "flux capacitor"], [one for one in found if one.chapter.number <= "03"])
    assert any(term.name == "query" for term in bold_terms(one for one in found if one.chapter.number == "03"))
    with pytest.raises(UserError, match="says something of flux, which it does not list"):
        terms(["query"], found, sentences={"flux": "Flux is a flow."})


def test_a_term_that_is_bold_nowhere_is_explained_where_another_is(made):
    _, _, listed = made
    (padding,) = (term for term in listed if term.name == "padding")
    (mask,) = (term for term in listed if term.name == "attention mask")
    assert (padding.chapter, padding.section) == (mask.chapter, mask.section) and padding.sentence != mask.sentence


def test_every_question_of_the_bank_is_listed_and_has_a_folded_answer(made):
    folder, _, _ = made
    index = (folder / "interview" / "index.md").read_text(encoding="utf-8")
    pages = "".join(path.read_text(encoding="utf-8") for path in (folder / "interview").glob("*.md"))
    bank = questions()
    for question in bank.values():
        assert f"{question.topic}.html#{question.id}'" in index and f"({question.id})=" in pages
    assert pages.count("<details class='answer'>") == len(bank)


def test_the_reference_has_every_module_of_the_library_that_defines_something():
    package = REPOSITORY / "bertedu"
    text = "".join(reference_page(package, name, title) for name, title in REFERENCE)
    assert ".. automodule:: bertedu.model.attention\n" in text and "bertedu.tokenization.wordpiece\n" in text
    assert "__init__" not in text and len(re.findall("automodule", text)) > 200


# Map and machines -----------------------------------------------------------------------------------------------


def test_every_chapter_is_on_the_map_with_picture_and_times(made):
    folder, found, _ = made
    text = (folder / "chapters" / "index.md").read_text(encoding="utf-8")
    for one in found:
        assert f"data-chapter='{one.chapter.number}'" in text
        assert f"<small>{str(one.chapter.sittings).capitalize()}</small>" in text
    assert text.count("<img src=") == len(found)
    assert PARTS[0][1] == found[0].chapter.number and PARTS[-1][2] == found[-1].chapter.number


def test_the_front_page_and_the_readme_count_the_notebooks():
    for name in ("docs/site/index.md", "README.md"):
        assert f"{len(CHAPTERS)} notebooks" in " ".join(text_of(REPOSITORY / name).split()), name


def test_the_front_page_and_the_readme_say_the_counted_hours():
    front, readme = (" ".join(text_of(REPOSITORY / name).split()) for name in ("docs/site/index.md", "README.md"))
    until = {last: round(sum(one.core for one in CHAPTERS if one.number[:2] <= last) / 60) for last in TOLD_AFTER}
    for chapter, said in (("05", "Chapters 00 to"), ("09", "To chapter"), ("25", "To chapter")):
        assert f"{said} {chapter}, about {until[chapter]} hours" in front
    told = f"{until['05']} hours to a complete BERT, {until['08']} to a trained one, and {until['25']} for all"
    assert told in readme
    optional = round(sum(one.sittings.optional for one in CHAPTERS) / 60)
    first = text_of(REPOSITORY / "bertedu" / "chapters" / "ch00_start_here" / "00_start_here.py").replace("\n# ", " ")
    for chapter in ("05", "08", "10"):
        assert f"**After {chapter}** (about {until[chapter]} hours)" in first
    assert f"That makes {until['25']} hours for all, and {optional} more for what" in first


def test_the_front_page_has_the_commands_of_the_readme(made):
    folder, _, _ = made
    commands = text_of(folder / "two_commands.md")
    assert (
        commands.startswith("```sh\ngit clone ")
        and commands.endswith("```\n")
        and commands in text_of(REPOSITORY / "README.md")
    )


def test_the_page_on_which_one_starts_says_how_to_get_the_course(made):
    folder, _, _ = made
    said = text_of(folder / "start.md")
    assert f"```sh\ngit clone {REPOSITORY_ADDRESS} && cd bertedu\n```" in said and CLONE not in said


def test_a_page_links_to_the_repository_once_there_is_one(three, monkeypatch):
    one = three[0]
    assert "Run it yourself" in bar(one) and "https:" not in bar(one)
    monkeypatch.setattr("bertedu.website.chapters.has_address", lambda: True)
    assert "Open in Colab" in bar(one) and "Edit" in bar(one)


def test_machines_are_told_of_all_chapters(made):
    _, found, _ = made
    facts = course_facts(found, "a course")
    assert '"@type": "Course"' in facts and facts.count('"LearningResource"') == len(found)


def test_every_page_of_the_tree_is_in_a_list_of_contents(made):
    folder, _, _ = made
    listed = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("index.md"))
    for path in [*folder.rglob("*.md"), *folder.rglob("*.ipynb"), *folder.rglob("*.rst")]:
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name not in ("index", "404", "playground"):
            here = rf"^{re.escape(path.stem)}$|^{re.escape(name)}$|^{re.escape(name.partition('/')[2])}$"
            assert re.search(here, listed, re.MULTILINE), name


def test_a_card_of_the_map_says_in_whole_sentences_what_the_reader_will_do(made):
    _, found, _ = made
    said = {one.chapter.number: promise(one) for one in found}
    assert said["19"].startswith("BERT is from 2018. In December 2024, Warner et al. published ModernBERT")
    assert said["08"].endswith("You put them together, and train your own BERT while you watch.")
    assert_none([f"{number}: {text}" for number, text in said.items() if text[-1] not in '.?"'])


# The check ------------------------------------------------------------------------------------------------------


def site(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


def test_links_within_the_site_must_lead_somewhere_and_others_are_listed(tmp_path):
    good = '<h1 id="top">A</h1><a href="b.html">b</a><a href="#top">up</a><a href="https://example.org/">out</a>'
    site(tmp_path, a=good, b='<a href="a.html#top">a</a>')
    assert check_links(tmp_path) == ["https://example.org/"]


def test_a_link_to_the_playground_may_hold_a_state_of_it(tmp_path):
    site(tmp_path, a='<a href="playground.html#masks=6&text=one">one</a>', playground="")
    assert check_links(tmp_path) == []
    site(tmp_path, b='<a href="playground.html#masks">one</a>')
    with pytest.raises(UserError, match=r"playground\.html#masks, which has no such anchor"):
        check_links(tmp_path)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ('<a href="c.html">', "c.html, which is not there"),
        ('<img src="c.png">', "c.png, which is not there"),
        ('<a href="b.html#x">', "b.html#x, which has no such anchor"),
        ('<a href="../b.html">', "../b.html, which is outside the site"),
    ],
)
def test_a_link_that_leads_nowhere_fails(link, said, tmp_path):
    site(tmp_path, a=link, b="")
    with pytest.raises(UserError, match=re.escape(f"a.html links {said}")):
        check_links(tmp_path)
