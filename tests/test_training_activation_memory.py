"""What the forward pass keeps for the backward pass, against small models counted by hand."""

import torch
from torch import nn

from bertedu.family.albert import AlbertConfig, AlbertModel
from bertedu.training.activation_memory import kept_bytes


def test_neither_weights_nor_shared_memory_are_counted():
    """A linear layer keeps its input, and tanh its output; the weight is no activation."""
    model, x = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), torch.ones(3, 4)
    assert kept_bytes(model, lambda: model(x)) == 4 * (3 * 4 + 3 * 8)  # the third layer's input is tanh's output
    with torch.no_grad():
        assert kept_bytes(model, lambda: model(x)) == 0


def test_a_shared_layer_keeps_its_results_each_time_it_runs():
    """ALBERT's layers share weights, not activations: four runs keep about four times as much as one."""
    sizes = {"vocab_size": 20, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    ids = torch.arange(20).view(2, 10)
    kept = []
    for layers in (1, 2, 5):
        model = AlbertModel(AlbertConfig(**sizes, num_hidden_layers=layers, embedding_size=8))
        kept.append(kept_bytes(model, lambda model=model: model(ids)))
    assert kept[2] - kept[0] == 4 * (kept[1] - kept[0]) > 0
