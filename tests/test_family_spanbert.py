"""SpanBERT's two heads: loss and gradients against a second implementation, what is tied, how it is saved."""

import math

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from support.family_parity import CLOSE, perturbed
from torch.testing import assert_close

from bertedu.checkpoints.names import BERT
from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.family.albert import AlbertConfig
from bertedu.family.roberta import RobertaConfig
from bertedu.family.spanbert import BOUNDARY_HEAD, NO_BOUNDARY, SpanBert
from bertedu.inference import open_model
from bertedu.model import BertForPreTraining
from bertedu.model.heads import MaskedLM
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

CONFIGS = [
    BertConfig(40, 16, 2, 2, 24, max_position_embeddings=32),
    BertConfig(37, 24, 1, 3, 20, max_position_embeddings=40, layer_norm_eps=1e-3, hidden_act="gelu_new"),
    BertConfig(50, 8, 3, 1, 16, max_position_embeddings=30, type_vocab_size=1),
    BertConfig(33, 20, 2, 4, 12, max_position_embeddings=29, pad_token_id=3),
    BertConfig(60, 12, 1, 2, 40, max_position_embeddings=28, initializer_range=0.2),
    BertConfig(45, 16, 1, 1, 24, max_position_embeddings=33),
]
CLS, SEP, MASK = 1, 2, 4
LENGTHS = (28, 17, 9)  # real tokens, special ones included
# Row, first and last token of each span: one of 18 tokens, one at [CLS], one at [SEP], one of a single token.
SPANS = [(0, 4, 21), (0, 24, 24), (1, 1, 3), (1, 8, 10), (2, 3, 4), (2, 6, 7)]


def spanbert(config, seed: int = 1) -> SpanBert:
    torch.manual_seed(seed)
    return perturbed(SpanBert.from_config(config))


def hidden_spans(config) -> dict[str, torch.Tensor]:
    """Three padded texts with SPANS hidden; the last span is left as it is, for the model sees a tenth of them so."""
    generator = torch.Generator().manual_seed(2)
    ids = torch.randint(8, config.vocab_size, (3, max(LENGTHS)), generator=generator)
    mask = (torch.arange(ids.size(1)) < torch.tensor(LENGTHS)[:, None]).long()
    ids = ids.where(mask == 1, config.pad_token_id)
    ids[:, 0] = CLS
    for row, length in enumerate(LENGTHS):
        ids[row, length - 1] = SEP
    labels, left, right = torch.full_like(ids, -100), torch.full_like(ids, -1), torch.full_like(ids, -1)
    for row, first, last in SPANS:
        labels[row, first : last + 1] = ids[row, first : last + 1]
        if first > 1 and last < LENGTHS[row] - 2:
            asked = slice(first, min(last, first + 14) + 1)
            left[row, asked], right[row, asked] = first - 1, last + 1
        if (row, first, last) != SPANS[-1]:
            ids[row, first : last + 1] = MASK
    boundaries = {"labels": labels, "left": left, "right": right}
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids), **boundaries}


