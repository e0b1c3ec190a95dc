"""The reader's own BERT: equal to the package's and to `transformers`, each part called, each fault found and named."""

import re
from dataclasses import replace

import pytest
import torch
from click.testing import CliRunner
from support.cells import Cells

from bertedu.cli import main
from bertedu.corpora.world import world_corpus
from bertedu.course.keeping import Answer, keep, kept_here
from bertedu.course.parts import BY_NUMBER, PARTS
from bertedu.course.rooms import CHAPTERS
from bertedu.errors import UserError
from bertedu.inference import fill_mask
from bertedu.mine import mine
from bertedu.mine.file import save
from bertedu.mine.running import MASKS, package
from bertedu.mine.showing import show
from bertedu.mine.solutions import solutions
from bertedu.mine.trying import working
from bertedu.mine.writing import my_bert

SOLUTIONS = solutions()
EVERY_PART = pytest.mark.parametrize("part", PARTS, ids=lambda part: part.number)
HEADS = "def merge_heads(x):\n    return x.transpose(1, 2).flatten(-2)"


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.chdir(tmp_path)
    kept_here.clear()
    return tmp_path


@pytest.fixture(scope="module")
def whole():
    return show(SOLUTIONS)


def answer(name: str, *pieces: str, imports: tuple[str, ...] = ()) -> Answer:
    return Answer(name, list(imports), list(pieces), "2026-11-29")


def with_answer(number: str, *pieces: str, name: str = "", imports: tuple[str, ...] = ()) -> dict[str, Answer]:
    return SOLUTIONS | {number: answer(name or BY_NUMBER[number].name, *pieces, imports=imports)}


def raising(number: str) -> Answer:
    name = BY_NUMBER[number].name
    if name == "Stack":
        code = 'class Stack(nn.Module):\n    def __init__(self, *_):\n        raise OSError("planted")'
        return answer(name, code, imports=("from torch import nn",))
    return answer(name, f'def {name}(*_, **__):\n    raise OSError("planted")')


def test_all_solutions_are_sixteen_parts_and_equal_transformers(whole):
    assert whole.title == "16 of 16 parts are yours" and not whole.broken
    assert whole.apart == {
        "the package": "hidden states below 1e-05, scores below 1e-04",
        "transformers": "hidden states below 1e-05, scores below 1e-04",
        "transformers in float64": "hidden states below 1e-10, scores below 1e-10",
    }


def test_the_same_word_fills_every_mask_of_chapter_00(whole):
    assert whole.fills == whole.package_fills
    chapter = (CHAPTERS / "ch00_start_here" / "00_start_here.py").read_text(encoding="utf-8")
    assert all(text.partition("[MASK]")[0] in chapter for text in MASKS)


def test_the_program_reads_from_top_to_bottom_in_the_order_of_the_data():
    text = my_bert(SOLUTIONS)
    places = [text.index(f"# ---- yours: exercise {part.number}, ") for part in PARTS]
    assert places == sorted(places)
    assert text.index("def softmax") > text.index("def masked_softmax") and "bertedu.mine.borrowed" not in text
    course = [line for line in my_bert({}).splitlines() if line.strip() and not line.startswith(("#", '"'))]
    assert 120 <= len(course) <= 200, "the course's lines between the parts are few"
    assert max(map(len, text.splitlines())) <= 120
    bare = my_bert({})
    assert all(f"from bertedu.mine.borrowed import {part.name}\n" in bare for part in PARTS)


@pytest.mark.slow
@EVERY_PART
def test_a_part_that_raises_is_named_and_the_package_stands_in(part):
    program, broken = working(SOLUTIONS | {part.number: raising(part.number)})
    assert [one.number for one in broken] == [part.number]
    assert f"{part.number}, {part.title}, stopped it: OSError: planted" in str(broken[0])
    assert 'The line is: raise OSError("planted")' in str(broken[0]) and "its check should have seen this" in str(
        broken[0]
    )
    assert program.lit() == {other.number for other in PARTS} - {part.number}


@pytest.mark.slow(cases=4)
@EVERY_PART
def test_each_part_alone_is_lit_alone(part):
    program, broken = working({part.number: SOLUTIONS[part.number]})
    assert not broken and program.lit() == {part.number}


