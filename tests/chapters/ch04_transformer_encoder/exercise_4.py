"""Answers to exercise 4.4: right ones, and mistakes with the words that they must hear."""

import copy

import torch
from torch import nn

from bertedu.model.encoder import Encoder, EncoderLayer


class Plainly(nn.Module):
    def __init__(self, config, layer_class):
        super().__init__()
        self.layers = nn.ModuleList(layer_class(config) for _ in range(config.num_hidden_layers))

    def forward(self, hidden_states, bias=None):
        states = [hidden_states]
        for layer in self.layers:
            states.append(layer(states[-1], bias)[0])
        return states


class AsTuple(nn.Module):
    def __init__(self, config, layer_class):
        super().__init__()
        for place in range(config.num_hidden_layers):
            self.add_module(f"layer_{place}", layer_class(config))

    def forward(self, x, bias=None):
        states = (x,)
        for layer in self.children():
            x, _ = layer(x, bias)
            states += (x,)
        return states


class Packages(Encoder):
    def __init__(self, config, layer_class):
        super().__init__(config)

    def forward(self, hidden_states, bias=None):
        return list(super().forward(hidden_states, bias)[0])


class OfTheCourse(Plainly):
    def __init__(self, config, layer_class):
        super().__init__(config, EncoderLayer)


class WithoutTheClass(nn.Module):
    def __init__(self, config):
        super().__init__()


class NotANumber(Plainly):
    def __init__(self, config, layer_class):
        super().__init__(config, layer_class)
        nn.init.constant_(self.layers[-1].feed_forward.expand.weight, torch.nan)


class DoesNothing(Plainly):
    def forward(self, hidden_states, bias=None):
        return [hidden_states] * (len(self.layers) + 1)


class EverySecond(Plainly):
    def forward(self, hidden_states, bias=None):
        states = [hidden_states]
        for depth, layer in enumerate(self.layers):
            states.append(states[-1] if depth % 2 else layer(states[-1], bias)[0])
        return states


class OfTheEncoder(nn.Module):
    def __init__(self, config, layer_class):
        super().__init__()
        self.encoder = Encoder(config)

    def forward(self, hidden_states, bias=None):
        return list(self.encoder(hidden_states, bias)[0])


class AlwaysThree(Plainly):
    def __init__(self, config, layer_class):
        nn.Module.__init__(self)
        self.layers = nn.ModuleList(layer_class(config) for _ in range(3))


class OneLayer(Plainly):
    def __init__(self, config, layer_class):
        super().__init__(config, layer_class)
        self.layers = nn.ModuleList([layer_class(config)] * config.num_hidden_layers)


class PlainList(Plainly):
    def __init__(self, config, layer_class):
        nn.Module.__init__(self)
        self.layers = [layer_class(config) for _ in range(config.num_hidden_layers)]


class Copies(Plainly):
    def __init__(self, config, layer_class):
        super().__init__(config, layer_class)
        layer = layer_class(config)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(config.num_hidden_layers))


class WithoutInput(Plainly):
    def forward(self, hidden_states, bias=None):
        return super().forward(hidden_states, bias)[1:]


class FromInput(Plainly):
    def forward(self, hidden_states, bias=None):
        return [hidden_states, *(layer(hidden_states, bias)[0] for layer in self.layers)]


class WithoutBias(Plainly):
    def forward(self, hidden_states, bias=None):
        return super().forward(hidden_states)


class WholeTuples(Plainly):
    def forward(self, hidden_states, bias=None):
        states = [hidden_states]
        for layer in self.layers:
            hidden_states = layer(hidden_states, bias)
            states.append(hidden_states)
        return states


class WithoutSuper(Plainly):
    def __init__(self, config, layer_class):
        self.layers = nn.ModuleList(layer_class(config) for _ in range(config.num_hidden_layers))


class OnlyLast(Plainly):
    def forward(self, hidden_states, bias=None):
        return super().forward(hidden_states, bias)[-1]


ANSWERS = {
    "4.4": {
        "accepted": [Plainly, AsTuple],
        "wrong": [
            (OfTheEncoder, "uses the package's `Encoder`"),
            (Packages, "uses the package's `Encoder`"),
            (NotANumber, "a number that is not finite"),
            (DoesNothing, "Each layer reads the output of the one before"),
            (EverySecond, "Each layer reads the output of the one before"),
            (AlwaysThree, "the config asks for 2"),
            (OneLayer, "the weights of one layer"),
            (PlainList, "in a plain list"),
            (Copies, "start with the same weights"),
            (WithoutInput, "first one is the input itself"),
            (FromInput, "Every layer reads the input"),
            (WithoutBias, "padding bias changes nothing"),
            (WholeTuples, "Pass on only the vectors"),
            (WithoutSuper, "in the first line of your __init__"),
            (OnlyLast, "a list of hidden states"),
            (OfTheCourse, "not of the class that it was given"),
            (WithoutTheClass, "Stack(config, layer_class)"),
        ],
    }
}
