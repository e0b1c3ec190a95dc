"""The same weights in a model of ours and in that of `transformers`: what the tests of every member share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import AutoConfig

from bertedu.config import EncoderConfig, TaskConfig
from bertedu.model.architecture import architecture
from bertedu.model.pretrained import PretrainedModel

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
DIRECTIONS = ("ours", "theirs")  # who makes and saves the weights; the other side loads them


def perturbed(model: nn.Module, seed: int = 3, by: float = 0.2) -> Any:
    """Move every weight, so that biases are not zero and LayerNorm is not the identity."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(by * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def twins(
    our_class: type[PretrainedModel],
    their_class: Any,
    config: EncoderConfig,
    saved_by: str,
    folder: Path,
    task_config: TaskConfig | None = None,
    perturb: Callable[[nn.Module], Any] = perturbed,
) -> tuple[Any, Any]:
    """The same weights in both classes: made and saved on one side, loaded on the other. Both in evaluation mode."""
    torch.manual_seed(1)
    if saved_by == "ours":
        ours = perturb(our_class.from_config(config, task_config))
        ours.save_pretrained(folder)
        theirs, report = their_class.from_pretrained(folder, attn_implementation="eager", output_loading_info=True)
        assert not report["missing_keys"] and not report["unexpected_keys"], report
    else:
        class_name = architecture(config.model_type).class_name(our_class.kind)
        config.save(folder, class_name, task_config)
        their_config = AutoConfig.from_pretrained(folder)
        their_config._attn_implementation = "eager"
        theirs = perturb(their_class(their_config))
        theirs.save_pretrained(folder)
        ours = our_class.from_pretrained(folder)
    return ours.eval(), theirs.eval()


def padded_batch(config: EncoderConfig, segments: int = 1, length: int = 12, smallest: int = 8) -> dict[str, Tensor]:
    """Three texts, of `length`, 7 and 2 tokens, padded on the right; token_type_ids where there is more than one."""
    generator = torch.Generator().manual_seed(2)
    input_ids = torch.randint(smallest, config.vocab_size, (3, length), generator=generator)
    attention_mask = (torch.arange(length) < torch.tensor([[length], [7], [2]])).long()
    batch = {"input_ids": input_ids.where(attention_mask == 1, config.pad_token_id), "attention_mask": attention_mask}
    if segments > 1:
        batch["token_type_ids"] = torch.randint(segments, (3, length), generator=generator)
    return batch


def assert_same_hidden_states(ours: Any, theirs: Any, batch: dict[str, Tensor], attentions: bool = True) -> None:
    """Every hidden state and attention at real tokens, by our explicit and by our fused path."""
    real = batch["attention_mask"].bool()
    expected = theirs(**batch, output_hidden_states=True, output_attentions=attentions)
    for explicit in (True, False):
        output = ours(**batch, output_hidden_states=True, output_attentions=explicit)
        assert len(output.hidden_states) == len(expected.hidden_states)
        for at, (mine, their) in enumerate(zip(output.hidden_states, expected.hidden_states, strict=True)):
            assert_close(mine[real], their[real], **CLOSE, msg=lambda text, at=at: f"hidden state {at}: {text}")
        assert_close(output.last_hidden_state[real], expected.last_hidden_state[real], **CLOSE)
        if explicit and attentions:
            for mine, their in zip(output.attentions, expected.attentions, strict=True):
                assert_close(mine.transpose(1, 2)[real], their.transpose(1, 2)[real], **CLOSE)


def assert_same_gradients(ours: Any, theirs: Any) -> None:
    """Gradients by name, after both losses went backward; a weight without a part in a loss has none, or zeros."""
    names = architecture(ours.config.model_type).names
    theirs_by_name = dict(theirs.named_parameters(remove_duplicate=False))  # a tied weight under both its names
    compared = set()
    for name, parameter in ours.named_parameters():
        their = theirs_by_name[names.to_transformers(name, ours.encoder_name, ours.kind)]
        compared.add(their)
        mine, gradient = (torch.zeros_like(p) if p.grad is None else p.grad for p in (parameter, their))
        assert_close(mine, gradient, **CLOSE, msg=lambda text, name=name: f"{name}: {text}")
    left = [name for name, parameter in theirs_by_name.items() if parameter not in compared]
    assert not left, f"weights without a counterpart here: {left}"


def assert_same_loss(
    ours: Any, theirs: Any, batch: dict[str, Tensor], their_labels: dict[str, Tensor] | None = None, **labels: Tensor
) -> None:
    """The loss for these labels, and the gradient of every weight. their_labels: where `transformers` wants others."""
    ours.zero_grad()
    theirs.zero_grad()
    loss = ours(**batch, **labels).loss
    expected = theirs(**batch, **(their_labels or labels)).loss
    assert_close(loss, expected, **CLOSE)
    loss.backward()
    expected.backward()
    assert_same_gradients(ours, theirs)


def masked_labels(batch: dict[str, Tensor]) -> Tensor:
    """A right word at every third real token, -100 elsewhere."""
    ids = batch["input_ids"]
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen.view(-1)[::3] = True
    return ((ids + 5) % ids.max()).where(chosen & batch["attention_mask"].bool(), -100)
