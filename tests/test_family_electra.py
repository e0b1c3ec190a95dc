"""ELECTRA's encoder and heads against `transformers`, both ways, and what differs from BERT."""

from dataclasses import asdict

import pytest
import torch
import transformers
from safetensors.torch import load_file
from support.family_parity import (
    CLOSE,
    DIRECTIONS,
    assert_same_hidden_states,
    assert_same_loss,
    masked_labels,
    padded_batch,
    twins,
)
from torch.testing import assert_close

from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.family.electra import ElectraConfig, ElectraForPreTraining, ElectraModel
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.inference import attention_weights, fill_mask, open_model, pseudo_perplexity
from bertedu.model.heads import MaskedLM
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

# E below, equal to and above D; other depths, widths, heads, activations, pad ids, positions, segments and epsilons.
CONFIGS = {
    "small": ElectraConfig(60, 16, 2, 4, 24, max_position_embeddings=14, embedding_size=8),
    "base": ElectraConfig(60, 16, 2, 2, 24, max_position_embeddings=14, embedding_size=16),
    "generator of base": ElectraConfig(60, 8, 3, 2, 20, max_position_embeddings=12, embedding_size=24),
    "tanh form": ElectraConfig(60, 16, 1, 4, 24, "gelu_new", max_position_embeddings=30, embedding_size=8),
    "another pad": ElectraConfig(60, 16, 2, 1, 24, pad_token_id=3, max_position_embeddings=14, embedding_size=4),
    "three segments": ElectraConfig(
        60, 12, 4, 3, 24, "gelu_new", layer_norm_eps=1e-5, type_vocab_size=3, max_position_embeddings=14
    ),
}
every_config = pytest.mark.parametrize("name", CONFIGS)
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


def batch_of(config: ElectraConfig) -> dict[str, torch.Tensor]:
    return padded_batch(config, segments=config.type_vocab_size)


@both_ways
@every_config
def test_the_encoder_is_that_of_transformers(name, saved_by, tmp_path):
    config = CONFIGS[name]
    ours, theirs = twins(ElectraModel, transformers.ElectraModel, config, saved_by, tmp_path)
    assert_same_hidden_states(ours, theirs, batch_of(config))
    assert ours(**batch_of(config)).pooler_output is None


@both_ways
@every_config
def test_the_discriminator_is_that_of_transformers(name, saved_by, tmp_path):
    """A LayerNorm in its head, or padding in its loss."""
    config, generator = CONFIGS[name], torch.Generator().manual_seed(4)
    models = twins(ElectraForPreTraining, transformers.ElectraForPreTraining, config, saved_by, tmp_path)
    batch = batch_of(config)
    labels = torch.randint(2, batch["input_ids"].shape, generator=generator)
    assert_same_loss(*models, batch, labels=labels)
    whole = {"input_ids": torch.randint(8, 60, (2, 9), generator=generator)}
    assert_same_loss(*models, whole, labels=labels[:2, :9])
    real = batch["attention_mask"].bool()
    assert_close(*(model(**batch).logits[real] for model in models), **CLOSE)


@both_ways
@every_config
def test_the_generator_is_that_of_transformers(name, saved_by, tmp_path):
    """Its activation follows hidden_act, or its bias is BERT's."""
    config = CONFIGS[name]
    ours, theirs = twins(MaskedLM, transformers.ElectraForMaskedLM, config, saved_by, tmp_path)
    batch = batch_of(config)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).prediction_logits[real], theirs(**batch).logits[real], **CLOSE)
    names = load_file(tmp_path / "model.safetensors").keys()
    assert "generator_lm_head.bias" in names and not any(name.startswith("cls.") for name in names)


TASKS = {
    "classes": (TextClassifier, "ElectraForSequenceClassification", TaskConfig(("a", "b", "c"))),
    "score": (TextClassifier, "ElectraForSequenceClassification", TaskConfig(("s",), "regression")),
    "tags": (Tagger, "ElectraForTokenClassification", TaskConfig(("O", "B-x", "I-x"))),
    "answers": (SpanFinder, "ElectraForQuestionAnswering", TaskConfig()),
    "choices": (ChoiceModel, "ElectraForMultipleChoice", TaskConfig()),
}


