"""DistilBERT against `transformers`, and the student that starts from layers of its teacher."""

from dataclasses import asdict, replace

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
    perturbed,
    twins,
)
from torch.testing import assert_close

from bertedu import BertConfig, BertForMaskedLM, BertForPreTraining, UserError
from bertedu.config import TaskConfig
from bertedu.family.albert import AlbertConfig
from bertedu.family.distilbert import DistilBertConfig, DistilBertModel, copied_layers, student_of
from bertedu.files import read_json
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.heads import MaskedLM

CONFIGS = {
    "one layer, one head, no position to spare": DistilBertConfig(40, 8, 1, 1, 8, max_position_embeddings=12),
    "usual proportions": DistilBertConfig(97, 32, 2, 4, 128, max_position_embeddings=24),
    "tanh GELU": DistilBertConfig(64, 24, 3, 3, 96, "gelu_new", max_position_embeddings=16),
    "narrow feed-forward, many heads": DistilBertConfig(50, 48, 2, 12, 20, max_position_embeddings=16),
    "deep, padding is 7": DistilBertConfig(71, 16, 6, 2, 40, max_position_embeddings=20, pad_token_id=7),
    "wide": DistilBertConfig(33, 64, 1, 8, 256, max_position_embeddings=30),
}
SMALL = CONFIGS["usual proportions"]
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
both_ways = pytest.mark.parametrize("saved_by", DIRECTIONS)


@both_ways
@every_config
def test_the_encoder_is_that_of_transformers(config, saved_by, tmp_path):
    ours, theirs = twins(DistilBertModel, transformers.DistilBertModel, config, saved_by, tmp_path)
    assert_same_hidden_states(ours, theirs, padded_batch(config))


@both_ways
@every_config
def test_the_loss_over_masked_words_and_its_gradients_are_those_of_transformers(config, saved_by, tmp_path):
    batch = padded_batch(config)
    ours, theirs = twins(MaskedLM, transformers.DistilBertForMaskedLM, config, saved_by, tmp_path)
    assert_close(ours(**batch).prediction_logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=masked_labels(batch))


@both_ways
@pytest.mark.parametrize("problem", ["classes", "regression"])
def test_the_head_for_texts_has_a_layer_of_its_own_and_no_tanh(problem, saved_by, tmp_path):
    task = TaskConfig(("a", "b", "c")) if problem == "classes" else TaskConfig(("score",), "regression")
    labels = torch.tensor([0, 2, 1]) if problem == "classes" else torch.tensor([0.5, -1.0, 2.0])
    batch = padded_batch(SMALL)
    classes = (TextClassifier, transformers.DistilBertForSequenceClassification)
    ours, theirs = twins(*classes, SMALL, saved_by, tmp_path, task)
    assert "pre_classifier.weight" in load_file(tmp_path / "model.safetensors")
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=labels)


@both_ways
def test_the_head_for_tokens_is_that_of_transformers(saved_by, tmp_path):
    batch = padded_batch(SMALL)
    classes = (Tagger, transformers.DistilBertForTokenClassification)
    ours, theirs = twins(*classes, SMALL, saved_by, tmp_path, TaskConfig(("O", "B-x", "I-x")))
    real = batch["attention_mask"].bool()
    assert_close(ours(**batch).logits[real], theirs(**batch).logits[real], **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=(batch["input_ids"] % 3).where(real, -100))


@both_ways
def test_the_head_for_answers_is_that_of_transformers(saved_by, tmp_path):
    batch = padded_batch(SMALL)
    ours, theirs = twins(SpanFinder, transformers.DistilBertForQuestionAnswering, SMALL, saved_by, tmp_path)
    assert_close(ours(**batch).end_logits, theirs(**batch).end_logits, **CLOSE)
    ends = {"start_positions": torch.tensor([3, 0, 1]), "end_positions": torch.tensor([5, 4, 1])}
    assert_same_loss(ours, theirs, batch, **ends)


@both_ways
def test_the_head_for_choices_has_a_layer_of_its_own_and_no_tanh(saved_by, tmp_path):
    flat = padded_batch(SMALL)
    batch = {name: torch.stack([tensor, tensor.flip(0)], dim=1) for name, tensor in flat.items()}  # [B, 2, T]
    ours, theirs = twins(ChoiceModel, transformers.DistilBertForMultipleChoice, SMALL, saved_by, tmp_path)
    assert_close(ours(**batch).logits, theirs(**batch).logits, **CLOSE)
    assert_same_loss(ours, theirs, batch, labels=torch.tensor([0, 1, 0]))


