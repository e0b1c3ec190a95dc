"""The teacher's pages say what the course says: exercises, sections, minutes, links, and what the checks say."""

import math
import re
from functools import cache
from itertools import product
from pathlib import Path

import pytest
import torch
from support.proofs import PROOFS

from bertedu import BertConfig
from bertedu.classroom.overview import CLASS_MINUTES, Chapter, chapters, itself, missing_before, refreshed
from bertedu.course.checking import check
from bertedu.course.loading import all_exercises
from bertedu.course.rooms import CHAPTERS, chapter_of
from bertedu.model.attention import attend
from bertedu.model.encoder import EncoderLayer
from bertedu.tokenization.wordpiece import split_word

ROOT = Path(__file__).resolve().parents[1]
TEACHING = ROOT / "docs" / "teaching"
COURSE = chapters(CHAPTERS)
SECTIONS = (
    "Before",
    "In class",
    "What to say",
    "On the board",
    "Questions for the room",
    "Misconceptions",
    "What may be left out",
    "At home",
)
EXERCISE = re.compile(r"Exercises? (\d+[a-z]?\.\d)(?: and (\d+[a-z]?\.\d))?")
OWN_PAGES = ("README.md", "plans.md", "exam.md", "projects.md", "public_solutions.md")

every_chapter = pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in COURSE])


