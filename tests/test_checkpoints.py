"""Checkpoints: saved here, opened in `transformers`, and the way back; files that others wrote."""

import logging
import warnings
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from support.random_models import CONFIG, assert_same_weights, load_quietly, random_model

from bertedu import BertConfig, BertForMaskedLM, BertForPreTraining, BertModel, UserError
from bertedu.checkpoints.names import BERT, from_transformers, to_transformers


@pytest.fixture
def change(saved):
    """Rewrite the tensors of the saved folder with a function of the dictionary; returns the folder."""

    def rewrite(edit) -> Path:
        save_file(edit(load_file(saved / "model.safetensors")), saved / "model.safetensors", {"format": "pt"})
        return saved

    return rewrite


def without_prefix(tensors):
    return {name.removeprefix("bert."): tensor for name, tensor in tensors.items() if not name.startswith("cls.")}


# Names


def test_names_survive_the_way_to_transformers_and_back():
    theirs = transformers.BertForPreTraining(
        transformers.BertConfig(
            vocab_size=30, hidden_size=16, num_hidden_layers=12, num_attention_heads=2, intermediate_size=16
        )
    )
    ours = BertForPreTraining(BertConfig(30, 16, 12, 2, 16)).state_dict()
    renamed = {to_transformers(name) for name in ours}
    assert renamed == {name for name in theirs.state_dict() if name != "cls.predictions.decoder.bias"}
    assert [from_transformers(to_transformers(name)) for name in ours] == list(ours)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("bert.embeddings.LayerNorm.gamma", "bert.embeddings.norm.weight"),
        ("encoder.layer.11.attention.output.LayerNorm.beta", "encoder.layers.11.attention_norm.bias"),
        ("cls.predictions.transform.LayerNorm.beta", "masked_lm.norm.bias"),
        ("sense_embeddings.LayerNorm.weight", "sense_embeddings.LayerNorm.weight"),  # no name of BERT's
        ("classifier.weight", "classifier.weight"),
        ("bert.pooler.dense.bias", "bert.pooler.dense.bias"),
    ],
)
def test_older_and_shared_names_are_understood(theirs, ours):
    assert from_transformers(theirs) == ours


# Round trips


@pytest.mark.parametrize("model_class", [BertModel, BertForPreTraining, BertForMaskedLM])
def test_a_round_trip_changes_no_bit(model_class, tmp_path):
    model = random_model(model_class)
    model.save_pretrained(tmp_path)
    loaded = load_quietly(model_class, tmp_path)
    assert loaded.config == CONFIG
    assert not loaded.training
    assert_same_weights(model, loaded)


def test_a_tied_decoder_stays_tied_and_is_saved_once(saved):
    names = load_file(saved / "model.safetensors").keys()
    assert "cls.predictions.decoder.weight" not in names
    assert "bert.embeddings.word_embeddings.weight" in names
    for model_class in (BertForPreTraining, BertForMaskedLM):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = model_class.from_pretrained(saved)
        assert model.masked_lm.decoder.weight.data_ptr() == model.bert.embeddings.token.weight.data_ptr()
        assert model.masked_lm.decoder.weight is model.bert.embeddings.token.weight


def test_a_model_saved_here_opens_whole_in_transformers(saved, tmp_path, caplog):
    random_model(BertForMaskedLM).save_pretrained(tmp_path / "words")
    random_model(BertModel).save_pretrained(tmp_path / "encoder")
    for auto_class, folder in [
        (transformers.AutoModelForMaskedLM, saved),
        (transformers.AutoModelForPreTraining, saved),
        (transformers.AutoModel, saved),
        (transformers.AutoModelForMaskedLM, tmp_path / "words"),
        (transformers.AutoModel, tmp_path / "encoder"),
    ]:
        with caplog.at_level(logging.WARNING):
            _, report = auto_class.from_pretrained(folder, output_loading_info=True)
        assert not report["missing_keys"] and not report["mismatched_keys"]
        assert "MISSING" not in caplog.text and "newly initialized" not in caplog.text
        belongs_elsewhere = ("cls.",) if auto_class is transformers.AutoModel else ("cls.seq", "bert.pooler")
        assert all(name.startswith(belongs_elsewhere) for name in report["unexpected_keys"])


@pytest.mark.parametrize("class_name", ["BertModel", "BertForPreTraining", "BertForMaskedLM"])
def test_a_model_saved_by_transformers_opens_whole_here(class_name, tmp_path):
    ours = {"BertModel": BertModel, "BertForPreTraining": BertForPreTraining, "BertForMaskedLM": BertForMaskedLM}
    theirs = getattr(transformers, class_name)(transformers.BertConfig(**asdict(CONFIG)))
    theirs.save_pretrained(tmp_path)
    model = load_quietly(ours[class_name], tmp_path)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, theirs.state_dict()[BERT.to_transformers(name, model.encoder_name)]), name


