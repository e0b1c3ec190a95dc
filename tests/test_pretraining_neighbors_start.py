"""The start in which two heads attend to the neighbors: exactly which tokens, and that nothing else has changed."""

import math

import numpy as np
import pytest
import torch

from bertedu.config import BertConfig
from bertedu.model import BertForPreTraining
from bertedu.pretraining.initialization import (
    EMBEDDING_DEVIATION,
    POSITION_AMPLITUDE,
    SLOWEST,
    initialize_for_matching,
    sinusoids,
)
from bertedu.pretraining.neighbors_start import FASTEST, NEIGHBOR_SCORE, initialize_for_neighbors, rotated

# Words 5 to 14 stand where words 15 to 24 do, between the same neighbors; the others anywhere.
DRAWN = np.random.default_rng(0)
BETWEEN = [[25 + i % 7, 5 + i % 20, 40 + i % 7, *DRAWN.integers(50, 499, 3)] for i in DRAWN.integers(0, 10_000, 4000)]
TOKENS = np.concatenate(BETWEEN)


def begun(matching: bool = False, preset: str = "tiny", length: int = 64) -> BertForPreTraining:
    torch.manual_seed(0)
    model = BertForPreTraining(BertConfig.preset(preset, vocab_size=500, max_position_embeddings=length))
    if matching:
        initialize_for_matching(model, torch.from_numpy(np.bincount(TOKENS, minlength=500)))
    else:
        initialize_for_neighbors(model, TOKENS)
    return model.eval()


@pytest.mark.parametrize(("preset", "length"), [("tiny", 64), ("mini", 128)])
def test_the_heads_attend_to_their_neighbours(preset, length):
    """Rotated the wrong way the two heads are swapped; with slow waves, or two of them swapped, neither is sharp."""
    model = begun(preset=preset, length=length)
    ids = torch.randint(1, 500, (20, length), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        weights = model.bert(ids, output_attentions=True).attentions[0].mean(dim=0)  # [H, T, T]
    for head, distance in enumerate((-1, 1)):
        inside = weights[head].diagonal(distance)
        assert float(inside.mean()) > 0.2, f"head {head}"  # 1 / 64 and 1 / 128 where it attends to all alike
        others = [float(weights[head].diagonal(other).mean()) for other in (-distance, 0, 2 * distance)]
        assert max(others) < float(inside.mean()) / 3


@pytest.mark.parametrize("distance", [-1, 1, 5])
def test_the_rotation_leads_to_the_neighbours_position(distance):
    """For each wave sin w(i + k) and cos w(i + k) from sin wi and cos wi, also where the head has fewer waves."""
    table = sinusoids(64, 128, fastest=FASTEST)
    for size in (32, 64, 128):
        turned = table[10:50] @ rotated(size, 128, distance).T
        assert torch.allclose(turned, table[10 + distance : 50 + distance, :size], atol=1e-5)


def test_faster_sinusoids_as_defined():
    """The first wave makes FASTEST radians a token, and the last one comes close to 1 / SLOWEST."""
    table = sinusoids(50, 16, fastest=FASTEST)
    for i in range(8):
        frequency = FASTEST / (FASTEST * SLOWEST) ** (2 * i / 16)
        assert table[7, 2 * i] == pytest.approx(math.sin(7 * frequency), abs=1e-5)
        assert table[7, 2 * i + 1] == pytest.approx(math.cos(7 * frequency), abs=1e-5)


def test_the_score_of_the_neighbor_is_the_one_planned():
    """Without the norm, or without √d, it would be too small to find the neighbor, or too large to be unlearned."""
    model = begun()
    bert, first = model.bert, model.bert.encoder.layers[0].attention
    with torch.no_grad():
        inputs = bert.embeddings(torch.randint(1, 500, (50, 64)))
        query, key = first.split_heads(first.query(inputs)), first.split_heads(first.key(inputs))
        scores = (query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))).mean(dim=0)
    for head, distance in enumerate((-1, 1)):
        assert float(scores[head].diagonal(distance).mean()) == pytest.approx(NEIGHBOR_SCORE, rel=0.25)  # words blur it


def test_everything_else_starts_as_with_matching():
    """Only the tables of tokens and positions, and queries and keys of the first layer's first two heads, differ."""
    new, old = begun(preset="mini").state_dict(), begun(True, "mini").state_dict()
    changed = {name for name in old if not torch.equal(new[name], old[name])}
    attention = "bert.encoder.layers.0.attention"
    tables = {"bert.embeddings.position.weight", "bert.embeddings.token.weight", "masked_lm.decoder.weight"}
    assert changed == {*tables, f"{attention}.query.weight", f"{attention}.key.weight"}
    for part in ("query", "key"):
        assert torch.equal(new[f"{attention}.{part}.weight"][128:], old[f"{attention}.{part}.weight"][128:])
    assert new["bert.embeddings.position.weight"].abs().max() == pytest.approx(POSITION_AMPLITUDE, rel=0.01)


def test_words_begin_with_what_was_counted():
    """Words between the same neighbors are alike; those that the text holds are as long as with matching."""
    model = begun()
    table = model.bert.embeddings.token.weight.detach()
    assert float(table[model.config.pad_token_id].abs().max()) == 0.0
    lengths = table[5:].norm(dim=1)
    assert float(lengths.mean()) == pytest.approx(EMBEDDING_DEVIATION * math.sqrt(128), rel=0.1)
    assert 0 < float(table[1:5].norm(dim=1).max()) < 0.75 * float(lengths.mean())  # [MASK] is in no text
    alike = torch.nn.functional.normalize(table, dim=1)
    kin = (alike[5:15] @ alike[15:25].T).mean()
    others = (alike[5:15] @ alike[100:300].T).mean()
    assert float(kin) > 0.2 and abs(float(others)) < 0.1
