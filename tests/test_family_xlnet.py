"""XLNet: the same as `transformers`' XLNet, in both directions, and each of its traps."""

import json
import math
from dataclasses import replace

import pytest
import torch
import transformers
from support.family_parity import (
    CLOSE,
    DIRECTIONS,
    assert_same_gradients,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    perturbed,
    twins,
)
from torch import Tensor
from torch.testing import assert_close

from bertedu import UserError
from bertedu.config import TaskConfig
from bertedu.family.xlnet import XLNetConfig, XLNetLMHeadModel, XLNetModel
from bertedu.family.xlnet.attention import relative_shift, relative_sinusoids
from bertedu.files import read_json
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.inference import fill_mask, open_model, pseudo_perplexity
from bertedu.tokenization.xlnet import XLNetTokenizer

# Vocabulary, hidden size, layers, heads, feed-forward.
CONFIGS = [
    XLNetConfig(60, 16, 2, 4, 24),
    XLNetConfig(41, 24, 1, 2, 40, hidden_act="gelu_new"),
    XLNetConfig(50, 12, 3, 3, 20, layer_norm_eps=1e-5),
    XLNetConfig(70, 10, 2, 1, 16, pad_token_id=0),
    XLNetConfig(33, 8, 4, 4, 9, initializer_range=0.5),
    XLNetConfig(90, 32, 2, 2, 12, pad_token_id=7, hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3),
]
every_config = pytest.mark.parametrize("config", CONFIGS)
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)
SMALL = CONFIGS[0]


def of_transformers(kind: str):
    return getattr(transformers, f"XLNet{kind}")


@both_ways
@every_config
def test_xlnet_computes_what_transformers_computes(config, saved_by, tmp_path):
    """Three segments, since <cls> has one of its own; `transformers` keeps a memory beside, which changes nothing."""
    ours, theirs = twins(XLNetModel, of_transformers("Model"), config, saved_by, tmp_path)
    assert theirs.config.mem_len == 512
    assert_same_hidden_states(ours, theirs, padded_batch(config, segments=3))
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_words_are_predicted_as_in_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(XLNetLMHeadModel, of_transformers("LMHeadModel"), config, saved_by, tmp_path)
    batch = padded_batch(config, segments=3)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


def order_of_prediction(batch: dict[str, Tensor], predicted: int = 3) -> tuple[dict[str, Tensor], Tensor]:
    """A random order for each text: its last few tokens are predicted. The mask and the mapping, and the right words.

    Texts of fewer tokens predict one: their other rows are zeros, and have no label.
    """
    generator = torch.Generator().manual_seed(4)
    ids, lengths = batch["input_ids"], batch["attention_mask"].sum(dim=1).tolist()
    rows, length = ids.shape
    perm_mask, mapping = torch.zeros(rows, length, length), torch.zeros(rows, predicted, length)
    labels = torch.full((rows, predicted), -100)
    for row, real in enumerate(lengths):
        order = torch.randperm(real, generator=generator)
        when = torch.empty(real, dtype=torch.long)
        when[order] = torch.arange(real)
        first = real - min(predicted, real - 1)  # what is predicted comes last in the order
        of_target = when >= first
        perm_mask[row, :real, :real] = (of_target & (when[:, None] <= when)).float()
        for number, place in enumerate(order[first:].tolist()):
            mapping[row, number, place] = 1
            labels[row, number] = (ids[row, place] + 3) % 30
    return {**batch, "perm_mask": perm_mask, "target_mapping": mapping}, labels


@both_ways
@every_config
def test_the_two_streams_see_what_they_see_in_transformers(config, saved_by, tmp_path):
    """Loss and every gradient, that of the query stream's first vector too, and the content stream's hidden states."""
    ours, theirs = twins(XLNetLMHeadModel, of_transformers("LMHeadModel"), config, saved_by, tmp_path)
    batch, labels = order_of_prediction(padded_batch(config, segments=3))
    assert_same_loss(ours, theirs, batch, labels=labels)
    assert ours.encoder.mask_embedding.grad.abs().max() > 1e-3
    output = ours(**batch, output_hidden_states=True, output_attentions=True)
    expected = theirs(**batch, output_hidden_states=True, output_attentions=True)
    assert_close(output.prediction_logits, expected.logits, **CLOSE)
    for mine, their in zip(output.hidden_states, expected.hidden_states[::2], strict=True):  # every second: queries
        assert_close(mine, their, **CLOSE)
    for mine, (their, _) in zip(output.attentions, expected.attentions, strict=True):
        assert_close(mine, their, **CLOSE)


