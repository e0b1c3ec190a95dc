"""RoBERTa and XLM-R against `transformers`, and what is easily got wrong about them: the positions above all."""

import json
import warnings
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
import transformers
from support.family_parity import (
    CLOSE,
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    perturbed,
    twins,
)
from torch.testing import assert_close

from bertedu import BertModel, UserError
from bertedu.config import TaskConfig
from bertedu.family.roberta import RobertaConfig, RobertaModel
from bertedu.family.xlm_roberta import XLMRobertaConfig, XLMRobertaModel
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.inference import encode, fill_mask, open_model, run
from bertedu.model.heads import MaskedLM
from bertedu.pretraining.counted_start import initialize_by_counting
from bertedu.tokenization import RobertaTokenizer

# Small models of every shape; 12 tokens and the positions up to padding's need at least 13 + pad_token_id.
CONFIGS = {
    "one layer, one head, no position to spare": RobertaConfig(40, 8, 1, 1, 8, max_position_embeddings=14),
    "usual proportions, two segments": RobertaConfig(97, 32, 2, 4, 128, max_position_embeddings=24, type_vocab_size=2),
    "tanh GELU": RobertaConfig(64, 24, 3, 3, 96, "gelu_new", max_position_embeddings=16),
    "narrow feed-forward, padding is 0": RobertaConfig(50, 48, 2, 12, 20, max_position_embeddings=16, pad_token_id=0),
    "deep, padding is 7": RobertaConfig(71, 16, 6, 2, 40, "gelu_new", max_position_embeddings=20, pad_token_id=7),
    "wide epsilon": RobertaConfig(33, 64, 1, 8, 256, layer_norm_eps=1e-3, max_position_embeddings=30),
    "XLM-R": XLMRobertaConfig(55, 16, 2, 4, 24, max_position_embeddings=15),
}
SMALL, XLM = CONFIGS["usual proportions, two segments"], CONFIGS["XLM-R"]
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


def theirs_of(config, kind):
    """The class of `transformers` for one kind of model."""
    return getattr(transformers, ("XLMRoberta" if isinstance(config, XLMRobertaConfig) else "Roberta") + kind)


def encoder_of(config):
    """Our encoder for a config."""
    return XLMRobertaModel if isinstance(config, XLMRobertaConfig) else RobertaModel


@both_ways
@every_config
def test_the_encoder_is_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(encoder_of(config), theirs_of(config, "Model"), config, saved_by, tmp_path)
    batch = padded_batch(config, segments=config.type_vocab_size)
    assert_same_hidden_states(ours, theirs, batch)
    assert_close(ours(**batch).pooler_output, theirs(**batch).pooler_output, **CLOSE)


@both_ways
@every_config
def test_the_loss_over_masked_words_and_its_gradients_are_those_of_transformers(config, saved_by, tmp_path):
    batch = padded_batch(config, segments=config.type_vocab_size)
    ours, theirs = twins(MaskedLM, theirs_of(config, "ForMaskedLM"), config, saved_by, tmp_path)
    assert_close(ours(**batch).prediction_logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


@both_ways
@pytest.mark.parametrize("config", [SMALL, XLM], ids=["RoBERTa", "XLM-R"])
@pytest.mark.parametrize("problem", ["classes", "regression"])
def test_the_head_for_texts_is_that_of_transformers(config, problem, saved_by, tmp_path):
    """The vector of <s> through a dense layer of the head's own, and no pooler below it."""
    task = TaskConfig(("a", "b", "c")) if problem == "classes" else TaskConfig(("score",), "regression")
    labels = torch.tensor([0, 2, 1]) if problem == "classes" else torch.tensor([0.5, -1.0, 2.0])
    batch = padded_batch(config, segments=config.type_vocab_size)
    classes = (TextClassifier, theirs_of(config, "ForSequenceClassification"))
    ours, theirs = twins(*classes, config, saved_by, tmp_path, task)
    assert ours.encoder.pooler is None
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=labels)


def test_the_head_for_texts_has_two_dropouts():
    """Before its dense layer and before the last one, as in fairseq. Without dropout nobody would see a difference."""
    model = TextClassifier.from_config(SMALL, TaskConfig(("a", "b"))).train()
    parts, passed = [model.transform.dropout, model.transform.dense, model.dropout, model.classifier], []
    for part in parts:
        part.register_forward_hook(lambda module, given, made: passed.append(module))
    model(**padded_batch(SMALL, segments=2))
    assert passed == parts and parts[0].p == parts[2].p == SMALL.hidden_dropout_prob


@both_ways
@pytest.mark.parametrize("config", [SMALL, XLM], ids=["RoBERTa", "XLM-R"])
def test_the_head_for_tokens_is_that_of_transformers(config, saved_by, tmp_path):
    batch = padded_batch(config, segments=config.type_vocab_size)
    classes = (Tagger, theirs_of(config, "ForTokenClassification"))
    ours, theirs = twins(*classes, config, saved_by, tmp_path, TaskConfig(("O", "B-x", "I-x")))
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=(batch["input_ids"] % 3).where(real, -100))


