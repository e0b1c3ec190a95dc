"""Exercise 4.5: Dropout that knows when to stop."""

from typing import Any

import torch
from torch import Tensor, nn

from bertedu.chapters.ch04_transformer_encoder.exercises.shared import shake
from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.attention import padding_bias
from bertedu.model.encoder import EncoderLayer


class Constant(nn.Module):
    """A sublayer that returns the same number everywhere; as attention, with its weights beside it."""

    def __init__(self, value: float, weights: bool):
        super().__init__()
        self.value, self.weights = value, weights

    def forward(self, hidden_states: Tensor, *_: Any) -> Any:
        constant = torch.full_like(hidden_states, self.value)
        return (constant, None) if self.weights else constant


@exercise(
    "4.5",
    "Dropout that knows when to stop",
    difficulty=3,
    minutes=10,
    kind="class",
    without=("EncoderLayer.forward",),
    runs="beside",
    hints=(
        "eval() sets `training = False` on every module inside the model. It does not reach functions.",
        "EncoderLayer already has a dropout module. Use self.dropout(…) in both places.",
    ),
)
def repaired(case: Case) -> None:
    """Dropout in training, with the probability from the config, and nowhere else."""
    case.causes = {"not tuple": "self.attention returns two things, the vectors and the weights. Take the first one."}
    config = BertConfig(20, 16, 1, 2, 16, hidden_dropout_prob=0.25, attention_probs_dropout_prob=0.0)
    model = case.call(config, tried="a config with dropout 0.25", keeps_inputs=False)
    case.is_a("the layer", model, EncoderLayer, "an EncoderLayer: `class RepairedLayer(EncoderLayer)`")
    shake(case, model)
    model.eval()
    x = case.randn(2, 5, 16)
    once = new_vectors(case, model, "2 texts of 5 tokens after eval()", x)
    again = new_vectors(case, model, "the same texts once more after eval()", x)
    if not torch.equal(once, again):
        why = (
            "eval() reaches the modules that the layer holds. It does not reach functions, nor modules made in forward."
        )
        if not once.requires_grad:
            why = "torch.no_grad() stops gradients, not dropout. With it the layer could not be trained any more."
        case.fail("But the results differ: something is still dropped.", why)
    reference = EncoderLayer(config).eval()
    reference.load_state_dict(model.state_dict(), strict=False)
    case.close("the result", once, reference(x)[0], "Nothing is dropped, but the rest of the layer has changed.")
    case.expect(once.requires_grad, "But the result is detached from the weights, so the layer could not be trained.")
    bias = padding_bias(torch.tensor([[1] * 5, [1] * 3 + [0] * 2]), torch.float32)
    padded = new_vectors(case, model, "a batch with padding", x, bias)
    case.close("the result", padded, reference(x, bias)[0], "Do you still pass the bias to attention?")
    model.train()
    for sublayer in ("attention", "feed-forward"):
        drops_in_training(case, model, sublayer)


def new_vectors(case: Case, model: nn.Module, tried: str, *inputs: Tensor) -> Tensor:
    """The new vectors, also where the attention weights are returned beside them."""
    result = case.call(*inputs, tried=tried, function=model)
    result = result[0] if isinstance(result, tuple) else result
    case.same_shape("the result", result, [2, 5, 16])
    return result


def drops_in_training(case: Case, model: Any, sublayer: str) -> None:
    """Dropout acts on the sublayer's output with the config's probability: of ones it makes 0 or 1 / (1 - p)."""
    model.attention_norm, model.feed_forward_norm = nn.Identity(), nn.Identity()
    model.attention = Constant(float(sublayer == "attention"), weights=True)
    model.feed_forward = Constant(float(sublayer == "feed-forward"), weights=False)
    result = new_vectors(case, model, f"{sublayer} that returns only ones, in training", torch.zeros(2, 5, 16))
    values = sorted({round(value, 3) for value in result.flatten().tolist()})
    if values == [1.0]:
        case.fail(f"But nothing is dropped. In training, dropout should act on the output of {sublayer}.")
    if values == [0.0, 1.111]:
        case.almost("The probability is always 0.1, and this config says 0.25. The right one is in self.dropout.")
    case.expect(
        values == [0.0, 1.333],
        f"But the ones became {values}. With probability 0.25 they should become 0 or 1 / 0.75 = 1.333.",
        "Apply dropout once, to the output of each sublayer, before it is added to the stream.",
    )
