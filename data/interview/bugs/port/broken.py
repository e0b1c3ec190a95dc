"""An encoder layer of our own that takes over the weights of torch's: both should give the same numbers."""

import torch
from torch import nn
from torch.nn import functional as F

SIZE, HEADS = 32, 4


class Layer(nn.Module):
    """Self-attention, then a feed-forward network, each followed by adding its input and by a layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(SIZE, SIZE) for _ in range(4))
        self.up, self.down = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)
        self.attention_norm, self.final_norm = Norm(), Norm()

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:  # [B, T, D], [B, T] bool -> [B, T, D]
        query, key, value = (split_heads(part(hidden)) for part in (self.query, self.key, self.value))
        hidden = self.attention_norm(hidden + self.output(join_heads(attend(query, key, value, mask))))
        return self.final_norm(hidden + self.down(F.gelu(self.up(hidden))))


class Norm(nn.Module):
    """Mean 0 and variance 1 for each token, then a scale and a shift."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(SIZE)), nn.Parameter(torch.zeros(SIZE))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        centred = hidden - hidden.mean(dim=-1, keepdim=True)
        scale = (centred.pow(2).mean(dim=1, keepdim=True) + 1e-5).sqrt()
        return centred / scale * self.weight + self.bias


def split_heads(x: torch.Tensor) -> torch.Tensor:
    """[B, T, D] -> [B, H, T, D / H]"""
    return x.reshape(x.shape[0], HEADS, x.shape[1], SIZE // HEADS)


def join_heads(x: torch.Tensor) -> torch.Tensor:
    """[B, H, T, D / H] -> [B, T, D]"""
    return x.transpose(1, 2).flatten(2)


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Attention of each head, [B, H, T, D / H]; mask [B, T] is True for tokens and False for padding."""
    scores = query @ key.transpose(-1, -2) / SIZE**0.5
    return scores.masked_fill(~mask[:, None, None, :], -1e9).softmax(dim=-1) @ value


def take_over(layer: Layer, original: nn.TransformerEncoderLayer) -> None:
    """Copy the weights of torch's layer, which keeps query, key and value in one matrix, one below the other."""
    attention = original.self_attn
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    pairs: list[tuple[nn.Module, nn.Module]] = [
        (layer.output, attention.out_proj),
        (layer.up, original.linear1),
        (layer.down, original.linear2),
        (layer.attention_norm, original.norm1),
        (layer.final_norm, original.norm2),
    ]
    with torch.no_grad():
        for own, weight, bias in zip((layer.query, layer.key, layer.value), weights, biases, strict=True):
            own.weight.copy_(weight)
            own.bias.copy_(bias)
        for own, theirs in pairs:
            own.load_state_dict(theirs.state_dict())


def make_original() -> nn.TransformerEncoderLayer:
    """torch's layer, with weights and norms that are not those of the initialization any more."""
    torch.manual_seed(0)
    original = nn.TransformerEncoderLayer(SIZE, HEADS, 4 * SIZE, dropout=0.0, activation="gelu", batch_first=True)
    for parameter in original.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return original.eval()


def main() -> dict[str, float]:
    """The largest difference between the two layers, at tokens that are no padding."""
    layer, original = Layer(), make_original()
    take_over(layer, original)
    hidden, mask = torch.randn(2, 7, SIZE), torch.arange(7) < torch.tensor([[7], [4]])
    with torch.no_grad():
        difference = layer(hidden, mask) - original(hidden, src_key_padding_mask=~mask)
    return {"largest difference": difference[mask].abs().max().item()}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.5f}")
