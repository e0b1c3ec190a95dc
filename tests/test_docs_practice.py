"""The cards of `docs/practice.md` say what the code says: settings with their defaults, and counted memory."""

import re
from dataclasses import fields

import pytest
import torch
from support.repository import REPOSITORY

from bertedu.config import BertConfig
from bertedu.model import BertModel

PAGE = (REPOSITORY / "docs" / "practice.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]


def test_every_setting_of_a_config_has_its_row_with_the_default_of_base():
    rows = {row[0].strip("`"): row[1].strip("`").replace(",", "") for row in ROWS if re.fullmatch(r"`\w+`", row[0])}
    del rows["BertConfig"]
    own = {field.name: field.default for field in fields(BertConfig)}
    assert rows == {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in own.items()}


@pytest.mark.parametrize(("name", "preset"), [("BERT-Mini", "mini"), ("BERT-Base", "base"), ("BERT-Large", "large")])
def test_the_memory_of_inference_is_counted(name, preset):
    config = BertConfig.preset(preset)
    with torch.device("meta"):
        parameters = sum(weight.numel() for weight in BertModel(config).parameters())
    hidden, heads = config.hidden_size, config.num_attention_heads

    def widest(batch: int, length: int) -> int:
        attention = 5 * batch * length * hidden + 2 * batch * heads * length**2
        return max(attention, batch * length * (2 * hidden + 2 * config.intermediate_size))

    activations = [4 * widest(*size) for size in ((1, 512), (32, 128), (32, 512))]
    counted = [4 * parameters, 2 * parameters, parameters, *activations]
    row = next(row for row in ROWS if row[0] == name)
    assert row[1] == f"{parameters / 1e6:.0f} M"
    assert [int(cell.removesuffix(" MB").replace(",", "")) for cell in row[2:]] == [round(n / 1e6) for n in counted]