def plain_loss(bert, head, batch, config):
    """From the paper, section 3.2 and equation 1, span by span and token by token: x_s .. x_e is hidden, and y_k stands
    k-th in it. bert: the BertForMaskedLM of transformers; head: the tensors of the boundary head's file.
    """

    def layer(vector, name):
        out = head[f"{name}_dense.weight"] @ vector + head[f"{name}_dense.bias"]
        if config.hidden_act == "gelu":
            out = 0.5 * out * (1 + torch.erf(out / math.sqrt(2)))
        else:
            out = 0.5 * out * (1 + torch.tanh(math.sqrt(2 / math.pi) * (out + 0.044715 * out**3)))
        variance = (out - out.mean()).square().mean()
        normed = (out - out.mean()) / torch.sqrt(variance + config.layer_norm_eps)
        return normed * head[f"{name}_norm.weight"] + head[f"{name}_norm.bias"]

    inputs = {name: batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    x = bert.bert(**inputs).last_hidden_state
    scores = bert.cls(x)
    embeddings = bert.bert.embeddings.word_embeddings.weight
    of_words, of_boundaries = [], []
    for row, s, e in SPANS:
        for i in range(s, e + 1):
            right = batch["labels"][row, i]
            of_words.append(-scores[row, i].log_softmax(-1)[right])
            k = i - s + 1  # the paper counts from 1
            ends_are_text = s - 1 > 0 and e + 1 < LENGTHS[row] - 1
            if ends_are_text and k <= 15:
                h = torch.cat([x[row, s - 1], x[row, e + 1], head["positions.weight"][k - 1]])
                y = layer(layer(h, "first"), "second")
                of_boundaries.append(-(embeddings @ y + head["decoder.bias"]).log_softmax(-1)[right])
    assert len(of_words) == 29 and len(of_boundaries) == 15 + 1 + 3 + 2
    return sum(of_words) / len(of_words) + sum(of_boundaries) / len(of_boundaries)


@pytest.mark.parametrize("config", CONFIGS)
def test_the_loss_of_both_heads_and_its_gradients_are_those_of_the_paper(config, tmp_path):
    """The wrong boundary token, a position off by one, GELU after the LayerNorm, one mean over both heads' words."""
    model, batch = spanbert(config), hidden_spans(config)
    model.save_pretrained(tmp_path)
    theirs = transformers.BertForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager").eval()
    head = {name: tensor.requires_grad_() for name, tensor in load_file(tmp_path / BOUNDARY_HEAD).items()}
    loss, expected = model(**batch).loss, plain_loss(theirs, head, batch, config)
    assert_close(loss, expected, **CLOSE)
    loss.backward()
    expected.backward()
    by_name = dict(theirs.named_parameters(remove_duplicate=False))
    for name, weight in model.words.named_parameters():
        their = by_name[BERT.to_transformers(name, "encoder", "ForMaskedLM")]
        assert_close(weight.grad, their.grad, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")
    own = {name: weight for name, weight in model.boundary.named_parameters() if name != "decoder.weight"}
    assert own.keys() == head.keys()
    for name, weight in own.items():
        assert_close(weight.grad, head[name].grad, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")


def test_the_boundary_head_does_not_see_the_hidden_tokens():
    """Then it would be a second masked-word head: inside a span no vector may change what it says."""
    config = CONFIGS[0]
    model, batch = spanbert(config), hidden_spans(config)
    vectors = torch.randn(3, max(LENGTHS), config.hidden_size, requires_grad=True)
    scores = model.boundary(vectors, batch["left"], batch["right"])
    assert scores.shape == (21, config.vocab_size)
    scores.square().sum().backward()
    reached = {tuple(at) for at in vectors.grad.abs().sum(-1).nonzero().tolist()}
    asked = [(row, s, e) for row, s, e in SPANS if s > 1 and e < LENGTHS[row] - 2]
    assert reached == {(row, place) for row, s, e in asked for place in (s - 1, e + 1)}


def test_the_boundary_head_shares_the_embeddings_and_has_a_bias_of_its_own():
    model = spanbert(CONFIGS[0])
    embeddings, decoder = model.words.encoder.token_embeddings, model.boundary.decoder
    assert decoder.weight is embeddings.weight is model.words.masked_lm.decoder.weight
    assert decoder.bias is not model.words.masked_lm.decoder.bias
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == len(set(names)) and sum("decoder.weight" in name for name in names) == 0


def test_a_boundary_head_has_the_published_sizes():
    """15 positions of 200 numbers (--max-pair-targets 15, --pair-positional-embedding-size 200), twice dense to D."""
    with torch.device("meta"):
        model = SpanBert.from_config(BertConfig())
    found = {name: list(weight.shape) for name, weight in model.boundary_weights().items()}
    assert found == {
        "positions.weight": [15, 200],
        "first_dense.weight": [768, 2 * 768 + 200],
        "first_dense.bias": [768],
        "first_norm.weight": [768],
        "first_norm.bias": [768],
        "second_dense.weight": [768, 768],
        "second_dense.bias": [768],
        "second_norm.weight": [768],
        "second_norm.bias": [768],
        "decoder.bias": [30522],
    }
    assert model.boundary.first_norm.eps == model.boundary.second_norm.eps == 1e-12


def test_a_new_boundary_head_leaves_the_embeddings_and_starts_as_published():
    """Its decoder is the embeddings: with a new head, the BERT that was loaded must be as it was."""
    torch.manual_seed(0)
    words = MaskedLM(CONFIGS[0])
    before = {name: weight.clone() for name, weight in words.state_dict().items()}
    model = SpanBert(words)
    assert all(torch.equal(weight, before[name]) for name, weight in words.state_dict().items())
    for name in ("positions.weight", "first_dense.weight", "second_dense.weight"):
        weight = model.boundary.get_parameter(name)
        assert abs(float(weight.detach().std()) - 0.0176) < 0.003, name  # 0.02, cut off at twice that
    assert not model.boundary.first_dense.bias.any() and not model.boundary.decoder.bias.any()


def test_what_is_saved_is_a_plain_bert_with_the_boundary_head_beside_it(tmp_path):
    """The folder opens as a masked-word model here and in transformers, with nothing missing and nothing left over."""
    config = BertConfig(7, 16, 2, 2, 24, max_position_embeddings=14)
    model = spanbert(config)
    model.save_pretrained(tmp_path)
    BertTokenizer([*SPECIAL_TOKENS, "cat", "."]).save_pretrained(tmp_path)
    again = SpanBert.from_pretrained(tmp_path)
    assert not again.training and again.boundary.decoder.weight is again.words.encoder.token_embeddings.weight
    assert all(torch.equal(old, again.state_dict()[name]) for name, old in model.state_dict().items())
    assert again.identity() == model.identity()
    opened, _ = open_model(tmp_path)
    theirs, said = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path, output_loading_info=True)
    assert type(opened) is MaskedLM and type(theirs) is transformers.BertForMaskedLM and not any(said.values()), said
    ids = torch.tensor([[2, 5, 4, 6, 3]])
    assert_close(opened(ids).prediction_logits, theirs(ids).logits, **CLOSE)
    assert_close(opened(ids).prediction_logits, model.words(ids).prediction_logits, **CLOSE)
    assert sorted(path.name for path in tmp_path.iterdir() if "safetensors" in path.name) == [
        BOUNDARY_HEAD, "model.safetensors"
    ]  # fmt: skip


def test_going_on_from_a_bert_without_a_boundary_head_is_told(tmp_path):
    torch.manual_seed(0)
    bert = BertForPreTraining(CONFIGS[0])
    bert.save_pretrained(tmp_path)
    with (
        pytest.warns(UserWarning, match="no place in this model for"),
        pytest.warns(UserWarning, match=f"has no {BOUNDARY_HEAD}: the boundary head starts untrained"),
    ):
        model = SpanBert.from_pretrained(tmp_path, hidden_dropout_prob=0.3)
    assert torch.equal(model.words.masked_lm.dense.weight, bert.masked_lm.dense.weight)
    assert torch.equal(model.words.encoder.token_embeddings.weight, bert.bert.token_embeddings.weight)
    assert model.config.hidden_dropout_prob == 0.3


def test_a_boundary_head_of_another_model_is_refused(tmp_path):
    first, other = spanbert(CONFIGS[0]), spanbert(CONFIGS[1])
    first.save_pretrained(tmp_path)
    save_file(other.boundary_weights(), tmp_path / BOUNDARY_HEAD)
    with pytest.raises(UserError, match=r"decoder\.bias has the shape \[37\], and this model's has \[40\]"):
        SpanBert.from_pretrained(tmp_path)
    weights = first.boundary_weights()
    save_file({name: weights[name] for name in weights if name != "second_norm.bias"}, tmp_path / BOUNDARY_HEAD)
    with pytest.raises(UserError, match=r"second_norm\.bias has the shape None"):
        SpanBert.from_pretrained(tmp_path)
    save_file({**weights, "decoder.bias": torch.full((40,), math.nan)}, tmp_path / BOUNDARY_HEAD)
    with pytest.raises(UserError, match="holds infinite numbers or NaN"):
        SpanBert.from_pretrained(tmp_path)
    (tmp_path / BOUNDARY_HEAD).write_bytes(b"no tensors")
    with pytest.raises(UserError, match="is damaged or cut short"):
        SpanBert.from_pretrained(tmp_path)


def test_every_weight_of_the_model_has_a_depth():
    model = spanbert(CONFIGS[0])
    depths = {name: model.depth(name) for name, _ in model.named_parameters()}
    assert depths["words.encoder.embeddings.token.weight"] == 0
    assert depths["words.encoder.encoder.layers.1.attention.query.weight"] == 2
    assert depths["words.masked_lm.dense.weight"] == depths["boundary.first_dense.weight"] == 3


@pytest.mark.parametrize(
    "config",
    [
        AlbertConfig(40, 16, 2, 2, 24, max_position_embeddings=32, embedding_size=8),
        RobertaConfig(40, 16, 2, 2, 24, max_position_embeddings=32),
    ],
)
def test_other_members_than_bert_can_be_trained_so(config, tmp_path):
    """ALBERT's embeddings are smaller than D, and the decoder is tied to them."""
    model, batch = spanbert(config), hidden_spans(config)
    model(**batch).loss.backward()
    assert model.boundary.first_dense.weight.grad.abs().sum() > 0
    model.save_pretrained(tmp_path)
    again = SpanBert.from_pretrained(tmp_path)
    assert_close(again(**batch).loss, model(**batch).loss, **CLOSE)
    assert (batch["left"] == NO_BOUNDARY).any()
