"""One vector for a text: the same whatever stands in the padding."""

import pytest
import torch

from bertedu.config import POOLINGS, BertConfig, TaskConfig
from bertedu.errors import UserError
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.pooling import pool, pooled_size
from bertedu.model.bert import BertModel, BertOutput
from bertedu.tokenization import BertTokenizer


def made_up(layers: int = 5) -> tuple[BertOutput, torch.Tensor]:
    torch.manual_seed(0)
    hidden = tuple(torch.randn(2, 4, 3) for _ in range(layers + 1))
    return BertOutput(hidden[-1], torch.randn(2, 3), hidden), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_takes_no_part_in_the_vector(pooling):
    output, mask = made_up()
    vector = pool(output, mask, pooling)
    assert vector.shape == (2, pooled_size(3, pooling))
    assert torch.isfinite(vector).all()
    for layer in output.hidden_states:
        layer[1, 2:] = 100.0
    assert torch.equal(pool(output, mask, pooling), vector)


def test_each_pooling_is_what_it_says():
    output, mask = made_up()
    last = output.last_hidden_state
    assert torch.allclose(pool(output, mask, "mean")[1], last[1, :2].mean(dim=0))
    assert torch.allclose(pool(output, mask, "max")[1], torch.maximum(last[1, 0], last[1, 1]))
    assert torch.equal(pool(output, mask, "cls"), last[:, 0])
    assert torch.equal(pool(output, mask, "pooler"), output.pooler_output)
    assert torch.equal(pool(output, mask, "last four layers")[:, -3:], last[:, 0])
    assert torch.equal(pool(output, mask, "last four layers")[:, :3], output.hidden_states[2][:, 0])


def test_cls_is_found_at_the_end_where_it_stands_there(monkeypatch):
    """XLNet's <cls> is the last token of a text, which in a padded batch is not the last column."""
    output, mask = made_up()
    last = output.last_hidden_state
    assert torch.equal(pool(output, mask, "cls", cls_at_end=True), torch.stack([last[0, 3], last[1, 1]]))
    at_end = pool(output, mask, "last four layers", cls_at_end=True)
    assert torch.equal(at_end[:, -3:], torch.stack([last[0, 3], last[1, 1]]))
    left = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1]])
    assert torch.equal(pool(output, left, "cls", cls_at_end=True), last[:, 3])
    model = TextClassifier(BertModel(BertConfig(30, 16, 1, 2, 16)), TaskConfig(("a", "b"), pooling="cls")).eval()
    ids = torch.randint(5, 30, (2, 4))
    vectors = model.encoder(ids, mask).last_hidden_state
    assert torch.equal(model.pooled(ids, mask, None), vectors[:, 0])
    monkeypatch.setattr(BertTokenizer, "cls_at_end", True)  # the member's tokenizer says where it stands
    assert torch.equal(model.pooled(ids, mask, None), torch.stack([vectors[0, 3], vectors[1, 1]]))


def test_a_model_without_what_is_asked_for_is_refused_in_words():
    output, mask = made_up(layers=2)
    with pytest.raises(UserError, match="there are 2"):
        pool(output, mask, "last four layers")
    with pytest.raises(UserError, match="no pooler"):
        pool(BertOutput(output.last_hidden_state, None), mask, "pooler")
    with pytest.raises(UserError, match="'sum'"):
        pool(output, mask, "sum")
