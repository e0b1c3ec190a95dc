"""The parts of ModernBERT one by one, by hand: rotation, window, norms, initialization, dropout, unpadding."""

import math
from dataclasses import replace

import pytest
import torch
import transformers
from support.family_parity import CLOSE, DIRECTIONS, twins
from torch import nn
from torch.testing import assert_close

from bertedu import UserError
from bertedu.config import TaskConfig
from bertedu.family.modernbert.attention import local_bias
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.model import MODERNBERT, ModernBertModel
from bertedu.family.modernbert.rope import rotate, rotation
from bertedu.family.modernbert.unpadding import encode_unpadded, unpad
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.attention import padding_bias
from bertedu.model.heads import MaskedLM

SMALL = ModernBertConfig(
    97, 32, 5, 4, 48, pad_token_id=3, local_attention=8, global_rope_theta=300.0, local_rope_theta=20.0
)


def test_the_window_is_as_wide_as_the_config_says():
    """local_attention 4 by hand: two tokens on each side, the second of them still seen."""
    bias = local_bias(torch.arange(6), 4, None, torch.float32)
    seen = torch.tensor(
        [
            [1, 1, 1, 0, 0, 0],
            [1, 1, 1, 1, 0, 0],
            [1, 1, 1, 1, 1, 0],
            [0, 1, 1, 1, 1, 1],
            [0, 0, 1, 1, 1, 1],
            [0, 0, 0, 1, 1, 1],
        ]
    )
    assert torch.equal((bias == 0).long(), seen)


@torch.no_grad()
def test_the_right_layers_are_local():
    """Layers 0 and 3 of 5 attend to the whole text, and the farthest pair that a local layer knows is 4 apart."""
    output = ModernBertModel(SMALL).eval()(torch.arange(10, 50)[None], output_attentions=True)
    farthest = [max(i - j for _, _, i, j in (weights > 0).nonzero().tolist()) for weights in output.attentions]
    assert farthest == [39, 4, 4, 39, 4]


def test_a_pair_is_one_entry_of_each_half():
    """By hand, d = 4, theta = 100, position 2: entries 0 and 2 turn by 2 radians, 1 and 3 by 2/10."""
    turned = rotate(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), rotation(torch.tensor([2]), 4, 100.0))
    cosine, sine, cosine_slow, sine_slow = math.cos(2), math.sin(2), math.cos(0.2), math.sin(0.2)
    expected = [
        1 * cosine - 3 * sine,
        2 * cosine_slow - 4 * sine_slow,
        3 * cosine + 1 * sine,
        4 * cosine_slow + 2 * sine_slow,
    ]
    assert_close(turned, torch.tensor([expected]))


def test_a_score_depends_on_how_far_and_not_on_where():
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, 16).double()

    def score(at: int, other: int) -> float:
        here, there = (rotation(torch.tensor([position]), 16, 10_000.0) for position in (at, other))
        return (rotate(query, here) * rotate(key, there)).sum().item()

    assert score(7, 3) == pytest.approx(score(1004, 1000), abs=1e-4) and score(7, 3) != pytest.approx(score(3, 7))


@torch.no_grad()
def test_local_and_global_layers_turn_at_their_own_speed(tmp_path):
    """Each theta alone changes what its layers say: the global one from the first layer, the local from the second."""
    ours = ModernBertModel(SMALL).eval()
    for parameter in ours.parameters():
        nn.init.normal_(parameter)
    ids = torch.arange(10, 30)[None]
    before = ours(ids, output_hidden_states=True).hidden_states
    for name, first in (("global_rope_theta", 1), ("local_rope_theta", 2)):
        ours.config = replace(SMALL, **{name: 77.0})
        after = ours(ids, output_hidden_states=True).hidden_states
        assert [torch.equal(old, new) for old, new in zip(before, after, strict=True)].index(False) == first


def test_the_first_layer_normalises_once_and_no_bias_is_left():
    names = dict(MaskedLM(SMALL).named_parameters())
    norms = [name for name in names if "attention_norm" in name]
    assert norms == [f"encoder.layers.{layer}.attention_norm.weight" for layer in (1, 2, 3, 4)]
    assert [name for name in names if name.endswith("bias")] == ["masked_lm.decoder.bias"]


@torch.no_grad()
def test_padding_far_from_any_word_stays_a_number_in_float16():
    """A window that holds nothing but padding, and a token hidden for two reasons at once."""
    hidden = local_bias(torch.arange(40), 8, padding_bias((torch.arange(40) < 5).long()[None], torch.half), torch.half)
    assert (hidden - 100).isfinite().all()
    model = ModernBertModel(replace(SMALL, hidden_size=16)).half().eval()
    ids = torch.arange(10, 50)[None]
    mask = (torch.arange(40) < 5).long()[None]
    whole = model(ids, mask).last_hidden_state
    assert whole.isfinite().all()
    assert_close(whole[:, :5], model(ids[:, :5]).last_hidden_state, atol=1e-2, rtol=1e-2)


