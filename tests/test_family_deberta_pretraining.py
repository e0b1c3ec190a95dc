"""The parts of DeBERTa's pre-training that `transformers` lacks, against plain second implementations of the papers."""

import math

import pytest
import torch
from support.deberta_configs import VERSION_1, VERSION_2
from support.family_parity import CLOSE, padded_batch, perturbed
from torch import Tensor
from torch.nn.functional import layer_norm
from torch.testing import assert_close
from transformers.models.deberta_v2.modeling_deberta_v2 import DebertaV2Layer

from bertedu import UserError
from bertedu.family.deberta.pretraining import EnhancedMaskDecoder, GradientDisentangledEmbedding, ReplacedTokenHead
from bertedu.family.deberta.v1 import DebertaModel
from bertedu.family.deberta.v2 import DebertaV2Model

MODELS = [(DebertaModel, VERSION_1[0]), (DebertaModel, VERSION_1[1]), (DebertaV2Model, VERSION_2[0])]
every_model = pytest.mark.parametrize(("model_class", "config"), MODELS, ids=["v1", "v1, far", "v2"])


def norm(module, x: Tensor) -> Tensor:
    return layer_norm(x, (x.size(-1),), module.weight, module.bias, module.eps)


def linear(module, x: Tensor) -> Tensor:
    return x @ module.weight.T + (0 if module.bias is None else module.bias)


def distance(config, i: int, j: int) -> int:
    """The number of the vector for query i and key j: equation 3 of the paper; for buckets, version 2's code."""
    far, step = config.farthest, i - j
    if config.model_type == "deberta-v2":
        far, middle = config.position_buckets, config.position_buckets // 2
        if abs(step) > middle:
            part = math.log(abs(step) / middle) / math.log((config.farthest - 1) / middle) * (middle - 1)
            step = int(math.copysign(math.ceil(part - 1e-6) + middle, step))
    return max(0, min(2 * far - 1, step + far))


def matrices(config, attention, head: int):
    """The projections of one head as functions: content's query, key and value, the positions' query and key."""
    d = config.hidden_size // config.num_attention_heads
    rows = slice(head * d, (head + 1) * d)

    def of(module):
        bias = None if module.bias is None else module.bias[rows]
        return lambda x: x @ module.weight[rows].T + (0 if bias is None else bias)

    if config.model_type == "deberta-v2":
        query, key = of(attention.query), of(attention.key)
        return query, key, of(attention.value), query, key
    own = attention.in_proj.weight[3 * head * d : 3 * (head + 1) * d]  # this head's queries, then keys, then values
    return (
        lambda x: x @ own[:d].T + attention.q_bias[rows],
        lambda x: x @ own[d : 2 * d].T,
        lambda x: x @ own[2 * d :].T + attention.v_bias[rows],
        of(attention.pos_q_proj),
        of(attention.pos_proj),
    )


def plain_layer(config, layer, table: Tensor, read: Tensor, asking: Tensor) -> Tensor:
    """One layer on a text without padding, [T, D], pair by pair: keys and values from `read`, queries from `asking`."""
    d, mixed = config.hidden_size // config.num_attention_heads, []
    for head in range(config.num_attention_heads):
        query, key, value, position_query, position_key = matrices(config, layer.attention, head)
        q, k, v, qr, kr = query(asking), key(read), value(read), position_query(table), position_key(table)
        for i in range(len(asking)):
            scores = []
            for j in range(len(read)):
                at = distance(config, i, j)
                scores.append((q[i] @ k[j] + q[i] @ kr[at] + k[j] @ qr[at]) / math.sqrt(3 * d))
            mixed.append(torch.stack(scores).softmax(dim=0) @ v)
    heads = torch.stack(mixed).view(config.num_attention_heads, len(asking), d)
    attended = norm(layer.attention_norm, asking + linear(layer.attention.output, torch.cat(list(heads), dim=-1)))
    inner = linear(layer.feed_forward.expand, attended)
    approximate = "tanh" if config.hidden_act == "gelu_new" else "none"
    changed = linear(layer.feed_forward.shrink, torch.nn.functional.gelu(inner, approximate=approximate))
    return norm(layer.feed_forward_norm, attended + changed)


def plain_decoder(model, decoder, below: Tensor) -> Tensor:
    """Section 3.2 and `emd_context_layer` of the authors' code, for one text: [T, D] to [T, D]."""
    table = model.encoder.relative.weight
    if model.config.model_type == "deberta-v2":
        table = norm(model.encoder.relative_norm, table)
    asking = torch.stack([below[i] + decoder.position.weight[i] for i in range(len(below))])
    first = plain_layer(model.config, model.encoder.layers[-1], table, below, asking)
    return plain_layer(model.config, model.encoder.layers[-1], table, below, first)


def decoded(model_class, config):
    """A model and a decoder, what the model says to a batch, and the batch, of at most as many tokens as positions."""
    torch.manual_seed(1)
    model, decoder = perturbed(model_class(config)), perturbed(EnhancedMaskDecoder(config))
    batch = padded_batch(config, length=min(12, config.max_position_embeddings))
    return model, decoder, model(**batch, output_hidden_states=True).hidden_states, batch


