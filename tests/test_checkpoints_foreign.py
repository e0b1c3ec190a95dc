"""Checkpoints as others leave them: wrapped, cut into files, of another task, with classes that have no names."""

import json

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from support.random_models import CONFIG, assert_same_weights, load_quietly, random_model

from bertedu import BertForMaskedLM, BertForPreTraining, BertModel, UserError
from bertedu.checkpoints.weights import weight_files
from bertedu.config import TaskConfig
from bertedu.finetuning.asking import answer_question, open_finder
from bertedu.finetuning.classification import BertForSequenceClassification
from bertedu.finetuning.tasks.question_answering import BertForQuestionAnswering
from bertedu.inference import open_filler, open_model
from bertedu.production.uses import open_to_export, use_of
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

IDS = torch.tensor([[2, 7, 8, 9, 3]])
TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefghijklmnopqrstuvwxy"])


def saved_by_transformers(folder, class_name="BertForSequenceClassification", **changes):
    """A small random model that `transformers` wrote, with a tokenizer beside it; returns the model."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(**sizes, intermediate_size=32, max_position_embeddings=128, **changes)
    model = getattr(transformers, class_name)(config).eval()
    model.save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)
    return model


def edit_config(folder, **changes):
    path = folder / "config.json"
    values = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    path.write_text(json.dumps({name: value for name, value in values.items() if value != "nothing"}), encoding="utf-8")


# Names that wrapping left


WRAPPERS = ["_orig_mod.", "module.", "model.", "module._orig_mod.", "_orig_mod.module.model.", "base_model.net."]


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("model_class", [BertModel, BertForPreTraining])
def test_what_wrapping_put_before_the_names_is_taken_away(wrapper, model_class, tmp_path):
    random_model(model_class).save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    save_file({f"{wrapper}{name}": tensor for name, tensor in load_file(path).items()}, path, {"format": "pt"})
    assert_same_weights(load_quietly(model_class, tmp_path), random_model(model_class))


def test_a_compiled_layer_inside_a_model_is_found(saved):
    path = saved / "model.safetensors"
    compiled = {name.replace("layer.", "layer._orig_mod."): x for name, x in load_file(path).items()}
    compiled = {name.replace("_orig_mod.1.", "1._fsdp_wrapped_module."): x for name, x in compiled.items()}
    save_file(compiled, path, {"format": "pt"})
    assert_same_weights(load_quietly(BertForPreTraining, saved), random_model())


def test_a_file_with_two_encoders_is_refused(saved):
    path = saved / "model.safetensors"
    both = {f"{side}.{name}": x.clone() for side in ("query", "passage") for name, x in load_file(path).items()}
    save_file(both, path, {"format": "pt"})
    with pytest.raises(UserError, match=r"several encoders \(passage\.embeddings\.word.*, query\.embeddings\.word.*\)"):
        BertForPreTraining.from_pretrained(saved)


def test_an_adapter_that_was_not_merged_is_refused(saved):
    path, name = saved / "model.safetensors", "bert.encoder.layer.0.attention.self.query.lora_A.default.weight"
    save_file({**load_file(path), name: torch.ones(2, 16)}, path, {"format": "pt"})
    with pytest.raises(UserError, match=r"query\.lora_A\.default\.weight is of an adapter: merge it"):
        BertForPreTraining.from_pretrained(saved)


# Several files


@pytest.fixture
def shards(tmp_path):
    """A folder that `transformers` cut into several files, and the model."""
    model = saved_by_transformers(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    model.save_pretrained(tmp_path, max_shard_size="10KB")
    assert len(weight_files(tmp_path)) > 1
    return tmp_path, model


def test_a_model_in_several_files_is_read_whole(shards):
    folder, theirs = shards
    assert torch.equal(load_quietly(BertForSequenceClassification, folder)(IDS).logits, theirs(IDS).logits)


def test_a_missing_part_of_a_model_is_named(shards):
    folder, _ = shards
    first = weight_files(folder)[0]
    first.unlink()
    with pytest.raises(UserError, match=rf"index\.json names \d+ files, and 1 of them are missing \({first.name}\)"):
        BertForSequenceClassification.from_pretrained(folder)
    (folder / "model.safetensors.index.json").unlink()
    with pytest.raises(UserError, match=r"has model-0.*\(a part of a model whose model.safetensors.index.json is miss"):
        BertForSequenceClassification.from_pretrained(folder)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ({"weight_map": {"x": "../elsewhere.safetensors"}}, "weight_map has '../elsewhere.safetensors': name files"),
        ({"weight_map": {}}, "weight_map names no file"),
        ({}, "weight_map names no file"),
        ({"weight_map": ["a"]}, "weight_map is"),
    ],
)
def test_a_damaged_index_is_refused(shards, index, says):
    folder, _ = shards
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(UserError, match=says):
        BertForSequenceClassification.from_pretrained(folder)


def test_an_index_that_promises_more_than_its_files_have_is_refused(shards):
    folder, _ = shards
    path = weight_files(folder)[0]
    tensors = load_file(path)
    name = next(iter(tensors))
    save_file({"other": tensors.pop(name), **tensors}, path)
    with pytest.raises(UserError, match=rf"{path.name} lacks {name}, which model.safetensors.index.json has there"):
        BertForSequenceClassification.from_pretrained(folder)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tf_model.h5", "the format of another library: open it in transformers 4 with from_tf=True"),
        ("flax_model.msgpack", "the format of another library"),
        ("adapter_model.safetensors", "an adapter without its model: merge both"),
        ("pytorch_model-00001-of-00002.bin", "a pickle"),
        ("model.fp16.safetensors", "weights under another name: call them model.safetensors"),
    ],
)
def test_weights_in_another_form_are_named_with_what_to_do(saved, name, says):
    (saved / "model.safetensors").rename(saved / name)
    with pytest.raises(UserError, match=rf"holds no model\.safetensors: .*; it has {name} \({says}"):
        BertForPreTraining.from_pretrained(saved)


# Classes and scores


def test_one_class_without_a_problem_is_a_score(tmp_path):
    theirs = saved_by_transformers(tmp_path, num_labels=1)
    assert TaskConfig.load(tmp_path).problem_type == "regression" and use_of(tmp_path) == "score"
    ours = load_quietly(BertForSequenceClassification, tmp_path)
    assert torch.equal(ours(IDS).logits, theirs(IDS).logits)
    right = theirs(IDS, labels=torch.tensor([0.5])).loss
    assert torch.allclose(ours(IDS, labels=torch.tensor([0.5])).loss, right)


@pytest.mark.parametrize("class_name", ["BertForSequenceClassification", "BertForTokenClassification"])
@pytest.mark.parametrize("number", [None, 2, 3])
def test_classes_without_names_are_numbered_as_in_transformers(class_name, number, tmp_path):
    theirs = saved_by_transformers(tmp_path, class_name, num_labels=number or 2)
    edit_config(tmp_path, id2label="nothing", label2id="nothing", num_labels=number or "nothing")
    read = transformers.AutoConfig.from_pretrained(tmp_path).id2label
    assert TaskConfig.load(tmp_path).labels == tuple(read[index] for index in range(len(read)))
    model, _, _ = open_to_export(tmp_path)
    assert torch.equal(model(IDS).logits, theirs(IDS).logits)


def test_one_tag_is_no_score(tmp_path):
    saved_by_transformers(tmp_path, "BertForTokenClassification", num_labels=1)
    assert TaskConfig.load(tmp_path).problem_type != "regression" and use_of(tmp_path) == "tags"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"problem_type": "single_label_classification", "id2label": {"0": "a"}},
            "one class, whose probability is alw",
        ),
        ({"problem_type": "regression", "id2label": {"0": "a", "1": "b"}}, "with 2 scores: one score is read here"),
        ({"num_labels": 5, "id2label": {"0": "a", "1": "b"}}, "num_labels is 5, and id2label names 2 classes"),
        ({"num_labels": -1, "id2label": None}, "num_labels is -1: give the number of classes"),
    ],
)
def test_classes_that_make_no_sense_are_refused(tmp_path, changes, says):
    saved_by_transformers(tmp_path)
    edit_config(tmp_path, **changes)
    with pytest.raises(UserError, match=rf"config\.json: .*{says}"):
        BertForSequenceClassification.from_pretrained(tmp_path)


def test_a_model_without_classes_has_none(tmp_path):
    for class_name in ("BertModel", "BertForMaskedLM", "BertForQuestionAnswering"):
        saved_by_transformers(tmp_path, class_name)
        assert TaskConfig.load(tmp_path).labels == ()


# A model of another task


def test_masks_are_not_filled_by_a_model_that_never_learned_it(tmp_path):
    saved_by_transformers(tmp_path)
    with pytest.raises(
        UserError, match=r"holds a BertForSequenceClassification, whose weights lack .*that fills masks"
    ):
        open_filler(tmp_path)
    saved_by_transformers(tmp_path, "BertModel")
    with pytest.raises(UserError, match=r"holds a BertModel, whose weights lack masked_lm"):
        open_filler(tmp_path)
    with pytest.warns(UserWarning, match="start untrained|no place in this model for pooler"):
        open_model(tmp_path)  # for attention and vectors it is good


def test_a_name_in_the_config_does_not_make_a_head(tmp_path):
    for kind, opened in (
        ("BertForMaskedLM", open_filler),
        ("BertForQuestionAnswering", open_finder),
        ("BertForTokenClassification", open_to_export),
    ):
        saved_by_transformers(tmp_path, "BertModel")
        edit_config(tmp_path, architectures=[kind])
        with pytest.raises(UserError, match=rf"holds a {kind}, whose weights lack"):
            opened(tmp_path)


def test_a_question_is_not_answered_by_a_model_of_another_task(tmp_path):
    for kind in ("BertForMaskedLM", "BertForSequenceClassification"):
        saved_by_transformers(tmp_path, kind)
        with pytest.raises(UserError, match=rf"holds a {kind}, whose weights lack qa_outputs.*that answers questions"):
            open_finder(tmp_path)


def test_a_masked_model_without_the_next_sentence_still_fills(tmp_path):
    random_model(BertForMaskedLM).save_pretrained(tmp_path)
    TOKENIZER.save_pretrained(tmp_path)
    edit_config(tmp_path, architectures=["BertForPreTraining"])
    path = tmp_path / "model.safetensors"
    pooler = {"bert.pooler.dense.weight": torch.ones(16, 16), "bert.pooler.dense.bias": torch.ones(16)}
    save_file({**load_file(path), **pooler}, path, {"format": "pt"})
    with pytest.warns(UserWarning, match="next_sentence.*start untrained"):
        assert open_filler(tmp_path)[0].config == CONFIG


def test_no_question_is_cut(tmp_path):
    saved_by_transformers(tmp_path, "BertForQuestionAnswering")
    asked, context = open_finder(tmp_path), " ".join("abcdefgh" * 5)
    assert isinstance(asked[0], BertForQuestionAnswering)
    answer_question(*asked, "a " * 64, context)
    with pytest.raises(UserError, match="the question has 65 tokens, and this model reads 64: shorten it"):
        answer_question(*asked, "a " * 65, context)


# Tokens and ids


@pytest.mark.parametrize(
    ("class_name", "opened"),
    [
        ("BertForMaskedLM", open_filler),
        ("BertForQuestionAnswering", open_finder),
        ("BertForSequenceClassification", open_to_export),
    ],
)
def test_ids_without_a_token_are_told_and_tokens_without_an_id_refused(class_name, opened, tmp_path):
    saved_by_transformers(tmp_path, class_name)
    BertTokenizer(TOKENIZER.tokens[:-2]).save_pretrained(tmp_path)
    with pytest.warns(UserWarning, match="the model has 30 ids and the tokenizer 28 tokens"):
        opened(tmp_path)
    BertTokenizer([*TOKENIZER.tokens, "more"]).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="the tokenizer has 31 tokens and the model knows 30"):
        opened(tmp_path)
