"""Answers to exercise 4.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch import nn
from torch.nn.functional import dropout

from bertedu.model.encoder import EncoderLayer


def layer_that(drops, name):
    """A layer that drops with drops(layer, x)."""

    class Layer(EncoderLayer):
        def forward(self, hidden_states, bias=None):
            mixed, _ = self.attention(hidden_states, bias)
            hidden_states = self.attention_norm(hidden_states + drops(self, mixed))
            changed = self.feed_forward(hidden_states)
            return self.feed_forward_norm(hidden_states + drops(self, changed))

    Layer.__name__ = Layer.__qualname__ = name
    return Layer


Module = layer_that(lambda layer, x: layer.dropout(x), "Module")


Told = layer_that(lambda layer, x: dropout(x, layer.dropout.p, training=layer.training), "Told")


Untold = layer_that(lambda layer, x: dropout(x, 0.1), "Untold")


MadeInForward = layer_that(lambda layer, x: nn.Dropout(layer.dropout.p)(x), "MadeInForward")


Gone = layer_that(lambda layer, x: x, "Gone")


FixedRate = layer_that(lambda layer, x: dropout(x, 0.1, layer.training), "FixedRate")


Inverted = layer_that(lambda layer, x: dropout(x, layer.dropout.p, not layer.training), "Inverted")


WithIf = layer_that(lambda layer, x: dropout(x, layer.dropout.p) if layer.training else x, "WithIf")


class Inherited(EncoderLayer):
    pass


class OfTheParent(EncoderLayer):
    def forward(self, hidden_states, bias=None):
        return super().forward(hidden_states, bias)[0]


class WithoutGradient(EncoderLayer):
    @torch.no_grad()
    def forward(self, hidden_states, bias=None):
        return Untold.forward(self, hidden_states, bias)


class WithTheWeights(EncoderLayer):
    def forward(self, x, bias=None):
        x = self.attention_norm(x + self.dropout(self.attention(x, bias)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class OnlyFirst(EncoderLayer):
    def forward(self, hidden_states, bias=None):
        mixed, _ = self.attention(hidden_states, bias)
        hidden_states = self.attention_norm(hidden_states + self.dropout(mixed))
        return self.feed_forward_norm(hidden_states + self.feed_forward(hidden_states))


class DropsTheStream(EncoderLayer):
    def forward(self, hidden_states, bias=None):
        mixed, _ = self.attention(hidden_states, bias)
        hidden_states = self.dropout(self.attention_norm(hidden_states + mixed))
        return self.dropout(self.feed_forward_norm(hidden_states + self.dropout(self.feed_forward(hidden_states))))


ANSWERS = {
    "4.5": {
        "accepted": [Module, Told, WithIf],
        "wrong": [
            (Inherited, "uses the package's `EncoderLayer.forward`"),
            (OfTheParent, "uses the package's `EncoderLayer.forward`"),
            (Untold, "something is still dropped"),
            (MadeInForward, "modules made in forward"),
            (WithoutGradient, "stops gradients, not dropout"),
            (Gone, "act on the output of attention"),
            (FixedRate, "always 0.1"),
            (WithTheWeights, "Take the first one"),
            (OnlyFirst, "act on the output of feed-forward"),
            (Inverted, "something is still dropped"),
            (DropsTheStream, "before it is added to the stream"),
        ],
    }
}