@torch.no_grad()
def test_a_text_longer_than_those_of_training_is_read(tmp_path):
    """There is no table of positions that ends; segments mean nothing, and a tokenizer may mark them all the same."""
    config = replace(SMALL, max_position_embeddings=8)
    ours, theirs = twins(ModernBertModel, transformers.ModernBertModel, config, "ours", tmp_path)
    ids = torch.arange(10, 50)[None]
    assert_close(ours(ids).last_hidden_state, theirs(ids).last_hidden_state, **CLOSE)
    assert torch.equal(ours(ids, token_type_ids=torch.ones_like(ids)).last_hidden_state, ours(ids).last_hidden_state)
    with pytest.raises(UserError, match="token id 97 is outside this model's vocabulary of 97"):
        ours(torch.tensor([[5, 97]]))
    with pytest.raises(UserError, match="attention_mask has the shape"):
        ours(ids, torch.ones(1, 1))


@pytest.mark.parametrize("saved_by", DIRECTIONS)
def test_every_weight_starts_at_its_published_scale(saved_by):
    """The published standard deviations by hand; drawn here, and in `transformers`, where the same test must hold."""
    config = ModernBertConfig(500, 256, 3, 4, 384, pad_token_id=3)
    task = TaskConfig(tuple("abcdefgh"))
    if saved_by == "ours":
        model = TextClassifier.from_config(config, task)
        weights = {
            MODERNBERT.to_transformers(name, "encoder", model.kind): weight
            for name, weight in model.named_parameters()
            if weight.dim() == 2
        }
    else:
        sizes = {"vocab_size": 500, "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4}
        published = transformers.ModernBertConfig(**sizes, intermediate_size=384, pad_token_id=3, num_labels=8)
        model = transformers.ModernBertForSequenceClassification(published)
        weights = {name: weight for name, weight in model.named_parameters() if weight.dim() == 2}
    assert len(weights) == 1 + 3 * 4 + 2
    for name, weight in weights.items():
        small_start = name.endswith("Wo.weight") or name == "head.dense.weight"
        deviation = 1 / 16 if name == "classifier.weight" else 0.02 / math.sqrt(6) if small_start else 0.02
        assert weight.abs().max() <= 2 * deviation * 1.0001, name
        assert weight.std().item() == pytest.approx(0.8796 * deviation, rel=0.05), name


@pytest.mark.parametrize(
    "mask",
    [
        [[1] * 40, [1] * 7 + [0] * 33, [1, 1] + [0] * 38],
        [[0] * 12 + [1] * 28, [1] * 40, [0] * 39 + [1]],
        [[1] * 10 + [0] * 3 + [1] * 27, [0, 1] * 20, [1] * 39 + [0]],
    ],
    ids=["padded at the end", "padded at the start", "gaps"],
)
def test_a_batch_without_its_padding_computes_the_same(mask):
    """A text must not attend to its neighbours in the long sequence, and its window must count its own positions."""
    mask = torch.tensor(mask)
    model = ModernBertModel(SMALL).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    ids = torch.randint(8, SMALL.vocab_size, mask.shape, generator=torch.Generator().manual_seed(0))
    real = mask.bool()
    tokens = unpad(ids, mask)
    assert tokens.input_ids.tolist() == ids[real].tolist() and tokens.texts.bincount().tolist() == mask.sum(1).tolist()
    weights, gradients = torch.randn(3, 40, SMALL.hidden_size), []
    for vectors in (model(ids, mask).last_hidden_state, encode_unpadded(model, ids, mask)):
        (vectors * weights)[real].sum().backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
        model.zero_grad()
    assert_close(encode_unpadded(model, ids, mask)[real], model(ids, mask).last_hidden_state[real], **CLOSE)
    assert not encode_unpadded(model, ids, mask)[~real].any()
    for padded, unpadded in zip(*gradients, strict=True):
        assert_close(unpadded, padded, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "name",
    ["hidden_dropout_prob", "attention_probs_dropout_prob", "embedding_dropout", "classifier_dropout"],
)
def test_every_dropout_of_the_config_is_used(name):
    """Each alone makes training random, also that before the last layer of question answering."""
    for model_class in (TextClassifier, SpanFinder):
        model = model_class.from_config(replace(SMALL, **{name: 0.5}), TaskConfig(("a", "b"))).train()
        first, second = (model(torch.arange(10, 30)[None]) for _ in range(2))
        outputs = ("logits",) if model_class is TextClassifier else ("start_logits", "end_logits")
        assert any(not torch.equal(getattr(first, output), getattr(second, output)) for output in outputs), model_class
    quiet = TextClassifier.from_config(SMALL, TaskConfig(("a", "b"))).train()
    assert torch.equal(quiet(torch.arange(10, 30)[None]).logits, quiet(torch.arange(10, 30)[None]).logits)