def test_a_part_that_is_never_called_is_never_lit():
    unused = "from bertedu.mine.borrowed import merge_heads as borrowed"
    dead = answer("merge_heads", "def merge_heads(x):\n    return borrowed(x)", imports=(unused,))
    program, _ = working({"3.3": dead})
    assert program.lit() == {"3.3"}
    program.calls["3.3"] = 0
    assert program.lit() == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        ("3.3", "def merge_heads(x):\n    return x.reshape(x.shape[0], x.shape[2], -1)", "hidden states differ by"),
        ("2.4", "def position_ids(attention_mask):\n    return attention_mask * 511", "IndexError"),
        ("4.2", "def gelu(x, tanh=False):\n    return x.relu()", "hidden states differ by"),
        ("8.2", "def adamw_step(weight, gradient, mean, square, step, rate):\n    return weight, mean, square",
         "after two steps of training, weights differ"),
        ("6.2", "def corrupt(input_ids, chosen, mask_token_id, vocab_size):\n    return input_ids, input_ids",
         "the labels are not the ids of the chosen tokens"),
        ("6.3", "def mlm_loss(logits, labels):\n    return logits.sum() * 0", "weights differ by"),
        ("7.2", "def cut(first, second, max_tokens, rng):\n    return first, second", "a pair is longer"),
        ("1.2", "def split_word(word, vocab):\n    return ['[UNK]']", "and the package's tokenizer gives others"),
        ("5.3", "def our_name(name):\n    return name", "KeyError"),
        ("3.2", "def attention(query, key, value, softmax):\n    return exit()", "SystemExit"),
        ("4.2", "def gelu(x, tanh=False):\n    return no_such_name", "NameError"),
        ("2.3", "layer_norm = 1 / 0", "ZeroDivisionError"),
        ("2.3", "def layer_norm(:", "SyntaxError"),
    ],
)  # fmt: skip
def test_a_part_that_breaks_the_whole_is_found_by_exchanging_one_at_a_time(number, code, reason):
    _, broken = working(with_answer(number, code))
    assert [one.number for one in broken] == [number] and reason in broken[0].reason


def test_two_broken_parts_are_both_found():
    _, broken = working(SOLUTIONS | {number: raising(number) for number in ("3.3", "8.2")})
    assert [one.number for one in broken] == ["3.3", "8.2"]


def test_three_missing_parts_are_borrowed():
    some = {number: one for number, one in SOLUTIONS.items() if number not in ("1.2", "4.4", "8.5")}
    shown = show(some)
    assert shown.title == "13 of 16 parts are yours" and not shown.broken and shown.fills == shown.package_fills
    assert "· 4.4 the stack" in repr(shown) and "✓ 4.3 the layer" in repr(shown)


def test_a_part_may_print_be_slow_and_use_another_library():
    answers = with_answer(
        "4.2",
        "def gelu(x, tanh=False):\n    print('noise')\n    time.sleep(0.002)\n"
        "    return x * torch.from_numpy(ndtr(x.detach().numpy())).to(x) if not x.requires_grad else F.gelu(x)",
        imports=("import time", "import torch", "import torch.nn.functional as F", "from scipy.special import ndtr"),
    )
    shown = show(answers)
    assert not shown.broken and "What 4.2 prints is left out here." in shown.notes and "noise" not in repr(shown)


@pytest.mark.slow
def test_a_part_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr("bertedu.mine.trying.SECONDS", 2.0)
    _, broken = working(with_answer("3.3", "def merge_heads(x):\n    while True:\n        pass"))
    assert [one.number for one in broken] == ["3.3"] and "still running after 2 seconds" in broken[0].reason


def test_a_part_that_changes_its_input_is_found():
    code = "def encoder_layer(x, a, a_norm, f, f_norm):\n    x += a(x)\n    x = a_norm(x)\n    return f_norm(x + f(x))"
    _, broken = working(with_answer("4.3", code))
    assert [one.number for one in broken] == ["4.3"]


@pytest.mark.parametrize("name", ["EncoderLayer", "attention", "sum", "torch"])
def test_a_name_that_means_something_else_elsewhere_stays_in_a_box(name):
    helper = f"def {name}(x):\n    return x.transpose(1, 2)"
    own = f"def merge_heads(x):\n    '''Two\nlines.'''\n    return {name}(x).flatten(-2)"
    text = my_bert(with_answer("3.3", helper, own))
    assert "def made_for_3_3():" in text and "'''Two\nlines.'''" in text
    program, broken = working(with_answer("3.3", helper, own))
    assert not broken and "3.3" in program.lit()


def test_a_name_that_is_global_in_an_answer_is_found_in_its_box_too():
    pieces = (
        "HEADS = 0",
        "def merge_heads(x):\n    global HEADS\n    HEADS += 1\n    return x.transpose(1, 2).flatten(-2)",
    )
    assert "        nonlocal HEADS\n" in my_bert(with_answer("3.3", *pieces))
    program, broken = working(with_answer("3.3", *pieces))
    assert not broken and "3.3" in program.lit()


def test_minutes_that_are_no_number_are_told_in_a_sentence():
    with pytest.raises(UserError, match="minutes is 'two': give a number from 0 to 1440"):
        mine("two")


