"""Pruning: a smaller model says what the large one says with the removed heads ablated."""

import pytest
import torch
from support.small_runs import POSITIONS, small_model, small_tokenizer
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification

from bertedu.errors import UserError
from bertedu.family.albert import AlbertConfig
from bertedu.finetuning.classification import TextClassifier
from bertedu.model.architecture import architecture
from bertedu.production.onnx_export import export_model
from bertedu.production.pruning import (
    PRUNED,
    attentions_of,
    gated,
    head_importance,
    least_important,
    open_pruned,
    remove_heads,
    remove_layers,
    save_pruned,
)

LABELS = ("no", "yes", "perhaps")
TEXTS = ["the cat sat on a mat", "paris", "people speak french , he she", "a dog"]
HEADS = {0: (1,), 1: (0, 2, 3)}


@pytest.fixture
def model() -> TextClassifier:
    made = small_model(TextClassifier, LABELS, hidden_size=32, num_attention_heads=4, initializer_range=0.4)
    for name, weight in made.named_parameters():
        if name.endswith("bias"):  # they start at 0, where a lost one would not show
            torch.nn.init.normal_(weight, std=0.4)
    return made


def batch_of(*texts: str) -> dict[str, torch.Tensor]:
    return {**small_tokenizer()(list(texts)), "labels": torch.arange(len(texts)) % 3}


def logits_of(model, batch) -> torch.Tensor:
    return model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"]).logits


def summed_loss(model, batch) -> torch.Tensor:
    return cross_entropy(logits_of(model, batch), batch["labels"], reduction="sum")


def gates_without(heads) -> list[torch.Tensor]:
    return [torch.tensor([float(head not in heads.get(layer, ())) for head in range(4)]) for layer in range(2)]


@torch.no_grad()
def test_the_head_that_is_named_is_removed(model):
    batch, pruned = batch_of(*TEXTS), remove_heads(model, HEADS)
    with gated(model, gates_without(HEADS)):
        ablated = logits_of(model, batch)
    assert (logits_of(pruned, batch) - ablated).abs().max() < 1e-5
    assert (ablated - logits_of(model, batch)).abs().max() > 0.1, "the heads did nothing, so the test shows nothing"


def test_removed_heads_are_not_computed(model):
    first, second = attentions_of(remove_heads(model, HEADS))
    for projection in (first.query, first.key, first.value):
        assert projection.weight.shape == (24, 32) and projection.bias.shape == (24,)
    assert first.output.weight.shape == (32, 24) and second.output.weight.shape == (32, 8)
    assert (first.num_heads, second.num_heads) == (3, 1)
    assert [one.num_heads for one in attentions_of(model)] == [4, 4], "the whole model was changed"


def test_gates_of_one_change_nothing_and_are_gone_after_the_block(model):
    batch = batch_of(*TEXTS)
    right = logits_of(model, batch)
    with gated(model, gates_without({})):
        assert torch.equal(logits_of(model, batch), right)
    with gated(model, gates_without(HEADS)):
        pass
    assert torch.equal(logits_of(model, batch), right)


def test_importance_is_the_mean_size_of_the_gradient_of_its_own_gate(model):
    """Each text alone, one gate moved a little up and down: the slope, its size averaged over texts."""
    model.double()
    found = head_importance(model, [batch_of(*TEXTS[:3]), batch_of(TEXTS[3])], summed_loss)
    step, labels = 1e-5, [0, 1, 2, 0]
    for layer in range(2):
        for head in range(4):
            slopes = []
            for text, label in zip(TEXTS, labels, strict=True):
                alone, sides = {**batch_of(text), "labels": torch.tensor([label])}, []
                for change in (step, -step):
                    gates = [gate.double() for gate in gates_without({})]
                    gates[layer][head] += change
                    with torch.no_grad(), gated(model, gates):
                        sides.append(float(summed_loss(model, alone)))
                slopes.append(abs(sides[0] - sides[1]) / (2 * step))
            assert float(found[layer][head]) == pytest.approx(sum(slopes) / len(slopes), rel=1e-4, abs=1e-8)


def test_measuring_leaves_no_gradients_and_turns_dropout_off(model):
    right = head_importance(model, [batch_of(*TEXTS)], summed_loss)
    model.train()
    found = head_importance(model, [batch_of(*TEXTS)], summed_loss)
    assert all(torch.equal(one, other) for one, other in zip(found, right, strict=True))
    assert model.training and all(one.grad is None for one in model.parameters())


