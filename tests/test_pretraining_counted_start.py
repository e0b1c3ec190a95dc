"""The start by counting: what each head can do before the first step."""

import numpy as np
import pytest
import torch

from bertedu.config import BertConfig
from bertedu.model import BertForPreTraining
from bertedu.pretraining.counted_start import blocks, initialize_by_counting

VOCAB, LENGTH, SEP = 400, 32, 3


@pytest.fixture(scope="module")
def model() -> BertForPreTraining:
    return started("tiny")


def started(preset: str, **changes: int) -> BertForPreTraining:
    torch.manual_seed(0)
    sizes = {"vocab_size": VOCAB, "max_position_embeddings": LENGTH, **changes}
    model = BertForPreTraining(BertConfig.preset(preset, **sizes))
    tokens = 5 + np.random.default_rng(0).zipf(1.3, 20_000) % (VOCAB - 5)
    initialize_by_counting(model, tokens.astype(np.int32))
    return model.eval()


def pairs(shared: int) -> tuple[torch.Tensor, torch.Tensor]:
    """200 pairs of two segments of 14 words, of which so many stand in both: input_ids and token_type_ids."""
    generator = torch.Generator().manual_seed(1)
    rows = []
    for _ in range(200):
        words = 5 + torch.randperm(VOCAB - 5, generator=generator)[:28]
        first, second = words[:14], words[14:].clone()
        second[:shared] = first[:shared]
        rows.append(torch.cat([torch.tensor([2]), first, torch.tensor([SEP]), second, torch.tensor([SEP])]))
    token_types = torch.tensor([0] * 16 + [1] * 15).expand(200, -1)
    return torch.stack(rows), token_types


@torch.no_grad()
def attention_of(model: BertForPreTraining, ids: torch.Tensor, token_types: torch.Tensor, layer: int, head: int):
    return model.bert(ids, None, token_types, output_attentions=True).attentions[layer][:, head]  # [B, T, T]


def test_the_last_head_of_layer_1_finds_equal_words_in_the_other_segment(model):
    """Six nats for equal words against none for others; a copy with the segments in the scores would find its own."""
    equal, unequal = (attention_of(model, *pairs(shared), layer=0, head=-1)[:, 1, 16].mean() for shared in (1, 0))
    assert float(equal) > 5 * float(unequal)


def test_the_first_head_of_layer_1_attends_to_neighbours(model):
    weights = attention_of(model, *pairs(shared=0), layer=0, head=0)
    near = sum(weights[:, 15, 15 + step].mean() for step in (-1, 0, 1))
    far = sum(weights[:, 15, place].mean() for place in (2, 5, 25))
    assert float(near) > 5 * float(far)


def test_the_last_head_of_layer_2_stays_in_its_segment(model):
    weights = attention_of(model, *pairs(shared=0), layer=1, head=-1)
    assert float(weights[:, 0, :16].sum(dim=-1).mean()) > 0.8


@pytest.mark.parametrize("preset", ["tiny", "mini"])
@torch.no_grad()
def test_cls_tells_how_many_words_the_segments_share_before_any_training(preset):
    """One direction must tell pairs with words in common from pairs without; with the published start none does."""
    model = started(preset)
    if preset == "mini":  # the layers above the second have no job: look behind the second
        model.bert.encoder.layers = model.bert.encoder.layers[:2]
    alike, unlike = (model.bert(ids, None, types).last_hidden_state[:, 0] for ids, types in (pairs(10), pairs(0)))
    direction = alike[:100].mean(dim=0) - unlike[:100].mean(dim=0)
    middle = (alike[:100] @ direction).mean() / 2 + (unlike[:100] @ direction).mean() / 2
    right = torch.cat([alike[100:] @ direction > middle, unlike[100:] @ direction < middle]).float().mean()
    assert float(right) > 0.8


def test_entries_of_positions_segments_matches_and_words_are_apart(model):
    embeddings = model.bert.embeddings
    positions, segments, matches, words = blocks(128)
    assert [part.stop - part.start for part in (positions, segments, matches, words)] == [32, 8, 8, 80]
    tables = {"token": words, "position": positions, "token_type": segments}
    for name, part in tables.items():
        rest = getattr(embeddings, name).weight.detach().clone()
        assert rest[:, part].any()
        rest[:, part] = 0
        assert not rest.any(), name
    assert not embeddings.token.weight[0].any(), "[PAD] has no vector"


@torch.no_grad()
def test_a_gap_takes_over_the_words_of_its_neighbours(model):
    """Behind layer 1 the vector of [MASK] is more like the words beside it than like any others."""
    ids, token_types = pairs(shared=0)
    ids[:, 8] = 4  # [MASK]
    *_, words = blocks(128)
    after = model.bert(ids, None, token_types, output_hidden_states=True).hidden_states[1][:, 8, words]  # [B, 80]
    table = model.bert.embeddings.token.weight[:, words]
    alike = torch.nn.functional.cosine_similarity(after[:, None], table[ids], dim=-1).mean(dim=0)  # [T]
    beside, elsewhere = alike[[7, 9]].mean(), alike[[2, 3, 20, 25]].mean()
    assert beside > elsewhere + 0.05, (beside, elsewhere)


def test_one_layer_one_head_and_hardly_any_text_are_no_trouble():
    torch.manual_seed(0)
    config = BertConfig.preset(
        "tiny", vocab_size=50, max_position_embeddings=8, num_hidden_layers=1, num_attention_heads=1
    )
    for tokens in (np.arange(5, 50), np.arange(5, 9)):
        model = BertForPreTraining(config)
        initialize_by_counting(model, tokens)
        assert all(bool(weight.isfinite().all()) for weight in model.parameters())