def test_a_helper_of_two_parts_is_written_once_and_a_changed_one_stays_apart():
    helper, other = "def turn(x):\n    return x.transpose(1, 2)", "def turn(x):\n    return x"
    first = answer("merge_heads", helper, "def merge_heads(x):\n    return turn(x).flatten(-2)")
    gelu = "def gelu(x, tanh=False):\n    return turn(x) * 0.5 * (1 + torch.erf(turn(x) / 2**0.5))"
    for text, times in ((helper, 1), (other, 2)):
        second = answer("gelu", text, gelu, imports=("import torch",))
        assert my_bert(SOLUTIONS | {"3.3": first, "4.2": second}).count("def turn") == times
    assert not working(SOLUTIONS | {"3.3": first, "4.2": second})[1]


def test_an_answer_of_another_name_is_called_by_the_parts_name():
    program, broken = working(with_answer("3.3", "side = lambda x: x.transpose(1, 2).flatten(-2)", name="side"))
    assert not broken and "merge_heads = side" in program.text


def test_a_changed_file_is_left_as_it_is_and_ours_is_written_anew(own_store):
    path = own_store / "my_bert.py"
    assert save(path, "a = 1") == f"Read it: {path}, 1 lines."
    assert save(path, "a = 2").startswith("Read it: ") and path.read_text().startswith("a = 2")
    path.write_text(path.read_text() + "# mine\n")
    assert "was changed by hand" in save(path, "a = 3") and path.read_text().startswith("a = 2")
    assert "It is not written to a file" in save(own_store / "my_bert.py" / "my_bert.py", "a = 1")


def test_in_a_fresh_kernel_what_was_accepted_before_is_lit(own_store):
    cells = Cells()
    cells.run("from bertedu.course import check", "SIDE = -2", HEADS.replace("-2", "SIDE"), 'check("3.3", merge_heads)')
    shown = Cells().run("from bertedu.mine import mine", "mine()")
    assert shown.lit == {"3.3"} and shown.title == "1 of 16 parts are yours"
    text = (own_store / "my_bert.py").read_text(encoding="utf-8")
    assert "SIDE = -2" in text and text == (own_store / "my_bert.py").read_text()
    assert "1 of 16 parts are yours" in shown._repr_html_() and "My own BERT: 1 of 16 parts are mine" in shown.page()


def test_with_nothing_kept_all_is_borrowed_and_nothing_is_written(own_store, monkeypatch):
    for store in (str(own_store / "other.json"), "off"):
        monkeypatch.setenv("BERTEDU_PROGRESS", store)
        shown = mine()
        assert shown.title == "0 of 16 parts are yours" and "No part is yours yet" in repr(shown)
        assert not list(own_store.glob("my_bert*"))


def run(*arguments: str, typed: str = ""):
    return CliRunner().invoke(main, ["mine", *arguments], input=typed)


def merge_heads(x):
    return x.transpose(1, 2).flatten(-2)


def test_the_command_shows_what_it_runs_and_asks(own_store):
    keep("3.3", merge_heads)
    refused = run(typed="n\n")
    assert "return x.transpose(1, 2).flatten(-2)" in refused.output and "Run these 1 parts?" in refused.output
    assert "Nothing was run." in refused.output and not list(own_store.glob("my_bert*"))
    ran = run(typed="y\n")
    assert "1 of 16 parts are yours" in ran.output and (own_store / "my_bert.html").exists()
    assert run("--forget", "3.3").output == "The answer to 3.3 is forgotten.\n"
    assert run("--forget", "3.3").exit_code == 2


def test_the_command_shows_teachers_what_it_will_be(own_store):
    done = run("--from-solutions", "--output", str(own_store / "for teachers"))
    assert done.exit_code == 0 and "16 of 16 parts are yours" in done.output
    page = (own_store / "for teachers" / "my_bert.html").read_text(encoding="utf-8")
    assert re.search(r"16 of 16 parts are yours</h1>\s*<p>\d{4}-\d\d-\d\d</p>", page) and "def attention" in page


def test_the_command_ends_with_2_where_a_part_cannot_be_used(own_store):
    kept_here["3.3"] = replace(SOLUTIONS["3.3"], pieces=["def merge_heads(x):\n    raise OSError"])
    done = run("--yes")
    assert done.exit_code == 2 and "3.3, heads, stopped it: OSError" in done.output


@pytest.mark.slow
def test_the_same_word_fills_every_fact_of_the_small_world(whole):
    texts = [probe.sentence for probe in world_corpus().fact_probes]
    expected = [fill_mask(*package(), text, top=1)[0][0][0] for text in texts]
    assert [whole.program.fill(text) for text in texts] == expected


@pytest.mark.slow
def test_it_learns_as_the_package_learns():
    learned = show(SOLUTIONS, minutes=0.05).learned
    assert learned.count >= 2 and learned.yours[-1] < learned.yours[0]
    assert torch.allclose(torch.tensor(learned.yours), torch.tensor(learned.package), atol=0.02)