def test_every_head_drops_its_published_share():
    """Twice as much before the classes as in the layers; and answers are read from vectors with dropout."""
    config = replace(SMALL, seq_classif_dropout=0.25, qa_dropout=0.375)
    for model, share in (
        (TextClassifier.from_config(config, TaskConfig(("a", "b"))), 0.25),
        (ChoiceModel.from_config(config), 0.25),
        (SpanFinder.from_config(config), 0.375),
    ):
        shares = [part.p for part in model.modules() if isinstance(part, torch.nn.Dropout)]
        assert shares.count(share) == 1 and set(shares) == {0.1, share}
    torch.manual_seed(0)
    finder, ids = SpanFinder.from_config(replace(SMALL, qa_dropout=0.9)), torch.arange(8, 20)[None]
    finder.encoder.eval()  # only the head's dropout is left
    assert not torch.equal(finder(ids).start_logits, finder(ids).start_logits)


def test_the_defaults_are_the_published_ones(tmp_path):
    config, published = DistilBertConfig(), transformers.DistilBertConfig()
    theirs = {DistilBertConfig.names_on_disk.get(name, name): name for name in asdict(config)}
    theirs.pop("layer_norm_eps")  # not in their config, but in their code
    assert {name: getattr(published, name) for name in theirs} == {n: getattr(config, o) for n, o in theirs.items()}
    published.save_pretrained(tmp_path)
    assert DistilBertConfig.load(tmp_path) == config
    assert DistilBertConfig.preset("base") == config


def test_config_json_uses_the_names_of_distilbert(tmp_path):
    """Read by `transformers`, a config with hidden_size and no dim is one of 768."""
    SMALL.save(tmp_path, "DistilBertModel")
    written = read_json(tmp_path / "config.json")
    sizes = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 128}
    assert sizes | {"dropout": 0.1, "attention_dropout": 0.1, "activation": "gelu"} == {
        name: written[name] for name in (*sizes, "dropout", "attention_dropout", "activation")
    }
    assert not {"hidden_size", "num_hidden_layers", "hidden_act", "hidden_dropout_prob"} & written.keys()


def test_an_epsilon_that_transformers_does_not_know_is_refused():
    with pytest.raises(UserError, match="layer_norm_eps is 1e-05, and a DistilBERT has 1e-12: leave it out"):
        replace(SMALL, layer_norm_eps=1e-5)


def test_the_published_model_has_the_published_number_of_weights():
    """By hand, and what the paper says: 66 million, 40 % fewer than BERT-Base's 110."""
    V, D = 30522, 768
    layer = 4 * (D * D + D) + 2 * D + (D * 4 * D + 4 * D) + (4 * D * D + D) + 2 * D
    by_hand = (V + 512) * D + 2 * D + 6 * layer
    with torch.device("meta"):
        ours = DistilBertModel(DistilBertConfig())
        theirs = transformers.DistilBertModel(transformers.DistilBertConfig())
    for model in (ours, theirs):
        assert sum(weight.numel() for weight in model.parameters()) == by_hand == 66_362_880


def test_every_weight_has_its_name_on_disk(tmp_path):
    MaskedLM(replace(SMALL, num_hidden_layers=1)).save_pretrained(tmp_path)
    layer = "distilbert.transformer.layer.0."
    modules = [
        *(f"{layer}attention.{part}" for part in ("q_lin", "k_lin", "v_lin", "out_lin")),
        *(f"{layer}{part}" for part in ("sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm")),
        *("distilbert.embeddings.LayerNorm", "vocab_transform", "vocab_layer_norm"),
    ]
    tables = {f"distilbert.embeddings.{table}_embeddings.weight" for table in ("word", "position")}
    expected = {f"{module}.{kind}" for module in modules for kind in ("weight", "bias")}
    assert load_file(tmp_path / "model.safetensors").keys() == expected | tables | {"vocab_projector.bias"}


@torch.no_grad()
def test_segments_change_no_vector_and_there_is_no_pooler():
    model, batch = perturbed(DistilBertModel(SMALL, add_pooling_layer=True)), padded_batch(SMALL, segments=5)
    output = model(**batch)
    assert output.pooler_output is None
    with pytest.raises(UserError, match="of the type 'distilbert' has no pooler, from which two texts are judged"):
        BertForPreTraining(SMALL)(batch["input_ids"])
    del batch["token_type_ids"]
    assert torch.equal(model(**batch).last_hidden_state, output.last_hidden_state)


