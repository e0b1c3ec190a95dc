"""Sizes, starting weights and refused inputs of the model."""

import pytest
import torch
import transformers
from torch import nn
from torch.testing import assert_close

from bertedu import BertConfig, BertForMaskedLM, BertForPreTraining, BertModel, UserError

SMALL = BertConfig(50, 16, 2, 2, 32, max_position_embeddings=8)


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())  # a tied weight once


@pytest.mark.parametrize(
    ("preset", "published", "encoder", "pretraining"),
    [("base", 110e6, 109_482_240, 110_106_428), ("large", 340e6, 335_141_888, 336_226_108)],
)
def test_parameter_counts_are_those_of_the_paper(preset, published, encoder, pretraining):
    config = BertConfig.preset(preset)
    with torch.device("meta"):  # sizes without memory
        assert count(BertModel(config)) == encoder
        assert count(BertForPreTraining(config)) == pretraining
        sizes = {name: getattr(config, name) for name in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
        theirs = transformers.BertConfig(intermediate_size=config.intermediate_size, **sizes)
        assert count(transformers.BertModel(theirs)) == encoder
        assert count(transformers.BertForPreTraining(theirs)) == pretraining
    assert encoder == pytest.approx(published, rel=0.015)  # "110M" and "340M", rounded


@pytest.mark.parametrize("model_class", [BertModel, BertForPreTraining, BertForMaskedLM])
def test_weights_start_as_published(model_class):
    torch.manual_seed(0)
    model = model_class(BertConfig(3000, 128, 2, 2, 512, max_position_embeddings=512))
    for name, parameter in model.named_parameters():
        if "norm" in name and name.endswith("weight"):
            assert (parameter == 1).all(), name
        elif name.endswith("bias"):
            assert (parameter == 0).all(), name
        else:
            assert parameter.abs().max() <= 2 * 0.02, f"{name} is not cut at two deviations"
            if parameter.numel() > 10_000:  # cutting leaves 0.8796 of the deviation
                assert parameter.mean().abs() < 0.0005, name
                assert parameter.std().item() == pytest.approx(0.8796 * 0.02, rel=0.02), name
                assert parameter.abs().max() > 1.9 * 0.02, name
    table = next(module for module in model.modules() if isinstance(module, nn.Embedding)).weight
    assert (table[0] == 0).all(), "[PAD] starts as zeros"
    assert (table[1:] != 0).any(dim=1).all()


def test_the_initializer_range_is_used():
    torch.manual_seed(0)
    model = BertModel(BertConfig(3000, 64, 1, 2, 64, initializer_range=0.5))
    assert model.embeddings.token.weight.std().item() == pytest.approx(0.44, rel=0.02)


def test_the_seed_decides_the_weights():
    def weights(seed: int) -> list[torch.Tensor]:
        torch.manual_seed(seed)
        return list(BertForPreTraining(SMALL).parameters())

    assert all(torch.equal(one, other) for one, other in zip(weights(4), weights(4), strict=True))
    assert not torch.equal(weights(4)[0], weights(5)[0])


def test_a_head_leaves_the_weights_of_bert_as_drawn():
    torch.manual_seed(4)
    alone = BertModel(SMALL)
    torch.manual_seed(4)
    inside = BertForPreTraining(SMALL).bert
    assert torch.equal(alone.embeddings.token.weight, inside.embeddings.token.weight)
    assert torch.equal(alone.pooler.dense.weight, inside.pooler.dense.weight)


def test_the_decoder_is_tied():
    for model in (BertForPreTraining(SMALL), BertForMaskedLM(SMALL), BertForPreTraining(SMALL).double()):
        assert model.masked_lm.decoder.weight is model.bert.embeddings.token.weight
        assert count(model) == sum(dict(model.named_parameters())[name].numel() for name, _ in model.named_parameters())


def test_segments_and_positions_are_added():
    model = BertModel(SMALL).eval()
    embeddings = model.embeddings
    ids, segments = torch.tensor([[3, 4, 3]]), torch.tensor([[0, 1, 1]])
    table, place, segment = embeddings.token.weight, embeddings.position.weight, embeddings.token_type.weight
    by_hand = torch.stack([table[i] + place[p] + segment[s] for p, (i, s) in enumerate([(3, 0), (4, 1), (3, 1)])])
    by_hand = (by_hand - by_hand.mean(-1, keepdim=True)) / by_hand.var(-1, unbiased=False, keepdim=True).sqrt()
    assert_close(embeddings(ids, segments)[0], by_hand)


def test_the_pooler_reads_the_first_token():
    model = BertModel(SMALL).eval()
    output = model(torch.tensor([[2, 5, 6, 3]]))
    assert_close(output.pooler_output, torch.tanh(model.pooler.dense(output.last_hidden_state[:, 0])))
    assert BertModel(SMALL, add_pooling_layer=False)(torch.tensor([[2, 3]])).pooler_output is None


def test_extras_come_only_when_asked_for():
    output = BertModel(SMALL)(torch.tensor([[2, 5, 6, 3]]))
    assert output.hidden_states is None and output.attentions is None
    asked = BertModel(SMALL)(torch.tensor([[2, 5]]), output_hidden_states=True, output_attentions=True)
    assert len(asked.hidden_states) == 3 and len(asked.attentions) == 2
    assert torch.equal(asked.hidden_states[-1], asked.last_hidden_state)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"input_ids": [[1] * 9]}, "9 tokens and this model 8 positions.*max_length=8"),
        ({"input_ids": [[1, 50]]}, "token id 50 is outside this model's vocabulary of 50"),
        ({"input_ids": [[1, -1]]}, "token id -1 is outside"),
        ({"input_ids": [[1, 2]], "token_type_ids": [[0, 2]]}, "token_type_ids hold 2.*segments 0 to 1"),
        ({"input_ids": [[1, 2]], "token_type_ids": [[1, -3]]}, "token_type_ids hold -3.*segments 0 to 1"),
        ({"input_ids": [1, 2]}, r"input_ids have the shape \[2\].*input_ids\[None\]"),
        ({"input_ids": [[], []]}, r"input_ids have the shape \[2, 0\].*at least one token"),
        ({"input_ids": [[1, 2], [3, 4]], "attention_mask": [[1], [0]]}, r"attention_mask has the shape \[2, 1\]"),
        ({"input_ids": [[1, 2]], "token_type_ids": [[0]]}, r"token_type_ids has the shape \[1, 1\].*\[1, 2\]"),
    ],
)
def test_unusable_inputs_are_refused_with_a_remedy(inputs, words):
    model = BertModel(SMALL)
    with pytest.raises(UserError, match=words):
        model(**{name: torch.tensor(value, dtype=torch.long) for name, value in inputs.items()})
