"""The cheat sheet: its numbers, its two pages, and that it needs nothing else."""

import re
from functools import cache

import pytest
from click.testing import CliRunner

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.interview.cheat_sheet import cheat_sheet
from bertedu.visualization.printing import find_browser


@cache
def page() -> str:
    return cheat_sheet()


def row(name: str) -> list[str]:
    """The cells of the row that is called so, as text."""
    found = re.search(rf"<tr><th scope='row'>{re.escape(name)}</th>(.*?)</tr>", page())
    return re.findall(r"<td[^>]*>(.*?)</td>", found[1])


@pytest.fixture
def browser() -> str:
    try:
        return find_browser()
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("token embeddings V·D", ["23.4 M", "31.3 M"]),  # 30522 · 768 = 23440896
        ("a layer ≈ 12·D²", ["7.1 M", "12.6 M"]),
        ("encoder with pooler", ["109.5 M", "335.1 M"]),  # Devlin et al. 2019, section 3: 110 and 340 M
        ("attention weights", ["[B, 12, T, T]", "25.17 MB"]),  # 32 · 12 · 128 · 128 · 4 bytes
        ("weights fp32 / fp16", ["438 / 219 MB", "1,341 / 670 MB"]),
        ("+ gradients + AdamW, 16 B each", ["1.75 GB", "5.36 GB"]),
        ("of it T² part at T = 512", ["10%", "8%"]),  # T / (6·D + T)
    ],
)
def test_the_numbers_of_bert_are_right(name, numbers):
    assert row(name) == numbers


@pytest.mark.parametrize(
    ("member", "encoder"),
    # As published: Liu et al. 2019 (125 M), Lan et al. 2020 (12 M), Sanh et al. 2019 (66 M), Warner et al. 2024 (149
    # M), the model cards of DeBERTa-v3-base (86 M in the layers, 98 M in the embeddings) and xlm-roberta-base (278 M).
    [
        ("RoBERTa", 125),
        ("XLM-R", 278),
        ("ALBERT", 12),
        ("DistilBERT", 66),
        ("DeBERTa v3", 86 + 98),
        ("ModernBERT", 149),
    ],
)
def test_every_member_has_its_published_size(member, encoder):
    assert row(member)[0] == f"{encoder} M"


def test_the_sheet_fetches_nothing_and_shows_no_python():
    assert "http" not in page() and "src=" not in page() and "<script" not in page()
    assert "{" not in page().partition("</style>")[2] and "ln V = 10.33" in page()
    assert "score<sub>t−1</sub>(x)" in page() and "log Σ exp(z) − z<sub>y</sub>;" in page()


def test_the_sheet_prints_on_two_pages(tmp_path, browser):
    out = tmp_path / "sheet.pdf"
    done = CliRunner().invoke(main, ["interview", "export", "--format", "pdf", "--cheat-sheet", "--output", str(out)])
    assert done.exit_code == 0, done.output
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", out.read_bytes())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["sheet.pdf"], "what was printed beside it stays"


def test_no_cards_are_made_of_the_cheat_sheet(tmp_path):
    arguments = ["--format", "anki", "--cheat-sheet", "--output", str(tmp_path / "cards.txt")]
    done = CliRunner().invoke(main, ["interview", "export", *arguments])
    assert done.exit_code != 0 and "no deck of cards" in done.output and not list(tmp_path.iterdir())