@torch.no_grad()
def test_a_model_with_sinusoidal_positions_is_read(tmp_path):
    """Some published configs have the switch; the positions stand in the file, whatever they were drawn from."""
    config = transformers.DistilBertConfig(
        vocab_size=40,
        max_position_embeddings=12,
        n_layers=2,
        n_heads=2,
        dim=8,
        hidden_dim=16,
        sinusoidal_pos_embds=True,
    )
    theirs = transformers.DistilBertModel(config).eval()
    theirs.save_pretrained(tmp_path)
    ours = DistilBertModel.from_pretrained(tmp_path)
    assert_same_hidden_states(ours, theirs, padded_batch(ours.config), attentions=False)


def teacher(layers=12, model_class=BertForMaskedLM, **others):
    """A BERT whose weights all matter."""
    return perturbed(model_class(BertConfig(97, 32, layers, 4, 64, max_position_embeddings=24, **others)))


@torch.no_grad()
@pytest.mark.parametrize("model_class", [BertForMaskedLM, BertForPreTraining])
def test_a_student_of_all_layers_says_what_its_teacher_says(model_class):
    """For one text, in which every token is of segment 0. Other sizes than BERT-Base's stay as they are."""
    bert = teacher(3, model_class, hidden_act="gelu_new", pad_token_id=7)
    student, batch = student_of(bert, layers=range(3)), padded_batch(SMALL)
    for mine, its in zip(
        student(**batch, output_hidden_states=True).hidden_states,
        bert(**batch, output_hidden_states=True).hidden_states,
        strict=True,
    ):
        assert_close(mine, its, **CLOSE)
    assert_close(student(**batch).prediction_logits, bert(**batch).prediction_logits, **CLOSE)
    assert not student.training and student.config.model_type == "distilbert"


def test_a_student_starts_from_every_second_layer():
    """Sanh et al.: every second layer, the first and the last among them. In order, and the head too."""
    assert copied_layers(12, 6) == (0, 2, 4, 7, 9, 11)
    assert copied_layers(4, 2) == (0, 3) and copied_layers(12, 1) == (0,) and copied_layers(3, 3) == (0, 1, 2)
    bert = teacher()
    student = student_of(bert)
    assert student.config.num_hidden_layers == 6
    weights, of_teacher = student.encoder.state_dict(), bert.bert.state_dict()
    for number, layer in enumerate((0, 2, 4, 7, 9, 11)):
        inside = {name for name in weights if name.startswith(f"encoder.layers.{number}.")}
        assert len(inside) == 16
        for name in inside:
            assert torch.equal(weights[name], of_teacher[name.replace(f".{number}.", f".{layer}.", 1)]), name
    assert torch.equal(weights["embeddings.token.weight"], of_teacher["embeddings.token.weight"])
    for name, weight in student.masked_lm.state_dict().items():
        assert torch.equal(weight, bert.masked_lm.state_dict()[name]), name
    assert student.masked_lm.decoder.weight is student.encoder.embeddings.token.weight


def test_a_student_shares_no_memory_with_its_teacher():
    """Training it would teach the teacher."""
    bert = teacher(2)
    before = {name: weight.clone() for name, weight in bert.state_dict().items()}
    with torch.no_grad():
        for weight in student_of(bert, layers=[1]).parameters():
            weight.add_(1)
    assert all(torch.equal(weight, before[name]) for name, weight in bert.state_dict().items())


def test_a_student_of_what_it_cannot_copy_is_refused():
    with pytest.raises(UserError, match=r"layers are \[0, 2\]: give numbers from 0 to 1"):
        student_of(teacher(2), layers=[0, 2])
    with pytest.raises(UserError, match=r"layers are \[\]: give numbers from 0 to 1"):
        student_of(teacher(2), layers=[])
    with pytest.raises(UserError, match="the teacher's model_type is 'albert': layers are copied from a BERT only"):
        student_of(MaskedLM(AlbertConfig(40, 8, 2, 1, 8)))
    with pytest.raises(UserError, match="a student has 1 to 2 layers, as many as its teacher, and not 3"):
        copied_layers(2, 3)
    with pytest.raises(UserError, match="layer_norm_eps is 1e-05, and a DistilBERT has 1e-12"):
        student_of(teacher(2, layer_norm_eps=1e-5))


def test_a_saved_student_is_the_same_model_in_transformers(tmp_path):
    student, batch = student_of(teacher(4)), padded_batch(SMALL)
    student.save_pretrained(tmp_path)
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path)
    assert isinstance(theirs, transformers.DistilBertForMaskedLM)
    assert_close(student(**batch).prediction_logits, theirs(**batch).logits, **CLOSE)