@every_model
def test_the_mask_decoder_is_that_of_the_paper(model_class, config):
    """Positions forgotten or added to keys, one pass instead of two, keys from the last layer, queries as residual."""
    model, decoder, hidden_states, batch = decoded(model_class, config)
    output = decoder(model, hidden_states, batch["attention_mask"])
    for text, length in enumerate(batch["attention_mask"].sum(dim=1)):
        expected = plain_decoder(model, decoder, hidden_states[-2][text, :length])
        assert_close(output[text, :length], expected, **CLOSE)


@every_model
def test_the_mask_decoder_learns_what_the_reference_learns(model_class, config):
    model, decoder, hidden_states, _ = decoded(model_class, config)
    below = hidden_states[-2][:1].detach()
    weights = [decoder.position.weight, *model.encoder.layers[-1].parameters(), model.encoder.relative.weight]
    pull = torch.randn(below.shape[1:])
    ours = torch.autograd.grad((decoder(model, [below, below]) * pull).sum(), weights)
    theirs = torch.autograd.grad((plain_decoder(model, decoder, below[0]) * pull).sum(), weights)
    for mine, their in zip(ours, theirs, strict=True):
        assert_close(mine, their, atol=2e-5, rtol=1e-4)


def test_queries_of_their_own_pass_the_last_layer_as_in_transformers(tmp_path):
    """The last layer of a DebertaV2Model takes query_states, too."""
    from support.family_parity import twins
    from transformers import DebertaV2Model as Theirs

    config = VERSION_2[2]
    ours, theirs = twins(DebertaV2Model, Theirs, config, "ours", tmp_path)
    read, asking = torch.randn(2, 2, 12, config.hidden_size)
    mask = torch.ones(2, 12)
    layer, encoder = theirs.encoder.layer[-1], theirs.encoder
    assert isinstance(layer, DebertaV2Layer)
    expected, _ = layer(
        read,
        encoder.get_attention_mask(mask),
        query_states=asking,
        relative_pos=encoder.get_rel_pos(read),
        rel_embeddings=encoder.get_rel_embedding(),
    )
    output, _ = ours.encoder.layers[-1](read, ours.encoder.context(mask), query_states=asking)
    assert_close(output, expected, **CLOSE)


def test_a_text_longer_than_the_positions_is_not_decoded():
    """Distances have no end, positions do."""
    model, decoder = DebertaModel(VERSION_1[3]), EnhancedMaskDecoder(VERSION_1[3])
    hidden_states = model(torch.ones(1, 12, dtype=torch.long), output_hidden_states=True).hidden_states
    with pytest.raises(UserError, match="a text has 12 tokens and the decoder 9 positions"):
        decoder(model, hidden_states)


def test_a_replaced_token_is_judged_with_its_text():
    """Logit i = w · act(W LN(h_CLS + h_i) + b) + c: with [CLS] added, normalised before the dense layer."""
    config = VERSION_2[1]
    head = perturbed(ReplacedTokenHead(config))
    vectors = torch.randn(3, 7, config.hidden_size)
    logits = head(vectors)
    assert logits.shape == (3, 7)
    for text in range(3):
        for i in range(7):
            both = norm(head.norm, vectors[text, 0] + vectors[text, i])
            inner = linear(head.dense, both)
            inner = 0.5 * inner * (1 + torch.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)))  # gelu_new
            expected = head.prediction.weight[0] @ inner + head.prediction.bias[0]
            assert_close(logits[text, i], expected, **CLOSE)


def test_the_discriminator_does_not_pull_at_the_generators_embeddings():
    """At first both have the same table; a loss of the discriminator moves its difference alone, that of the generator
    moves both tables; what is merged for saving is what the discriminator reads.
    """
    torch.manual_seed(1)
    config = VERSION_2[0]
    generator, discriminator = DebertaV2Model(config), DebertaV2Model(config)
    discriminator.embeddings.token = GradientDisentangledEmbedding(generator.token_embeddings)
    ids = padded_batch(config)["input_ids"]
    assert torch.equal(discriminator.embeddings.token(ids), generator.embeddings.token(ids))

    discriminator.eval()(ids).last_hidden_state.square().sum().backward()
    assert generator.embeddings.token.weight.grad is None
    moved = discriminator.embeddings.token.weight.grad.abs().sum(dim=1) > 0
    wanted = torch.zeros(config.vocab_size, dtype=torch.bool)
    wanted[ids] = True
    wanted[config.pad_token_id] = False
    assert torch.equal(moved, wanted)

    mine = [parameter for parameter in discriminator.parameters()]
    assert not any(parameter is generator.embeddings.token.weight for parameter in mine)
    with torch.no_grad():
        generator.embeddings.token.weight.add_(1)
        discriminator.embeddings.token.weight.add_(torch.randn_like(discriminator.embeddings.token.weight))
    assert_close(discriminator.embeddings.token.merged()[ids], discriminator.embeddings.token(ids))
