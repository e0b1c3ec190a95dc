"""Exercises 4.4 and 4.5: the stack, and dropout that knows when to stop."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.attention import padding_bias
from bertedu.model.encoder import EncoderLayer

PASS_ON = "A layer returns two things, the vectors and the attention weights. Pass on only the vectors."
SMALL = BertConfig(20, 8, 3, 2, 12, max_position_embeddings=8)


def shake(case: Case, module: nn.Module) -> None:
    """Change every weight, so that no two layers are nearly the same and no norm keeps its weight of 1."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            case.expect(bool(parameter.isfinite().all()), f"But {name} holds a number that is not finite: nan or inf.")
            parameter.add_(0.4 * case.randn(*parameter.shape))


@exercise(
    "4.4",
    "The stack",
    difficulty=3,
    minutes=15,
    kind="class",
    without=("Encoder",),
    runs="beside",
    hints=(
        "In __init__, call super().__init__() first. Then fill an nn.ModuleList: call EncoderLayer(config) L times.",
        "In forward, start a list with the input. In each round, replace hidden_states by the layer's first result "
        "and append it.",
    ),
)
def stack(case: Case) -> None:
    """L different layers, and all hidden states."""
    case.causes = {
        "before Module.__init__() call": "Call `super().__init__()` in the first line of your __init__.",
        "'tuple' object": PASS_ON,
        "not tuple": PASS_ON,
        "not list": "Is hidden_states a list here? A layer takes one tensor.",
    }
    for size in (3, 2):
        config = replace(SMALL, num_hidden_layers=size)
        model = case.call(config, tried=f"a config of {size} layers", keeps_inputs=False)
        case.is_a("the stack", model, nn.Module, "an nn.Module")
        own = own_layers(case, model, size)
        shake(case, model)
        model.eval()
        layers = [with_weights_of(layer, config) for layer in own]
        x = case.randn(2, 4, 8)
        expected = run(layers, x)
        states = all_states(case, case.call(x, tried="2 texts of 4 tokens", function=model), size)
        from_input = torch.stack([x, *(one(x)[0] for one in layers)])
        mistakes = {"Every layer reads the input. It should read the output of the layer before.": from_input}
        case.close("states", states, expected, "Each layer reads the output of the one before.", mistakes=mistakes)
        bias = padding_bias(torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]), torch.float32)
        padded = all_states(case, case.call(x, bias, tried="the same texts with padding", function=model), size)
        ignored = {"The padding bias changes nothing. Do you pass it to every layer?": expected}
        advice = "Do you pass the padding bias to every layer?"
        case.close("states", padded, run(layers, x, bias), advice, mistakes=ignored)


def with_weights_of(layer: EncoderLayer, config: BertConfig) -> EncoderLayer:
    """The package's layer with the learner's weights: a layer of a class of their own may do something else."""
    made = EncoderLayer(config).eval()
    made.load_state_dict(layer.state_dict(), strict=False)
    return made


def run(layers: list[EncoderLayer], x: Tensor, bias: Tensor | None = None) -> Tensor:
    """All hidden states, the input first: [L + 1, B, T, D]."""
    states = [x]
    for one in layers:
        states.append(one(states[-1], bias)[0])
    return torch.stack(states)


def all_states(case: Case, got: Any, size: int) -> Tensor:
    """What a stack of `size` layers returned, as one tensor [L + 1, B, T, D]."""
    case.is_a("what it returns", got, (list, tuple), "a list of hidden states")
    if len(got) == size:
        case.fail(f"But it returned {size} hidden states instead of {size + 1}. The first one is the input itself.")
    wanted = f"L + 1 = {size + 1} hidden states are asked for"
    case.expect(len(got) == size + 1, f"But it returned {len(got)} things, and {wanted}.")
    for depth, state in enumerate(got):
        advice = "A layer returns two things, the vectors and the attention weights. Keep only the vectors."
        case.same_shape(f"hidden state {depth}", state, [2, 4, 8], advice)
    return torch.stack(list(got))


def own_layers(case: Case, model: nn.Module, size: int) -> list[EncoderLayer]:
    """The layers of the learner's stack, which must be as many as the config says, and all different."""
    layers = [module for module in model.modules() if isinstance(module, EncoderLayer)]
    held = [item for value in vars(model).values() if isinstance(value, list | tuple) for item in value]
    if not layers and any(isinstance(item, nn.Module) for item in held):
        case.fail(
            "But the stack has 0 weights: its layers are in a plain list, and torch does not look there.",
            "No optimizer would train them. Which kind of list does torch know?",
        )
    case.expect(layers, "But the stack has no EncoderLayer. Make them in __init__ with EncoderLayer(config).")
    once_each = "Call EncoderLayer(config) once for each layer."
    if len(layers) == 1:
        case.fail(
            f"But the stack has the weights of one layer, and {size} layers are asked for.",
            f"A list such as [layer] * L holds the same layer L times. {once_each}",
        )
    case.expect(
        len(layers) == size,
        f"But the stack has {len(layers)} layers, and the config asks for {size}.",
        "Take the number from config.num_hidden_layers.",
    )
    if torch.equal(layers[0].feed_forward.expand.weight, layers[1].feed_forward.expand.weight):
        case.fail("But all layers start with the same weights, as copies of one layer do.", once_each)
    return layers


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
