"""The model against `transformers`: outputs, losses and gradients, in both directions of loading."""

import os
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
import transformers
from torch.testing import assert_close

import bertedu
from bertedu import BertConfig
from bertedu.checkpoints.names import BERT

# Small models of every shape. Weights ten times as wide as published make a difference anywhere visible.
CONFIGS = {
    "one layer, one head": BertConfig(40, 8, 1, 1, 8, "gelu", type_vocab_size=1, max_position_embeddings=12),
    "usual proportions": BertConfig(97, 32, 2, 4, 128, "gelu", max_position_embeddings=24),
    "tanh GELU": BertConfig(64, 24, 3, 3, 96, "gelu_new", max_position_embeddings=16),
    "narrow feed-forward": BertConfig(50, 48, 2, 12, 20, "gelu", type_vocab_size=3, max_position_embeddings=16),
    "deep, [PAD] in the middle": BertConfig(71, 16, 6, 2, 40, "gelu_new", pad_token_id=7, type_vocab_size=4),
    "wide epsilon": BertConfig(33, 64, 1, 8, 256, "gelu", layer_norm_eps=1e-3, max_position_embeddings=12),
}
CLASSES = ("BertModel", "BertForPreTraining", "BertForMaskedLM")
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def perturbed(model):
    """Move every weight, so that biases are not zero and LayerNorm is not the identity."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def both(class_name: str, config: BertConfig, saved_by: str, folder: Path, attention: str):
    """The same weights in our class and in theirs: made and saved on one side, loaded on the other."""
    their_class = getattr(transformers, class_name)
    torch.manual_seed(1)
    if saved_by == "ours":
        ours = perturbed(getattr(bertedu, class_name)(config))
        ours.save_pretrained(folder)
        theirs = their_class.from_pretrained(folder, attn_implementation=attention)
    else:
        theirs = perturbed(their_class(transformers.BertConfig(**asdict(config), attn_implementation=attention)))
        theirs.save_pretrained(folder)
        ours = getattr(bertedu, class_name).from_pretrained(folder)
    return ours.eval(), theirs.eval()


def batch(config: BertConfig) -> dict[str, torch.Tensor]:
    """Three texts of 12, 7 and 2 tokens, padded, with every segment in use."""
    generator = torch.Generator().manual_seed(2)
    length = 12
    input_ids = torch.randint(8, config.vocab_size, (3, length), generator=generator)
    attention_mask = (torch.arange(length) < torch.tensor([[12], [7], [2]])).long()
    return {
        "input_ids": torch.where(attention_mask == 1, input_ids, config.pad_token_id),
        "attention_mask": attention_mask,
        "token_type_ids": torch.randint(config.type_vocab_size, (3, length), generator=generator),
    }


def labels_of_kind(kind: str, input_ids: torch.Tensor) -> torch.Tensor:
    labels = (input_ids + 5) % input_ids.max()
    keep = {"no -100": slice(None), "one in three": slice(None, None, 3), "a single label": slice(4, 5)}[kind]
    chosen = torch.zeros(input_ids.numel(), dtype=torch.bool)
    chosen[keep] = True
    return labels.where(chosen.view_as(labels), -100)


def assert_same_gradients(ours, theirs) -> None:
    theirs_by_name = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        gradient = theirs_by_name.pop(BERT.to_transformers(name, ours.encoder_name)).grad
        assert_close(parameter.grad, gradient, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")
    assert not theirs_by_name, "weights without a counterpart here"


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("saved_by", ["ours", "theirs"])
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_encoder_is_that_of_transformers(config, saved_by, attention, tmp_path):
    ours, theirs = both("BertModel", config, saved_by, tmp_path, attention)
    wanted = {"output_hidden_states": True, "output_attentions": attention == "eager"}
    expected = theirs(**batch(config), **wanted)
    for explicit in (True, False):  # our two attention paths
        output = ours(**batch(config), output_hidden_states=True, output_attentions=explicit)
        assert_close(output.last_hidden_state, expected.last_hidden_state, **CLOSE)
        assert_close(output.pooler_output, expected.pooler_output, **CLOSE)
        assert_close(output.hidden_states, expected.hidden_states, **CLOSE)
        if explicit and attention == "eager":
            assert_close(output.attentions, expected.attentions, **CLOSE)
    without_extras = ours(batch(config)["input_ids"]).last_hidden_state  # no mask, no segments
    assert_close(without_extras, theirs(batch(config)["input_ids"]).last_hidden_state, **CLOSE)


@pytest.mark.parametrize(("saved_by", "attention"), [("ours", "eager"), ("theirs", "sdpa")])
@pytest.mark.parametrize("class_name", ["BertForPreTraining", "BertForMaskedLM"])
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_losses_and_gradients_are_those_of_transformers(config, class_name, saved_by, attention, tmp_path):
    ours, theirs = both(class_name, config, saved_by, tmp_path, attention)
    inputs = batch(config)
    expected = theirs(**inputs)
    output = ours(**inputs)
    if class_name == "BertForPreTraining":
        inputs["next_sentence_label"] = torch.tensor([0, 1, 1])
        assert_close(output.prediction_logits, expected.prediction_logits, **CLOSE)
        assert_close(output.seq_relationship_logits, expected.seq_relationship_logits, **CLOSE)
    else:
        assert_close(output.prediction_logits, expected.logits, **CLOSE)
    for kind in ("no -100", "one in three", "a single label"):
        labels = labels_of_kind(kind, inputs["input_ids"])
        for explicit in (True, False):
            ours.zero_grad()
            theirs.zero_grad()
            loss, expected_loss = (
                ours(**inputs, labels=labels, output_attentions=explicit).loss,
                theirs(**inputs, labels=labels).loss,
            )
            assert_close(loss, expected_loss, **CLOSE)
            loss.backward()
            expected_loss.backward()
            assert_same_gradients(ours, theirs)


def test_labelled_positions_get_the_scores_of_the_whole_text():
    config = CONFIGS["usual proportions"]
    model = perturbed(bertedu.BertForPreTraining(config))
    inputs = batch(config)
    labels = labels_of_kind("one in three", inputs["input_ids"])
    everywhere = model(**inputs).prediction_logits
    assert_close(model(**inputs, labels=labels).prediction_logits, everywhere[labels != -100])


@pytest.mark.skipif("BERTEDU_MINILM" not in os.environ, reason="BERTEDU_MINILM names no folder of all-MiniLM-L6-v2")
def test_published_weights_give_the_vectors_of_transformers():
    folder = os.environ["BERTEDU_MINILM"]
    ours = bertedu.BertModel.from_pretrained(folder)
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    texts = ["The bank raised its rates again.", "We sat on the bank of the river.", "Tea.", "naïve café, 1,000 €!"]
    encoding = tokenizer(texts, ["A pair.", "It was warm.", "Why not?", "x"], padding=True, return_tensors="pt")
    inputs = {key: encoding[key] for key in ("input_ids", "attention_mask", "token_type_ids")}
    differences = []
    for attention, explicit in (("eager", True), ("sdpa", False)):
        theirs = transformers.BertModel.from_pretrained(folder, attn_implementation=attention).eval()
        with torch.no_grad():
            expected = theirs(**inputs, output_hidden_states=True, output_attentions=explicit)
            output = ours(**inputs, output_hidden_states=True, output_attentions=explicit)
        pairs = [*zip(output.hidden_states, expected.hidden_states, strict=True)]
        pairs.append((output.pooler_output, expected.pooler_output))
        if explicit:
            pairs += zip(output.attentions, expected.attentions, strict=True)
        differences.append(max((one - other).abs().max().item() for one, other in pairs))
    print("all-MiniLM-L6-v2, largest differences to transformers (explicit, fused):", differences)
    assert max(differences) < 1e-5