def labels_of(task: str, batch: dict[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """The batch as the task wants it, and its labels."""
    if task == "tags":
        return batch, {"labels": (batch["input_ids"] % 3).where(batch["attention_mask"].bool(), -100)}
    if task == "answers":
        return batch, {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([5, 0, 1])}
    if task == "choices":
        pairs = {name: torch.stack([tensor, tensor.roll(1, 0)], dim=1) for name, tensor in batch.items()}
        return pairs, {"labels": torch.tensor([0, 1, 0])}
    return batch, {"labels": torch.tensor([0.3, -1.0, 2.5]) if task == "score" else torch.tensor([0, 2, 1])}


@both_ways
@pytest.mark.parametrize("name", ["small", "base", "tanh form"])
@pytest.mark.parametrize("task", TASKS)
def test_every_head_is_that_of_transformers(task, name, saved_by, tmp_path):
    """With BERT's pooler, with tanh, or with an activation that follows hidden_act."""
    our_class, their_class, task_config = TASKS[task]
    classes = our_class, getattr(transformers, their_class)
    models = twins(*classes, CONFIGS[name], saved_by, tmp_path, task_config)
    batch, labels = labels_of(task, batch_of(CONFIGS[name]))
    assert_same_loss(*models, batch, **labels)


def test_the_config_is_the_published_one():
    theirs = transformers.ElectraConfig().to_dict()
    for field, value in asdict(ElectraConfig()).items():
        assert theirs[field] == value, field
    assert all(theirs.get(name, value) == value for name, value in ElectraConfig.fixed.items())


def counted(model_class: type[PretrainedModel], config: ElectraConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in model_class.from_config(config).parameters())


def test_the_published_sizes_have_the_published_numbers_of_weights():
    """Small and Base by hand; the paper says 14 million and 110 million."""
    embedded = (30522 + 512 + 2 + 2) * 128
    layer = 4 * (256 * 256 + 256) + 2 * 256 * 1024 + 1024 + 256 + 4 * 256
    assert counted(ElectraModel, ElectraConfig()) == embedded + (128 * 256 + 256) + 12 * layer == 13_483_008
    head = 256 * 256 + 256 + 256 + 1
    assert counted(ElectraForPreTraining, ElectraConfig()) == 13_483_008 + head
    base = ElectraConfig.preset("base")
    # BERT-Base without its pooler of 768 * 768 + 768.
    assert base.embedding_size == 768 and counted(ElectraModel, base) == 109_482_240 - (768 * 768 + 768)


def test_the_embeddings_of_a_preset_are_no_larger_than_published_or_than_the_model():
    sizes = {name: ElectraConfig.preset(name).embedding_size for name in ("tiny", "mini", "small", "base", "large")}
    assert sizes == {"tiny": 128, "mini": 128, "small": 128, "base": 768, "large": 1024}
    assert ElectraConfig.preset("mini", embedding_size=64).embedding_size == 64
    with pytest.raises(UserError, match="embedding_size is 0"):
        ElectraConfig(embedding_size=0)


def test_a_projection_is_there_only_where_the_published_weights_have_one(tmp_path):
    """Where E = D; and LayerNorm stands before it, over E numbers."""
    for name, has in (("base", False), ("small", True), ("generator of base", True)):
        ElectraModel(CONFIGS[name]).save_pretrained(tmp_path / name)
        names = load_file(tmp_path / name / "model.safetensors")
        assert ("embeddings_project.weight" in names) == has
        assert names["embeddings.LayerNorm.weight"].shape == (CONFIGS[name].embedding_size,)


@pytest.mark.parametrize(("name", "value"), [("summary_type", "mean"), ("summary_activation", "tanh")])
def test_a_switch_that_is_not_built_is_refused(name, value, tmp_path):
    """Multiple choice would then say something else than the model that was trained."""
    transformers.ElectraConfig(**{name: value}).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=f"{name} is '{value}', and only"):
        ElectraConfig.load(tmp_path)


@pytest.fixture
def tokenizer():
    return BertTokenizer([*SPECIAL_TOKENS, "the", "cat", "sat", "on", "mat", "."])


def saved(model_class, folder, tokenizer):
    torch.manual_seed(0)
    model_class(ElectraConfig(len(tokenizer), 16, 2, 2, 24, embedding_size=8)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_discriminator_is_not_opened_as_if_it_filled_masks(tmp_path, tokenizer):
    """In `transformers` it is called ForPreTraining, as BERT with both of its heads; read as that it would get a new
    masked-word head, and answer at random.
    """
    model, again = open_model(saved(ElectraForPreTraining, tmp_path, tokenizer))
    assert isinstance(model, ElectraForPreTraining)
    tokens, weights = attention_weights(model, again, "The cat sat.")
    assert tokens == ["[CLS]", "the", "cat", "sat", ".", "[SEP]"] and weights.shape == (2, 2, 6, 6)
    for ask in (fill_mask, pseudo_perplexity):
        with pytest.raises(UserError, match=r"fills no masks\. Give the folder of its generator"):
            ask(model, again, "The [MASK] sat.")


def test_a_generator_fills_masks(tmp_path, tokenizer):
    model, again = open_model(saved(MaskedLM, tmp_path, tokenizer))
    assert len(fill_mask(model, again, "The [MASK] sat.", top=3)[0]) == 3