@pytest.fixture(autouse=True)
def no_ticks(monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def page_of(one: Chapter) -> Path:
    return CHAPTERS / f"ch{one.name}" / "teaching.md"


def own_pages() -> list[Path]:
    return [*(TEACHING / name for name in OWN_PAGES), *map(page_of, COURSE)]


def section(one: Chapter, name: str) -> str:
    return read(page_of(one)).partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def rows(one: Chapter, name: str) -> list[tuple[int, str]]:
    """(minutes, what) of the table in a section."""
    found = re.findall(r"^\| (\d+) \| (.*?) \|$", section(one, name), flags=re.M)
    return [(int(minutes), what) for minutes, what in found]


def flat(text: str) -> str:
    return " ".join(text.split())


def named(text: str) -> list[str]:
    return [number for pair in EXERCISE.findall(flat(text)) for number in pair if number]


def home_minutes(number: str) -> int:
    (one,) = (one for one in COURSE if one.number == number)
    return sum(minutes for minutes, _ in rows(one, "At home"))


def class_count(one: Chapter) -> int:
    return {"one class": 1, "two classes": 2}[re.search(r"\*\*In class:\*\* (\w+ \w+) of", read(page_of(one)))[1]]


# The pages of the chapters ----------------------------------------------------------------------------------------


@every_chapter
def test_every_chapter_has_a_page_with_every_section(one):
    text = read(page_of(one))
    assert re.findall(r"^## (.+)$", text, flags=re.M) == list(SECTIONS)
    assert text.startswith(f"# {one.number} · {one.title}\n")
    assert itself(one) in text.splitlines(), "`bertedu build` writes it"
    assert 350 <= len(re.findall(r"\b\w+\b", text)) <= 800, "one page: 350 to 700 words, and its head"


@every_chapter
def test_the_minutes_of_a_class_add_up(one):
    found = rows(one, "In class")
    assert sum(minutes for minutes, _ in found) == CLASS_MINUTES * class_count(one)
    if class_count(one) == 2:
        first = next(i for i, (_, what) in enumerate(found) if what.startswith("Second class"))
        assert sum(minutes for minutes, _ in found[:first]) == CLASS_MINUTES, "the second class begins after 90 minutes"
    assert f"**at home:** {home_minutes(one.number)} minutes" in read(page_of(one))


@every_chapter
def test_every_exercise_gets_the_minutes_that_it_states(one):
    for minutes, what in rows(one, "In class"):
        if what.startswith("Exercise"):
            stated = sum(one.exercises[number] for number in named(what))
            assert minutes >= stated, f"{what}: {stated} minutes are stated, {minutes} planned"
    for minutes, what in rows(one, "At home"):
        if what.startswith("Exercise"):
            assert minutes == sum(one.exercises[number] for number in named(what)), what
    own = {number for number in named(read(page_of(one))) if number in one.exercises}
    assert own == set(one.exercises), f"not on the page: {set(one.exercises) - own}"


@every_chapter
def test_every_section_and_exercise_that_a_page_names_exists(one):
    text = flat(read(page_of(one)))
    source = read(CHAPTERS / f"ch{one.name}" / f"{one.name}.py")
    headings = set(re.findall(r"^# ##+ (.+)$", source, flags=re.M))
    for heading in re.findall(r'[Ss]ection "(.+?)"(?=[\s,.:;)])', text):
        assert heading in headings, f"{heading!r} is no section of {one.name}"
    for heading in re.findall(r'"([^"]*\(optional[^"]*)"', text):
        assert heading in headings, f"{heading!r} is no section of {one.name}"
    assert not set(named(text)) - {exercise.number for exercise in all_exercises()}


@every_chapter
def test_a_board_has_room_for_its_sketch(one):
    sketch = section(one, "On the board").partition("```text\n")[2].partition("```")[0].splitlines()
    assert 6 <= len(sketch) <= 16 and max(map(len, sketch)) <= 72


@every_chapter
def test_the_room_is_asked_enough_and_hears_two_answers(one):
    questions = re.split(r"\n(?=\d\. \*\*)", section(one, "Questions for the room"))[1:]
    assert 3 <= len(questions) <= 6
    assert all(flat(text).count("*One hopes for:*") == flat(text).count("*One gets:*") == 1 for text in questions)


# What checks say --------------------------------------------------------------------------------------------------


def misconceptions(one: Chapter) -> list[tuple[str, str]]:
    """(exercise, sentence) of each row of the table."""
    return re.findall(r'^\| .+ \| (\d+[a-z]?\.\d) \| "(.+)" \|$', section(one, "Misconceptions"), flags=re.M)


@cache
def said(number: str, index: int) -> str:
    return " ".join(check(number, PROOFS[number]["wrong"][index][0]).lines).replace("\n", " ")


def is_said(number: str, sentence: str) -> bool:
    """Whether a proven mistake hears it; those first whose proven words are in it, so that few checks run."""
    phrases = [phrase for _, phrase in PROOFS[number]["wrong"]]
    order = sorted(range(len(phrases)), key=lambda i: phrases[i] not in sentence)
    return any(sentence in said(number, i) for i in order)


@every_chapter
def test_the_check_says_what_a_page_quotes(one):
    found = misconceptions(one)
    assert 3 <= len(found) <= 5 == len(re.findall(r"^\| .+ \| \d", section(one, "Misconceptions"), flags=re.M))
    for number, sentence in found:
        assert number in one.exercises
        assert is_said(number, sentence.replace("\\|", "|")), f"no proven mistake of {number} hears: {sentence}"


def test_a_sentence_that_nobody_says_is_not_taken_for_one():
    assert is_said("3.1", "1 is e to the score.")
    assert not is_said("3.1", "An attention weight is always negative.")


# Plans, links, words ----------------------------------------------------------------------------------------------


def plans() -> dict[str, list[list[str]]]:
    """The cells of each plan's table, by the plan's heading."""
    parts = re.split(r"^## ", read(TEACHING / "plans.md"), flags=re.M)[1:]
    return {
        part.splitlines()[0]: [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in part.splitlines()
            if re.match(r"\| \d", line)
        ]
        for part in parts
    }


def numbers(cells: list[str]) -> list[str]:
    return [number for cell in cells for number in re.findall(r"/ch(\d\d[a-z]?)_\w+/teaching\.md\)", cell)]


def test_a_plan_teaches_what_a_chapter_needs_before_it():
    counts = {}
    for name, table in plans().items():
        order = [number for row in table for number in numbers(row)]
        assert order and not missing_before(order, COURSE), (name, missing_before(order, COURSE))
        counts[name] = {number: order.count(number) for number in order}
    six, twelve, days = counts.values()
    classes = {one.number: class_count(one) for one in COURSE}
    assert six == {number: count for number, count in classes.items() if number <= "13"}
    assert twelve == classes
    assert set(days) == {f"{number:02}" for number in range(9)}


def test_the_home_work_of_a_week_is_as_stated():
    for name, table in list(plans().items())[:2]:
        seen: set[str] = set()
        for row in table:
            new = set(numbers(row)) - seen
            assert int(row[-1]) == sum(map(home_minutes, new)), (name, row)
            seen |= new


def test_a_day_has_the_hours_that_it_says():
    table = list(plans().values())[2]
    for day in ("1", "2"):
        assert sum(int(row[1]) for row in table if row[0] == day) == 360
    for row in table:
        for number in named(row[3]):
            assert chapter_of(number) in numbers(row), f"{number} is no exercise of that chapter"


def test_every_link_leads_somewhere():
    for path in [*sorted(TEACHING.glob("*.md")), *map(page_of, COURSE)]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", read(path)):
            assert (path.parent / link).exists(), f"{path.name} links {link}"


def test_the_times_and_the_graph_are_up_to_date():
    path = TEACHING / "README.md"
    assert refreshed(read(path), COURSE) == read(path), "`bertedu build` writes it"


def test_the_disk_is_what_the_makefile_says():
    stated = re.findall(r"\.venv will have (\d\.\d GB)", read(ROOT / "Makefile"))
    assert len(stated) == 3
    disk = next(line for line in read(TEACHING / "README.md").splitlines() if line.startswith("| disk, to work"))
    assert all(size in disk for size in stated)
    assert "2.1 GB of memory" in read(ROOT / "README.md") and "| memory of `make bert` | 2.1 GB |" in read(
        TEACHING / "README.md"
    )


def test_every_option_of_a_command_exists():
    from bertedu.cli import main  # the commands are heavy to import

    for path in own_pages():
        for name, options in re.findall(r"bertedu (pretrain|finetune|doctor)([^`#\n]*)", read(path)):
            known = {text for option in main.get_command(None, name).params for text in option.opts}
            assert set(re.findall(r"--[\w-]+", options)) <= known, f"{path.name}: bertedu {name}{options}"
    for path in re.findall(r"data/[\w/-]+", read(TEACHING / "projects.md") + read(TEACHING / "plans.md")):
        assert (ROOT / path).exists(), path


# The exam ---------------------------------------------------------------------------------------------------------


@cache
def answer(number: int) -> str:
    text = read(TEACHING / "exam.md").partition("## Model answers")[2].partition("## Rubric")[0]
    return " ".join(re.search(rf"^\*\*{number}\.\*\*(.+?)(?=^\*\*\d+\.\*\*|\Z)", text, flags=re.M | re.S)[1].split())


def test_the_points_of_the_exam_add_up():
    text = read(TEACHING / "exam.md")
    points = [int(n) for n in re.findall(r"^\*\*\d+ · [\w -]+ \((\d+)\)\.\*\*", text, flags=re.M)]
    assert len(points) == 10 and sum(points) == 90
    rubric = re.findall(r"^\| (\d+) \((\d+)(?:; ([\w ,]+))?\)", text, flags=re.M)
    assert [int(n) for _, n, _ in rubric] == points
    assert all(not parts or sum(map(int, re.findall(r"\d+", parts))) == int(n) for _, n, parts in rubric)


def test_the_exams_answers_about_tokens_and_embeddings_are_right():
    vocabulary = set(re.search(r"`\{(.+?)\}`", read(TEACHING / "exam.md"))[1].split(", "))
    for word in ("under", "undone", "undo"):
        assert f"`{' '.join(split_word(word, vocabulary))}`" in answer(1)
    table = torch.nn.Embedding(5, 1, padding_idx=0)
    table(torch.tensor([3, 1, 3, 0])).sum().backward()
    assert f"(a) {', '.join(f'{g:.0f}' for g in table.weight.grad.flatten().tolist())}:" in answer(2)


def test_the_exams_answers_about_attention_and_layers_are_right():
    query = torch.tensor([[[[2.0, 2, 0, 0]]]])
    key = torch.tensor([[[[1.0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]]])
    value = torch.tensor([[[[3.0], [-1], [1]]]])
    output, weights = attend(query, key, value)
    shown = ", ".join(f"{w:.2f}" for w in weights.flatten().tolist())
    assert f"Weights {shown}; output {output.item():.2f}" in answer(3)
    bias = torch.tensor([0.0, 0, -1e9]).view(1, 1, 1, 3)
    hidden, masked = attend(query, key, value, bias)
    assert "Weights " + ", ".join(f"{w:.2f}".replace("0.00", "0") for w in masked.flatten().tolist()) in answer(3)
    assert f"output {hidden.item():.2f}" in answer(3)
    assert f"sum to {weights.flatten()[:2].sum():.2f} " in answer(3)
    sizes = {"vocab_size": 30, "num_hidden_layers": 1, "hidden_size": 16, "intermediate_size": 64}
    for heads in (4, 8):
        layer = EncoderLayer(BertConfig(num_attention_heads=heads, **sizes))
        assert f" {sum(p.numel() for p in layer.parameters())}" in answer(4)


def test_the_exams_answers_about_pre_training_are_right():
    losses = [-math.log(math.e / (math.e + 2)), math.log(3)]
    loss = sum(losses) / 2
    assert f"(b) {losses[0]:.2f} and {losses[1]:.2f}; the loss is {loss:.2f}, the perplexity {math.exp(loss):.2f}" in (
        answer(5)
    )
    assert f"(c) {sum(losses) / 6:.2f}" in answer(5)
    chosen = round(0.15 * 200)
    assert f"{chosen} chosen; {0.8 * chosen:.0f} are [MASK], {0.1 * chosen:.0f} random" in answer(5)
    assert f"= {0.3 + 0.7 * 0.5:.0%}".replace("%", " %") in answer(6)
    first, pairs = math.log(8192), math.log(2)
    assert f"{first:.2f} + {pairs:.2f} = {first + pairs:.2f}" in answer(7)
    assert f"(c) {(10 * 4 + 30 * 2) / 40}; the average of the two is {(4 + 2) / 2:.1f}" in answer(7)


def test_the_exams_answers_about_fine_tuning_are_right():
    assert f"ln 3 = {math.log(3):.2f}" in answer(8)
    assert f"= {(10 * abs(0.9 - 0.8) + 10 * abs(0.7 - 0.7)) / 20:.2f}" in answer(8)
    precision, recall = 2 / 4, 2 / 3
    f1 = 2 * precision * recall / (precision + recall)
    assert f"Precision {precision:.2f}, recall {recall:.2f}, F1 {f1:.2f}" in answer(9)
    start, end, words = (2, 1, 3), (0, 4, 1), ("old", "grey", "fox")
    spans = {(i, j): start[i] + end[j] for i, j in product(range(3), repeat=2) if i <= j}
    i, j = max(spans, key=spans.get)
    null = 1.5 + 1.0
    assert f"*{words[i]} {words[j]}*, {start[i]} + {end[j]} = {spans[i, j]}" in answer(9)
    assert f"no-answer score {null} − {spans[i, j]} = −{spans[i, j] - null}" in answer(9)
    assert ("abstains" in answer(9)) == (null - spans[i, j] > -4)


def test_the_exams_answers_about_the_family_are_right():
    assert f"(a) {20_000 * 512:,} and {20_000 * 64 + 64 * 512:,}" in answer(10)
    chosen = 0.15 * 80
    assert f"{chosen:.0f} chosen, {chosen / 4:.0f} lucky guesses, {chosen * 3 / 4:.0f} labels" in answer(10)
    assert "(4, 0)" in answer(10) and 7 - 3 == 4 - 0 != 3 - 7


def test_the_rubric_of_a_project_has_100_points():
    text = read(TEACHING / "projects.md")
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        milestones = [int(n) for n in re.findall(r"^\| \d · .+\| (\d+) \|$", part, flags=re.M)]
        rubric = [int(n) for n in re.findall(r"^\| [\w ]+ \((\d+)\) \|", part, flags=re.M)]
        assert len(milestones) == 4 and sum(milestones) == 100
        assert len(rubric) == 5 and sum(rubric) == 100