@both_ways
@pytest.mark.parametrize("problem", ["classes", "regression"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_vector_of_a_text_is_that_of_its_last_real_token(side, problem, saved_by, tmp_path):
    """`transformers` reads the last column, so it gets its batch padded on the left. Ours may be padded on either side:
    loss and gradients are the same.
    """
    task = TaskConfig(("a", "b", "c")) if problem == "classes" else TaskConfig(("score",), "regression")
    labels = torch.tensor([0, 2, 1]) if problem == "classes" else torch.tensor([0.5, -1.0, 2.0])
    kinds = (TextClassifier, of_transformers("ForSequenceClassification"))
    ours, theirs = twins(*kinds, SMALL, saved_by, tmp_path, task)
    batch = padded_batch(SMALL, segments=3)
    left = padded_on_the_left(batch)
    output, expected = ours(**(batch if side == "right" else left), labels=labels), theirs(**left, labels=labels)
    assert_close(output.logits, expected.logits, **CLOSE)
    assert_close(output.loss, expected.loss, **CLOSE)
    output.loss.backward()
    expected.loss.backward()
    assert_same_gradients(ours, theirs)


def padded_on_the_left(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same texts, as `transformers`' tokenizer pads them."""
    shifts = (batch["attention_mask"] == 0).sum(dim=-1)
    length = batch["input_ids"].size(-1)
    rolled = (torch.arange(length) - shifts[..., None]) % length
    return {name: tensor.gather(-1, rolled) for name, tensor in batch.items()}


@both_ways
def test_the_head_for_choices_is_that_of_transformers(saved_by, tmp_path):
    """Choices of different lengths, so that padding stands behind some."""
    ours, theirs = twins(ChoiceModel, of_transformers("ForMultipleChoice"), SMALL, saved_by, tmp_path)
    flat = padded_batch(SMALL, segments=3)
    batch = {name: torch.stack([tensor, tensor.flip(0)], dim=1) for name, tensor in flat.items()}  # [B, 2, T]
    left, labels = padded_on_the_left(batch), torch.tensor([0, 1, 0])
    assert_close(ours(**batch).logits, theirs(**left).logits, **CLOSE)
    assert_same_loss(ours, theirs, left, labels=labels)
    del batch["attention_mask"]
    assert_same_loss(ours, theirs, batch, labels=labels)


@both_ways
def test_the_head_for_tokens_is_that_of_transformers(saved_by, tmp_path):
    kinds = (Tagger, of_transformers("ForTokenClassification"))
    ours, theirs = twins(*kinds, SMALL, saved_by, tmp_path, TaskConfig(("O", "B-x", "I-x")))
    batch = padded_batch(SMALL, segments=3)
    labels = (batch["input_ids"] % 3).where(batch["attention_mask"].bool(), -100)
    assert_same_loss(ours, theirs, batch, labels=labels)


@both_ways
def test_the_head_for_answers_is_that_of_transformers(saved_by, tmp_path):
    """`transformers` calls it XLNetForQuestionAnsweringSimple; its XLNetForQuestionAnswering is another model. The
    scores of padding count in the loss, so padding, too, sees what it does there: all real tokens, and itself.
    """
    ours, theirs = twins(SpanFinder, of_transformers("ForQuestionAnsweringSimple"), SMALL, saved_by, tmp_path)
    batch = padded_batch(SMALL, segments=3)
    assert_close(ours(**batch).end_logits, theirs(**batch).end_logits, **CLOSE)
    ends = {"start_positions": torch.tensor([3, 6, 1]), "end_positions": torch.tensor([5, 6, 1])}
    assert_same_loss(ours, theirs, batch, **ends)


def trained(config: XLNetConfig = SMALL) -> XLNetModel:
    torch.manual_seed(0)
    return perturbed(XLNetModel(config))


@torch.no_grad()
def test_only_distances_count_wherever_the_padding_stands():
    """Only distances count: the same vectors wherever the padding stands, and whatever its segment (3 or 4)."""
    model, batch = trained(), padded_batch(SMALL, segments=3)
    left = padded_on_the_left(batch)
    real, real_left = batch["attention_mask"].bool(), left["attention_mask"].bool()
    expected = model(**batch).last_hidden_state[real]
    assert_close(model(**left).last_hidden_state[real_left], expected, **CLOSE)
    for segment in (3, 4):
        batch["token_type_ids"][~real] = segment
        assert torch.equal(model(**batch).last_hidden_state[real], expected)


@torch.no_grad()
def test_words_far_apart_have_a_distance(tmp_path):
    """No table of positions ends: a text longer than those of training is read as `transformers` reads it."""
    config = replace(SMALL, max_position_embeddings=4)
    ours, theirs = twins(XLNetModel, of_transformers("Model"), config, "ours", tmp_path)
    ids = torch.randint(8, 60, (1, 700))
    assert_close(ours(ids).last_hidden_state, theirs(ids).last_hidden_state, **CLOSE)


def test_the_relative_shift_reads_the_right_distance():
    """By its definition: query i and key j meet at the distance i - j, in column T - i + j."""
    scores = torch.randn(2, 3, 5, 10)
    i, j = torch.arange(5)[:, None], torch.arange(5)
    assert torch.equal(relative_shift(scores), scores[:, :, i, 5 - i + j])
    distances = torch.arange(5, -5, -1).expand(5, 10)
    assert torch.equal(relative_shift(distances), i - j)


def test_sines_stand_before_cosines():
    """By hand: distance 2 before distance -1, the sines of all frequencies first."""
    table = relative_sinusoids(3, 4)
    assert table.shape == (6, 4)
    slow = 10000 ** -(2 / 4)
    for row, distance in enumerate((3, 2, 1, 0, -1, -2)):
        angles = (distance, distance * slow)
        expected = [*map(math.sin, angles), *map(math.cos, angles)]
        assert_close(table[row], torch.tensor(expected), atol=1e-6, rtol=0)


@torch.no_grad()
def test_one_segment_is_not_told_from_none():
    """The same is added to all scores of a query. The second text's segment, and that of <cls>, do count."""
    model, ids = trained(), torch.arange(10, 16)[None]
    without = model(ids).last_hidden_state
    for segment in (0, 1, 2):
        assert_close(model(ids, token_type_ids=torch.full_like(ids, segment)).last_hidden_state, without, **CLOSE)
    pair, with_cls = torch.tensor([[0, 0, 0, 1, 1, 1]]), torch.tensor([[0, 0, 0, 1, 1, 2]])
    vectors = [model(ids, token_type_ids=types).last_hidden_state for types in (pair, with_cls)]
    assert all((one - without).abs().max() > 1e-2 for one in vectors)
    assert (vectors[0] - vectors[1]).abs().max() > 1e-2
    assert torch.equal(model(ids, token_type_ids=1 - pair).last_hidden_state, vectors[0])  # only compared


@torch.no_grad()
def test_a_word_does_not_leak_into_its_own_prediction():
    """The query stream may not see the word that it predicts, nor any that comes later in the order, on any way through
    the layers; it does see those before. The content stream sees its own word.
    """
    model = perturbed(XLNetLMHeadModel(SMALL))
    ids = torch.arange(10, 16)[None]
    order = torch.tensor([4, 1, 5, 0, 3, 2])  # read in this order
    when = order.argsort()
    perm_mask = (when[:, None] <= when)[None].long()
    mapping = torch.eye(6)[order][None]
    before = model(ids, perm_mask=perm_mask, target_mapping=mapping).prediction_logits
    content = model.encoder(ids, perm_mask=perm_mask).last_hidden_state
    for place in range(6):
        changed = ids.clone()
        changed[0, place] = 40
        after = model(changed, perm_mask=perm_mask, target_mapping=mapping).prediction_logits
        moved = (after - before).abs().amax(dim=-1)[0] > 1e-4
        later = torch.arange(6) > when[place]
        # The very first sees nothing: equal weights for all, as in `transformers`. No objective predicts it.
        assert torch.equal(moved[1:], later[1:])
        now = model.encoder(changed, perm_mask=perm_mask).last_hidden_state
        assert torch.equal((now - content).abs().amax(dim=-1)[0] > 1e-4, when >= when[place])


@torch.no_grad()
def test_a_masked_word_is_asked_for_in_the_query_stream():
    """<mask> means nothing to a published XLNet: the word there is hidden, whatever it is, and asked for by position.
    The answer is that of `transformers` for these masks, and each of two is a guess on its own.
    """
    model = perturbed(XLNetLMHeadModel(SMALL))
    ids = torch.arange(10, 22).view(2, 6)
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2])
    masked = torch.tensor([[False, True, False, True, False, False], [False, False, True, False, False, False]])
    logits = model(ids, mask, masked_positions=masked).prediction_logits
    assert torch.equal(model(ids.masked_fill(masked, 3), mask, masked_positions=masked).prediction_logits, logits)
    mapping = torch.zeros(2, 2, 6)
    mapping[0, 0, 1] = mapping[0, 1, 3] = mapping[1, 0, 2] = 1
    perm_mask = masked[:, None].expand(2, 6, 6).float()
    both = model(ids, mask, perm_mask=perm_mask, target_mapping=mapping).prediction_logits
    assert_close(logits, both[[0, 0, 1], [0, 1, 0]])
    assert model(ids, mask, masked_positions=masked & False).prediction_logits.shape == (0, 60)


def test_a_mask_of_another_shape_is_refused():
    model, ids = XLNetModel(SMALL), torch.arange(10, 16).view(2, 3)
    with pytest.raises(UserError, match=r"perm_mask has the shape \[3, 3\], and the texts 2 times 3 .* \[2, 3, 3\]"):
        model(ids, perm_mask=torch.zeros(3, 3))
    with pytest.raises(UserError, match=r"target_mapping has the shape \[2, 1, 4\].* give \[2, predictions, 3\]"):
        model(ids, target_mapping=torch.zeros(2, 1, 4))
    with pytest.raises(UserError, match="token id 60 is outside"):
        model(ids + 50)
    with pytest.raises(UserError, match="attention_mask has the shape"):
        model(ids, torch.ones(2, 1))


def test_the_query_streams_vector_is_learned_with_the_embeddings():
    model = XLNetLMHeadModel(SMALL)
    assert model.depth("encoder.mask_embedding") == model.depth("encoder.token_embeddings.weight") == 0
    assert model.depth("encoder.layers.1.attention.content_bias") == 2 and model.depth("masked_lm.bias") == 3


def test_the_defaults_are_the_published_ones(tmp_path):
    """The class of `transformers` has those of XLNet-Large. Its length of memory changes nothing here; what would, and
    has one value in all published models, is refused.
    """
    theirs = transformers.XLNetConfig()
    theirs.save_pretrained(tmp_path)
    assert XLNetConfig.load(tmp_path) == XLNetConfig()
    for ours, name in XLNetConfig.names_on_disk.items():
        if name != "training_length":
            assert getattr(XLNetConfig(), ours) == getattr(theirs, name)
    for name, value in XLNetConfig.fixed.items():
        assert getattr(theirs, name) == value
    values = read_json(tmp_path / "config.json")
    for name, value in {"attn_type": "uni", "clamp_len": 128, "bi_data": True, "summary_type": "first"}.items():
        (tmp_path / "config.json").write_text(json.dumps({**values, name: value}))
        with pytest.raises(UserError, match=f"config.json: {name} is .*{value}.*, and only"):
            XLNetConfig.load(tmp_path)


def test_one_dropout_rate_is_read_as_one(tmp_path):
    transformers.XLNetConfig(dropout=0.25).save_pretrained(tmp_path)
    config = XLNetConfig.load(tmp_path)
    assert config.hidden_dropout_prob == config.attention_probs_dropout_prob == 0.25
    config.save(tmp_path, "XLNetModel")
    again = transformers.XLNetConfig.from_pretrained(tmp_path)
    assert again.dropout == again.summary_last_dropout == 0.25 and XLNetConfig.load(tmp_path) == config
    with pytest.raises(UserError, match="XLNet has one dropout rate; give both the same"):
        XLNetConfig(hidden_dropout_prob=0.0)
    with pytest.raises(UserError, match="hidden_size is 9: give an even number"):
        XLNetConfig(hidden_size=9, num_attention_heads=3)


def test_a_length_that_transformers_refuses_is_not_written(tmp_path):
    """Its config raises for max_position_embeddings: an XLNet has no limit. Ours keeps the length for the tools."""
    config = replace(SMALL, max_position_embeddings=77)
    config.save(tmp_path, "XLNetModel")
    transformers.XLNetConfig.from_pretrained(tmp_path)
    assert XLNetConfig.load(tmp_path).max_tokens == 77


def test_the_published_model_has_the_published_number_of_weights():
    """By hand, XLNet-Base, cased: 116.7 million (that of BERT-Base, cased, is 108.3: the distances' projections, fewer
    biases, 3,000 more words, and no positions and pooler).
    """
    V, D, F, L = 32000, 768, 3072, 12
    attention = 5 * D * D + 3 * D + 2 * D  # q, k, v, o, r; three biases; two segments
    layer = attention + 2 * D * F + F + D + 2 * 2 * D
    base = XLNetConfig.preset("base")
    with torch.device("meta"):
        counted = sum(parameter.numel() for parameter in XLNetModel(base).parameters())
        of_words = sum(parameter.numel() for parameter in XLNetLMHeadModel(base).parameters())
    assert counted == V * D + D + L * layer == 116_718_336
    assert of_words == counted + V
    assert XLNetModel(SMALL).mask_embedding.shape == (1, 1, 16)


@torch.no_grad()
def test_a_new_model_starts_as_published():
    """All normal with 0.02 and not cut off, biases of attention and the query stream's vector too."""
    torch.manual_seed(0)
    model = XLNetModel(XLNetConfig(400, 64, 1, 2, 128))
    drawn = {name: weight for name, weight in model.named_parameters() if "norm" not in name and weight.numel() > 4000}
    assert len(drawn) == 8
    for name, weight in drawn.items():
        assert weight.std() == pytest.approx(0.02, rel=0.05), name
        assert weight.abs().max() > 0.05, name
    for name in ("mask_embedding", "layers.0.attention.content_bias", "layers.0.attention.segments"):
        assert 0.01 < model.get_parameter(name).std() < 0.03
    assert model.layers[0].feed_forward.expand.bias.abs().max() == 0


def test_dropout_is_where_it_is_published_and_hides_words_one_by_one(tmp_path):
    """Where there is dropout in the authors' code: on embeddings, distances, weights, both layers' outputs, inside the
    feed-forward, and on what comes out.
    """
    model = XLNetModel(replace(SMALL, num_hidden_layers=1)).train()
    layer, seen = model.layers[0], []
    for dropout in (model.dropout, layer.dropout, layer.feed_forward.dropout):
        dropout.register_forward_hook(lambda module, given, _: seen.append((module, given[0].shape)))
    ids = torch.arange(10, 16).view(2, 3)
    model(ids)
    shapes = [(2, 3, 16), (6, 16), (2, 3, 16), (2, 3, 24), (2, 3, 16), (2, 3, 16)]
    assert [tuple(shape) for _, shape in seen] == shapes
    places = [model.dropout] * 2 + [layer.dropout, layer.feed_forward.dropout, layer.dropout, model.dropout]
    assert [module for module, _ in seen] == places
    assert layer.attention.dropout_prob == 0.1


@torch.no_grad()
def test_a_published_xlnet_is_asked_through_its_query_stream(tmp_path):
    """From a folder of `transformers` to the words for a mask: the query stream's, with the word there hidden from all;
    and so for each token of a pseudo-perplexity.
    """
    tokenizer = XLNetTokenizer.train(["the cat sat on the mat and the dog ran"] * 3, vocab_size=60)
    tokenizer.save_pretrained(tmp_path)
    sizes = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24, "vocab_size": len(tokenizer)}
    theirs = perturbed(of_transformers("LMHeadModel")(transformers.XLNetConfig(**sizes)))
    theirs.save_pretrained(tmp_path)
    model, opened = open_model(tmp_path)
    encoding = opened("the <mask> sat")
    ids, place = encoding.input_ids, encoding.input_ids[0].tolist().index(opened.mask_token_id)
    assert ids[0, -1] == opened.cls_token_id and encoding.token_type_ids[0, -1] == 2

    def asked(at: int) -> Tensor:
        perm_mask, mapping = torch.zeros(1, ids.size(1), ids.size(1)), torch.zeros(1, 1, ids.size(1))
        perm_mask[:, :, at] = mapping[:, :, at] = 1
        given = {"token_type_ids": encoding.token_type_ids, "perm_mask": perm_mask, "target_mapping": mapping}
        return theirs(ids, **given).logits[0, 0].log_softmax(dim=-1)

    (answers,) = fill_mask(model, opened, "the <mask> sat", top=3)
    expected = asked(place).exp().topk(3)
    assert [opened.vocab[word] for word, _ in answers] == expected.indices.tolist()
    assert_close(torch.tensor([share for _, share in answers]), expected.values, **CLOSE)
    losses = [-asked(at)[ids[0, at]] for at in range(ids.size(1) - 2)]  # not <sep> and <cls>
    assert pseudo_perplexity(model, opened, "the <mask> sat") == pytest.approx(
        math.exp(sum(losses) / len(losses)), rel=1e-4
    )