@both_ways
@pytest.mark.parametrize("config", [SMALL, XLM], ids=["RoBERTa", "XLM-R"])
def test_the_head_for_answers_is_that_of_transformers(config, saved_by, tmp_path):
    batch = padded_batch(config, segments=config.type_vocab_size)
    ours, theirs = twins(SpanFinder, theirs_of(config, "ForQuestionAnswering"), config, saved_by, tmp_path)
    assert_close(ours(**batch).end_logits, theirs(**batch).end_logits, **CLOSE)
    ends = {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([5, 4, 1])}
    assert_same_loss(ours, theirs, batch, **ends)


@both_ways
@pytest.mark.parametrize("config", [SMALL, XLM], ids=["RoBERTa", "XLM-R"])
def test_the_head_for_choices_has_a_pooler(config, saved_by, tmp_path):
    """It reads the encoder's pooler, as BERT's does, and not the dense layer of the head for texts."""
    flat = padded_batch(config, segments=config.type_vocab_size)
    batch = {name: torch.stack([tensor, tensor.flip(0)], dim=1) for name, tensor in flat.items()}  # [B, 2, T]
    ours, theirs = twins(ChoiceModel, theirs_of(config, "ForMultipleChoice"), config, saved_by, tmp_path)
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([0, 1, 0]))


def test_positions_start_behind_padding_and_do_not_count_it(tmp_path):
    """By hand: padding is 1, so real tokens stand at 2, 3, …, and padding at 1, wherever it is."""
    embeddings = RobertaModel(SMALL).embeddings
    P = 1
    ids = torch.tensor([[5, 6, 7, P, P], [P, P, 5, 6, 7], [5, P, 6, 7, 8]])
    positions = torch.tensor([[2, 3, 4, 1, 1], [1, 1, 2, 3, 4], [2, 1, 3, 4, 5]])
    assert torch.equal(embeddings.position_vectors(ids), embeddings.position.weight[positions])


@torch.no_grad()
def test_positions_follow_the_ids_and_not_the_attention_mask(tmp_path):
    """Padding on the left, an id of padding in the middle of a text, and a real token that is masked out: positions
    come from the ids alone.
    """
    ours, theirs = twins(RobertaModel, transformers.RobertaModel, SMALL, "ours", tmp_path)
    ids = torch.tensor([[1, 1, 9, 10, 11, 12], [9, 1, 10, 11, 12, 1], [9, 10, 11, 12, 13, 14]])
    mask = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 1, 1]])
    assert_same_hidden_states(ours, theirs, {"input_ids": ids, "attention_mask": mask})


@torch.no_grad()
def test_a_text_of_512_tokens_is_read_and_one_of_513_refused():
    """514 positions are 512 tokens; where only padding goes beyond, nothing is too long."""
    config = replace(SMALL, max_position_embeddings=8)  # as 514 is to 512, so is 8 to 6
    assert config.max_tokens == 6 and RobertaConfig().max_tokens == 512
    model = RobertaModel(config).eval()
    ids = torch.arange(10, 17)[None]
    with pytest.raises(UserError, match="a text has 7 tokens and this model 6 positions: shorten it with max_length=6"):
        model(ids)
    whole = model(ids[:, :6]).last_hidden_state
    padded = torch.cat([ids[:, :6], torch.full((1, 3), config.pad_token_id)], dim=1)
    assert_close(model(padded, (padded != 1).long()).last_hidden_state[:, :6], whole)


def test_a_config_without_room_for_a_token_is_refused():
    with pytest.raises(UserError, match=r"max_position_embeddings is 2, .* pad_token_id \+ 1, which is 2: give more"):
        RobertaConfig(max_position_embeddings=2)


def test_the_position_of_padding_is_not_learned():
    """Every batch has padding: its position would be pulled at by all that is masked out, and learn nothing of use."""
    model = MaskedLM(SMALL)
    ids = torch.tensor([[5, 6, 7, 1, 1]])
    model(ids, labels=torch.tensor([[5, -100, -100, -100, 6]])).loss.backward()
    gradient = model.encoder.embeddings.position.weight.grad
    assert (gradient.abs().sum(dim=1) > 0).tolist()[:6] == [False, False, True, True, True, False]


@torch.no_grad()
def test_segments_do_no_harm_to_a_model_that_has_one():
    """A tokenizer that marks the second text does no harm to a model that tells no segments apart."""
    model = RobertaModel(replace(SMALL, type_vocab_size=1)).eval()
    ids, segments = torch.arange(10, 16)[None], torch.tensor([[0, 0, 0, 1, 1, 1]])
    assert torch.equal(model(ids, token_type_ids=segments).last_hidden_state, model(ids).last_hidden_state)


