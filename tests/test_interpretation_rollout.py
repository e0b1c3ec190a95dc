"""Rollout against explicit matrices, flow against every cut of a small network."""

from itertools import product

import networkx
import pytest
import torch
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.interpretation.rollout import attention_flow, attention_rollout, with_residual


def random_attentions(layers: int, length: int, heads: int = 2, texts: int = 1, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    shape = (texts, heads, length, length)
    return tuple((3 * torch.randn(shape, generator=generator)).softmax(dim=-1) for _ in range(layers))


def smallest_cut(widths: torch.Tensor, token: int, word: int) -> float:
    """The narrowest way to part the token from the word, by trying all: the most that can flow (max-flow, min-cut)."""
    layers, length = widths.size(0), widths.size(-1)
    joints = list(product(range(layers + 1), range(length)))
    free = [joint for joint in joints if joint not in ((layers, token), (0, word))]
    best = float("inf")
    for sides in product((True, False), repeat=len(free)):
        above = {joint for joint, side in zip(free, sides, strict=True) if side} | {(layers, token)}
        cut = sum(
            widths[layer, i, j].item()
            for layer, i, j in product(range(layers), range(length), range(length))
            if (layer + 1, i) in above and (layer, j) not in above
        )
        best = min(best, cut)
    return best


def test_matrices_are_multiplied_in_the_right_order():
    first = torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    second = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    rollout = attention_rollout((first[None, None], second[None, None]))
    assert rollout.shape == (2, 1, 3, 3)
    assert rollout[0, 0].tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]]
    # row 1 of the second layer: half of token 1 and half of token 2 as they are after the first
    assert rollout[1, 0].tolist() == [[0.75, 0.25, 0], [0.25, 0.375, 0.375], [0, 0.25, 0.75]]


def test_rollout_averages_the_heads_and_keeps_texts_apart():
    attentions = random_attentions(3, 4, heads=3, texts=2)
    rollout = attention_rollout(attentions)
    for text in range(2):
        expected = torch.eye(4)
        for layer in range(3):
            expected = (0.5 * attentions[layer][text].mean(dim=0) + 0.5 * torch.eye(4)) @ expected
            assert torch.allclose(rollout[layer, text], expected, atol=1e-6)
    assert torch.allclose(rollout.sum(dim=-1), torch.ones(3, 2, 4))


def test_rows_that_dropout_thinned_are_made_whole_again():
    thinned = torch.tensor([[0.0, 0.0], [0.5, 0.5]])
    assert with_residual((thinned[None, None],))[0, 0].tolist() == [[1, 0], [0.25, 0.75]]


def test_padding_gets_no_share():
    model, tokenizer = small_model(), small_tokenizer()
    encoding = tokenizer(["the cat sat on the mat .", "the cat"])
    with torch.no_grad():
        together = model(**encoding, output_attentions=True).attentions
        alone = model(**tokenizer("the cat"), output_attentions=True).attentions
    rollout = attention_rollout(together)
    assert not rollout[:, 1, :4, 4:].any()
    assert torch.allclose(rollout[:, 1, :4, :4], attention_rollout(alone)[:, 0], atol=1e-5)
    assert torch.allclose(attention_flow(together, sentence=1)[:4, :4], attention_flow(alone), atol=1e-5)


@pytest.mark.parametrize(("layers", "length"), [(1, 3), (2, 3), (3, 2), (2, 2)])
def test_flow_is_the_smallest_cut(layers, length):
    attentions = random_attentions(layers, length, seed=layers)
    widths = with_residual(attentions)[:, 0]
    flow = attention_flow(attentions)
    for token, word in product(range(length), range(length)):
        assert flow[token, word].item() == pytest.approx(smallest_cut(widths, token, word), abs=1e-6)


def test_flow_through_two_layers_is_the_narrower_pipe_of_each_way():
    attentions = random_attentions(2, 5)
    lower, upper = with_residual(attentions)[:, 0]
    expected = torch.minimum(upper[:, :, None], lower[None]).sum(dim=1)  # Σ_k min(upper[i, k], lower[k, j])
    assert torch.allclose(attention_flow(attentions), expected, atol=1e-6)


def test_no_drop_is_lost_on_the_way_through_many_layers():
    attentions = random_attentions(4, 6)
    widths = with_residual(attentions)[:, 0].double()
    pipes = networkx.DiGraph()
    for layer, i, j in product(range(4), range(6), range(6)):
        pipes.add_edge((layer + 1, i), (layer, j), capacity=widths[layer, i, j].item())
    flow = attention_flow(attentions)
    for token, word in product(range(6), range(6)):
        assert flow[token, word].item() == pytest.approx(
            networkx.maximum_flow_value(pipes, (4, token), (0, word)), abs=1e-6
        )


def test_flow_is_of_the_sentence_asked_for():
    attentions = random_attentions(2, 3, texts=2)
    assert torch.equal(attention_flow(attentions, 1), attention_flow(tuple(layer[1:] for layer in attentions)))
    with pytest.raises(UserError, match="no sentence 2: the batch has the sentences 0 to 1"):
        attention_flow(attentions, 2)


def test_a_word_that_nothing_reaches_does_not_break_the_flow():
    assert attention_flow((torch.eye(3)[None, None],) * 2).tolist() == torch.eye(3).tolist()