def test_the_fill_mask_pipeline_opens_the_folder(tmp_path):
    tokenizers = pytest.importorskip("bertedu.tokenization.bert")
    tokenizer = tokenizers.BertTokenizer.train(["the cat sat on the mat", "the dog sat on the log"] * 9, vocab_size=60)
    config = BertConfig(len(tokenizer), 16, 2, 2, 32, max_position_embeddings=16, initializer_range=0.2)
    model = random_model(BertForMaskedLM, config)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    pipeline = transformers.pipeline("fill-mask", model=str(tmp_path), top_k=3)
    answers = pipeline("the cat [MASK] on the mat")
    encoding = tokenizer("the cat [MASK] on the mat")
    place = (
        encoding.tokens.index("[MASK]") if isinstance(encoding.tokens[0], str) else encoding.tokens[0].index("[MASK]")
    )
    shares = model(torch.as_tensor(encoding.input_ids).reshape(1, -1)).prediction_logits[0, place].softmax(dim=-1)
    best = shares.topk(3)
    assert [answer["token"] for answer in answers] == best.indices.tolist()
    assert [answer["score"] for answer in answers] == pytest.approx(best.values.tolist(), rel=1e-4)


# Foreign files


def test_old_layer_norm_names_are_read(change):
    def age(tensors):
        aged = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): tensor for name, tensor in tensors.items()}
        return {name.replace("LayerNorm.bias", "LayerNorm.beta"): tensor for name, tensor in aged.items()}

    assert_same_weights(load_quietly(BertForPreTraining, change(age)), random_model())


def test_position_ids_of_older_files_are_read(change):
    folder = change(lambda tensors: {**tensors, "bert.embeddings.position_ids": torch.arange(8)[None]})
    assert_same_weights(load_quietly(BertForPreTraining, folder), random_model())


def test_a_file_opens_with_or_without_the_prefix(change, saved, tmp_path):
    random_model().bert.save_pretrained(tmp_path / "plain")
    with pytest.warns(UserWarning, match="no place in this model for masked_lm"):
        assert_same_weights(BertModel.from_pretrained(saved), random_model().bert)
    assert_same_weights(load_quietly(BertModel, tmp_path / "plain"), random_model().bert)
    with pytest.warns(UserWarning, match=r"lacks masked_lm.dense.weight, .* and 3 more: they start untrained"):
        assert_same_weights(BertForPreTraining.from_pretrained(tmp_path / "plain").bert, random_model().bert)


def test_a_decoder_written_a_second_time_is_read(change):
    def write_twice(tensors):
        table, bias = tensors["bert.embeddings.word_embeddings.weight"], tensors["cls.predictions.bias"]
        again = {"cls.predictions.decoder.weight": table.clone(), "cls.predictions.decoder.bias": bias.clone()}
        return {**tensors, **again}

    assert_same_weights(load_quietly(BertForPreTraining, change(write_twice)), random_model())


def test_an_untied_decoder_is_refused(change):
    folder = change(lambda tensors: {**tensors, "cls.predictions.decoder.weight": torch.ones(30, 16)})
    with pytest.raises(UserError, match=r"bert.embeddings.token.weight and masked_lm.decoder.weight differ"):
        BertForPreTraining.from_pretrained(folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_half_precision_file_makes_a_model_in_full_precision(change, dtype):
    folder = change(lambda tensors: {name: tensor.to(dtype) for name, tensor in tensors.items()})
    loaded, model = load_quietly(BertForPreTraining, folder), random_model()
    for name, tensor in model.state_dict().items():
        assert loaded.state_dict()[name].dtype == torch.float32
        assert torch.equal(loaded.state_dict()[name], tensor.to(dtype).float()), name


def test_a_missing_head_is_named_and_starts_at_random(change):
    folder = change(lambda tensors: {name: x for name, x in tensors.items() if "seq_relationship" not in name})
    with pytest.warns(
        UserWarning, match=r"lacks next_sentence.weight, next_sentence.bias: they start untrained"
    ) as seen:
        model = BertForPreTraining.from_pretrained(folder)
    assert seen[0].filename == __file__, "the warning points at the caller"
    assert 0 < model.next_sentence.weight.abs().max() <= 2 * CONFIG.initializer_range
    assert (model.next_sentence.bias == 0).all()


def test_an_unexpected_weight_is_named(change):
    folder = change(lambda tensors: {**tensors, "classifier.weight": torch.ones(2, 16)})
    with pytest.warns(UserWarning, match=r"no place in this model for classifier.weight: left out"):
        assert_same_weights(BertForPreTraining.from_pretrained(folder), random_model())


@pytest.mark.parametrize("edit", [lambda tensors: tensors, without_prefix])
def test_a_missing_encoder_weight_is_refused(change, edit):
    folder = change(lambda tensors: edit({name: x for name, x in tensors.items() if "layer.1.attention" not in name}))
    with pytest.raises(
        UserError, match=r"lacks bert.encoder.layers.1.attention.query.weight, .* and 6 more: it is not"
    ):
        BertForPreTraining.from_pretrained(folder)


def test_a_misshaped_weight_is_named(saved, change):
    folder = change(lambda tensors: {**tensors, "bert.pooler.dense.weight": torch.ones(3, 16)})
    with pytest.raises(UserError, match=r"bert.pooler.dense.weight \[3, 16\] instead of \[16, 16\]: config.json and"):
        BertForPreTraining.from_pretrained(folder)