def test_the_defaults_are_the_published_ones(tmp_path):
    """roberta-base and xlm-roberta-base as their config.json on the hub has them. The class of `transformers` keeps
    BERT's 512 positions, 2 segments and epsilon where a config.json does not say: read from one, they are theirs.
    """
    published = {"max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1}
    for ours, theirs, vocab_size in (
        (RobertaConfig, transformers.RobertaConfig, 50265),
        (XLMRobertaConfig, transformers.XLMRobertaConfig, 250002),
    ):
        config = ours()
        for field, value in {"vocab_size": vocab_size, **published}.items():
            assert getattr(config, field) == value
        theirs().save_pretrained(tmp_path)
        default = ours.load(tmp_path)
        assert all(getattr(theirs(), field) == value for field, value in asdict(default).items())
        changed = {field for field, value in asdict(default).items() if getattr(config, field) != value}
        assert changed - {"vocab_size"} == {"max_position_embeddings", "type_vocab_size", "layer_norm_eps"}
        (tmp_path / "config.json").write_text(json.dumps({"model_type": ours.model_type, "type_vocab_size": None}))
        assert replace(ours.load(tmp_path), vocab_size=default.vocab_size) == default  # where config.json does not say
        theirs(vocab_size=vocab_size, **published).save_pretrained(tmp_path)
        assert ours.load(tmp_path) == config


def test_the_published_models_have_the_published_number_of_weights():
    """By hand: 124.6 million for roberta-base (fairseq says 125), 278 for xlm-roberta-base."""
    D, F = 768, 3072
    layer = 4 * (D * D + D) + 2 * D * F + F + D + 2 * 2 * D
    for config, model_class, millions in (
        (RobertaConfig(), RobertaModel, 124.6),
        (XLMRobertaConfig(), XLMRobertaModel, 278),
    ):
        embeddings = (config.vocab_size + 514 + 1 + 2) * D
        pooler = D * D + D
        with torch.device("meta"):
            counted = sum(parameter.numel() for parameter in model_class(config).parameters())
        assert counted == embeddings + 12 * layer + pooler == pytest.approx(millions * 1e6, rel=0.001)


def test_another_members_weights_are_not_computed_as_berts(tmp_path):
    """RoBERTa's weights fit into a BertModel, which would put every token two positions too early."""
    RobertaModel(SMALL).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="type 'roberta', which BertModel would compute otherwise: open it with Robert"):
        BertModel.from_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"XLMRobertaModel would .* open it with RobertaModel\.from_pretrained"):
        XLMRobertaModel.from_pretrained(tmp_path)


@pytest.fixture
def published(tmp_path):
    """A folder as `transformers` leaves it: a model that fills masks, and byte-level BPE."""
    tokenizer = RobertaTokenizer.train(["the cat sat on the mat .", "a dog sat on the log ."] * 4, vocab_size=300)
    config = RobertaConfig(len(tokenizer), 16, 2, 2, 24, max_position_embeddings=22)
    config.save(tmp_path / "config", "RobertaForMaskedLM")
    torch.manual_seed(0)
    model = transformers.RobertaForMaskedLM(transformers.AutoConfig.from_pretrained(tmp_path / "config"))
    perturbed(model).save_pretrained(tmp_path / "published")
    tokenizer.save_pretrained(tmp_path / "config")
    transformers.AutoTokenizer.from_pretrained(tmp_path / "config").save_pretrained(tmp_path / "published")
    return tmp_path / "published"


@torch.no_grad()
def test_a_folder_of_transformers_fills_the_mask_with_the_same_words(published):
    """From text to probabilities: the tokens, their positions and the head together."""
    text = "the cat sat on the<mask> ."
    theirs, tokens = (
        auto.from_pretrained(published) for auto in (transformers.AutoModelForMaskedLM, transformers.AutoTokenizer)
    )
    encoding = tokens(text, return_tensors="pt")
    logits = theirs(**encoding).logits[encoding["input_ids"] == tokens.mask_token_id][0]
    model, tokenizer = open_model(published)
    [answers] = fill_mask(model, tokenizer, text, top=3)
    expected = logits.softmax(dim=-1).topk(3)
    assert_close(torch.tensor([share for _, share in answers]), expected.values, **CLOSE)
    ours = run(model, encode(model, tokenizer, text)).prediction_logits
    assert_close(ours, theirs(**encoding).logits, **CLOSE)
    with pytest.raises(UserError, match="there is no <mask> in 'the cat': write <mask>"):
        fill_mask(model, tokenizer, "the cat")
    with pytest.raises(UserError, match="has 32 tokens with <s> and </s>, and this model takes 20: shorten it"):
        fill_mask(model, tokenizer, " cat" * 30)


def test_a_pooler_that_nobody_trained_is_told_where_fine_tuning_starts_from_it(published):
    """A published RoBERTa has no pooler: the head for texts needs none, that for choices gets a new one and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_texts = with_new_head(TextClassifier, str(published), FinetuningSettings(), labels=("a", "b"))
    assert of_texts.encoder.pooler is None and of_texts.transform is not None
    with pytest.warns(UserWarning, match=r"lacks pooler.*they start untrained"):
        with_new_head(ChoiceModel, str(published), FinetuningSettings())


def test_a_start_by_counting_asks_for_no_more_positions_than_tokens_have():
    tokens = np.random.default_rng(0).integers(5, SMALL.vocab_size, 2000)
    model = MaskedLM(SMALL)
    initialize_by_counting(model, tokens)
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
