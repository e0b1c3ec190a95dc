"""Exercise 4.4: The stack."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.chapters.ch04_transformer_encoder.exercises.shared import shake
from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.attention import padding_bias
from bertedu.model.encoder import EncoderLayer

PASS_ON = "A layer returns two things, the vectors and the attention weights. Pass on only the vectors."


SMALL = BertConfig(20, 8, 3, 2, 12, max_position_embeddings=8)


class GivenLayer(EncoderLayer):
    """The class of a layer that the stack gets: a stack that makes layers of another one shows."""


@exercise(
    "4.4",
    "The stack",
    difficulty=3,
    minutes=15,
    kind="class",
    without=("Encoder",),
    runs="beside",
    hints=(
        "In __init__, call super().__init__() first. Then fill an nn.ModuleList: call layer_class(config) L times.",
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
        "positional argument": "It is made as Stack(config, layer_class): __init__ has two parameters beside self.",
    }
    for size in (3, 2):
        config = replace(SMALL, num_hidden_layers=size)
        model = case.call(config, GivenLayer, tried=f"a config of {size} layers and a class", keeps_inputs=False)
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
    layers: list[EncoderLayer] = [module for module in model.modules() if isinstance(module, GivenLayer)]
    held = [item for value in vars(model).values() if isinstance(value, list | tuple) for item in value]
    if not layers and any(isinstance(item, nn.Module) for item in held):
        case.fail(
            "But the stack has 0 weights: its layers are in a plain list, and torch does not look there.",
            "No optimizer would train them. Which kind of list does torch know?",
        )
    if not layers and any(isinstance(module, EncoderLayer) for module in model.modules()):
        case.fail("But its layers are not of the class that it was given. Make them with layer_class(config).")
    case.expect(layers, "But the stack has no layer. Make them in __init__ with layer_class(config).")
    once_each = "Call layer_class(config) once for each layer."
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