def test_no_layer_loses_its_last_head_and_the_least_important_go_first():
    importance = [torch.tensor([0.3, 0.1, 0.2, 0.4]), torch.tensor([30.0, 10.0, 1.0, 2.0])]
    # the first layer's norm is 0.55: 0.55, 0.18, 0.37, 0.73; the second's 31.7: 0.95, 0.32, 0.03, 0.06
    assert least_important(importance, 0.375) == {0: (1,), 1: (2, 3)}
    assert least_important(importance, 0.75) == {0: (0, 1, 2), 1: (1, 2, 3)}
    assert least_important(importance, 0) == {0: (), 1: ()}
    assert least_important([torch.zeros(4)], 0.75) == {0: (1, 2, 3)}
    for share in (0.9, 1.0, -0.1, float("nan")):
        with pytest.raises(UserError, match=r"share is .* from 0 to 0\.75"):
            least_important(importance, share)


def test_a_pruned_model_opens_as_it_was(model, tmp_path):
    batch, pruned = batch_of(*TEXTS), remove_heads(model, HEADS)
    save_pruned(pruned, tmp_path)
    again = open_pruned(TextClassifier, tmp_path)
    assert torch.equal(logits_of(again, batch), logits_of(pruned, batch))
    assert again.task_config == model.task_config and not again.training
    assert remove_heads(again, {0: (0,)}) is not None, "it cannot be pruned further"
    with pytest.raises(UserError, match=r"config\.json and the weights are not of the same model"):
        TextClassifier.from_pretrained(tmp_path)


def test_a_damaged_folder_is_refused_in_words(model, tmp_path):
    model.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=PRUNED):
        open_pruned(TextClassifier, tmp_path)
    for text in ("[]", "{", "{}", '{"heads": [4]}', '{"heads": [4, 0]}', '{"heads": [4, 5]}', '{"heads": "44"}'):
        (tmp_path / PRUNED).write_text(text)
        with pytest.raises(UserError, match=PRUNED):
            open_pruned(TextClassifier, tmp_path)


@torch.no_grad()
def test_the_layers_asked_for_are_kept_and_open_in_transformers(tmp_path):
    model = small_model(TextClassifier, LABELS, num_hidden_layers=4, initializer_range=0.4)
    batch, smaller = batch_of(*TEXTS), remove_layers(model, (0, 2))
    inside = {**dict(model.named_parameters())}
    for name, weight in smaller.named_parameters():
        assert torch.equal(weight, inside[name.replace("layers.1.", "layers.2.")]), name
    smaller.save_pretrained(tmp_path)
    reference = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert reference.config.num_hidden_layers == 2 and model.config.num_hidden_layers == 4
    said = reference(**{name: value for name, value in batch.items() if name != "labels"}).logits
    assert (logits_of(smaller, batch) - said).abs().max() < 1e-5
    again = TextClassifier.from_pretrained(tmp_path)
    assert torch.equal(logits_of(again, batch), logits_of(smaller, batch))


def test_a_pruned_model_can_be_exported(model, tmp_path):
    pruned = remove_heads(model, HEADS)
    made = export_model(pruned, small_tokenizer(), tmp_path / "made")
    assert made.checked["largest_difference"] < 1e-5 and made.max_tokens == POSITIONS


def test_wrong_numbers_are_refused_and_prune_nothing(model):
    for heads, said in (
        ({2: (0,)}, "no layer 2"),
        ({0: (4,)}, "layer 0 has the heads 0 to 3"),
        ({-1: (0,)}, "no layer -1"),
    ):
        with pytest.raises(UserError, match=said):
            remove_heads(model, heads)
    with pytest.raises(UserError, match="would keep no head"):
        remove_heads(model, {1: range(4)})
    for kept in ((), (2,), (-1,), (1, 0), (0, 0)):
        with pytest.raises(UserError, match="layers to keep"):
            remove_layers(model, kept)
    with pytest.raises(UserError, match="no text"):
        head_importance(model, [], summed_loss)


def test_a_member_whose_layers_share_weights_is_not_pruned():
    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    shared = architecture("albert").encoder(AlbertConfig(**sizes, intermediate_size=32, embedding_size=8))
    with pytest.raises(UserError, match="'albert' cannot be pruned"):
        remove_layers(shared, (0,))
