"""What pre-training costs: counted once, and stated alike wherever it is stated."""

import re
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from bertedu.config import BertConfig
from bertedu.interview.cheat_sheet import cheat_sheet
from bertedu.model import BertForMaskedLM
from bertedu.training.costs import (
    BASE,
    TOKENS,
    activation_bytes,
    attention_bytes,
    forward_flops,
    hours,
    layer_weights_flops,
    pretraining_flops,
    table,
    training_flops,
)

ROOT = Path(__file__).parents[1]
LARGE = BertConfig.preset("large")
CHAPTERS = ROOT / "bertedu" / "chapters"
SOURCES = {path.name[:2]: path for path in sorted(CHAPTERS.glob("ch*/[0-9][0-9]_*.py"))}
STATED_IN = [
    *SOURCES.values(),
    *sorted(CHAPTERS.glob("ch*/teaching.md")),
    *sorted(CHAPTERS.glob("ch*/quiz.json")),
    *sorted(CHAPTERS.glob("ch*/interview.toml")),
    *sorted((ROOT / "data" / "interview").rglob("*.toml")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
]


def text_of(path: Path) -> str:
    """A file as one long line, without the signs of comments."""
    return re.sub(r"\s+", " ", re.sub(r"^# ?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE))


def rounded(value: float, digits: int = 0) -> str:
    return f"{value:.{digits}f}"


WORK, ALONE = pretraining_flops() / 1e19, layer_weights_flops() / 1e19
# What a place may say (a pattern with one group for the number), and the figures that it may give.
FIGURES = {
    "operations": (r"(\d\.\d) ?· ?10¹⁹|(\d\.\d)e\+?19", {rounded(WORK, 1)}),
    "EFLOP of BERT's budget": (
        r"43 billion tokens would be ([\d.]+) EFLOP|BERT's budget: ([\d.]+) EFLOP",
        {rounded(10 * WORK), rounded(10 * WORK, 1)},
    ),
    "hours on one H100": (
        r"(\d+) hours on (?:one|an) (?:H100|GPU)|4e14 = (\d+) hours|60,000 seconds, (\d+) hours"
        r"|a second: (\d+) hours|6 · 10⁴ seconds, (\d+) hours|in bf16 that is (\d+) hours",
        {rounded(hours(pretraining_flops()))},
    ),
    "days on one A100": (r"([\d.]+) days on one A100", {rounded(hours(pretraining_flops(), "A100") / 24, 1)}),
    "tokens": (
        r"(\d+) billion tokens(?: make| at 6|, 560)|pre-training read (\d+) billion|at most (\d+) billion tokens"
        r"|budget of (\d+) billion",
        {rounded(TOKENS / 1e9)},
    ),
    "attention's memory": (
        r"keeps ([\d.]+) GB and the rest|it is ([\d.]+) GB, and all other|5\.1 and ([\d.]+) GB\."
        r"|and ([\d.]+) GB\.\s*Now",
        {rounded(attention_bytes(BASE, 32, 512, size) / 1e9, 1) for size in (2, 4)},
    ),
}


def test_the_products_are_those_that_torch_counts():
    config = BertConfig.preset("tiny", vocab_size=1000, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, ids = BertForMaskedLM(config), torch.randint(5, 1000, (2, 64))
    with FlopCounterMode(display=False) as counter:
        model(ids, labels=ids, output_attentions=True).loss.backward()
    counted = counter.get_total_flops() / ids.numel()
    assert counted == pytest.approx(training_flops(config, 64, masked=1.0), rel=0.02)


def test_the_recipe_is_the_published_one():
    by_hand = 2 * 12 * (4 * 768 * 768 + 2 * 768 * 3072 + 2 * 128 * 768)
    assert forward_flops(BASE, 128) == by_hand
    head = 2 * 0.15 * (768 * 768 + 768 * 30522)
    assert training_flops(BASE, 128) == pytest.approx(3 * (by_hand + head))
    short, long = 900_000 * 256 * 128, 100_000 * 256 * 512
    assert short + long == TOKENS
    assert pretraining_flops() == pytest.approx(short * training_flops(BASE, 128) + long * training_flops(BASE, 512))


def test_activations_are_the_bytes_of_korthikanti_and_others():
    pairs, vectors = 12 * 32 * 12 * 512 * 512, 12 * 32 * 512 * 768
    assert attention_bytes(BASE, 32, 512) == 5 * pairs and attention_bytes(BASE, 32, 512, size=4) == 9 * pairs
    assert activation_bytes(BASE, 32, 512) == 34 * vectors


@pytest.mark.parametrize("what", FIGURES)
def test_every_place_states_the_figure_of_the_table(what):
    pattern, allowed = FIGURES[what]
    places = 0
    for path in STATED_IN:
        text = text_of(path)
        for found in re.finditer(pattern, text):
            number = next(group for group in found.groups() if group)
            around = text[max(0, found.start() - 60) : found.end() + 90]
            part = what == "operations" and number == rounded(ALONE, 1) and re.search("weights|pencil", around)
            assert number in allowed or part, f"{path.name}: {around}"
            places += 1
    assert places, f"no place states {what}: is the pattern still right?"


def test_no_place_states_what_was_counted_otherwise():
    other = re.compile(r"\b(?:23 EFLOP|4\.8 GB|9\.7 GB|(?<!about )1[5689] hours)\b")
    for path in STATED_IN:
        assert not (found := other.search(text_of(path))), f"{path.name}: {found[0]}"


def test_every_chapter_that_states_the_costs_takes_them_from_the_package():
    for chapter in ("08", "22", "25"):
        source = SOURCES[chapter].read_text(encoding="utf-8")
        assert "from bertedu.training.costs import" in source and "0.35 * 989" not in source


def test_the_cheat_sheet_gives_the_figures_of_the_table():
    sheet = re.sub(r"<[^>]+>", " ", cheat_sheet())
    for config in (BASE, LARGE):
        work = pretraining_flops(config)
        assert f" {work / 1e18:.0f} EFLOP " in sheet and f" {hours(work):.0f} h " in sheet
        kept = [attention_bytes(config, 32, 512, size) / 1e9 for size in (4, 2)]
        assert f"{kept[0]:.1f} / {kept[1]:.1f} GB" in sheet


def test_the_table_has_what_the_course_states():
    for figure in ("24 EFLOP", "22 EFLOP", "17 hours", "53 hours", "43 billion", "10.9 GB", "6.0 GB", "558 MFLOP"):
        assert figure in table()
