"""Attention of one layer beside what follows from all layers: rollout and flow (Abnar & Zuidema 2020)."""

from collections.abc import Sequence

from torch import Tensor

from bertedu.errors import UserError
from bertedu.interpretation.heads import PADDING, Attentions, stacked
from bertedu.interpretation.rollout import attention_flow, attention_rollout
from bertedu.visualization.attention import COLORS
from bertedu.visualization.picture import Picture, new_figure

TOLD = 16  # tokens told in words


def attention_paths(attentions: Attentions, tokens: Sequence[str], sentence: int = 0) -> Picture:
    """Three heat maps: the last layer's attention, rollout and flow through all layers, each with its own scale.

    attentions: `output.attentions`, or [L, H, T, T] of one text; tokens: those of the sentence, whose padding is
    left out. Attention is the mean over heads. Each row of flow is divided by its sum, so that all three are
    shares. Raises UserError where tokens and weights differ.
    """
    weights = stacked(attentions)
    if not 0 <= sentence < weights.size(1) or weights.size(-1) != len(tokens):
        raise UserError(
            f"the attention is of {weights.size(1)} sentences of {weights.size(-1)} tokens, and sentence {sentence} "
            f"with {len(tokens)} tokens was asked for: give encoding.tokens[sentence]."
        )
    shown = [token for token in tokens if token not in PADDING]
    weights = weights[:, sentence, :, : len(shown), : len(shown)]  # [L, H, T, T]
    flow = attention_flow(weights)
    panels = {
        "attention of the last layer": weights[-1].mean(dim=0),
        "rollout through all layers": attention_rollout(weights)[-1, 0],
        "flow through all layers": flow / flow.sum(dim=-1, keepdim=True),
    }
    return heat_maps(panels, shown)


def heat_maps(panels: dict[str, Tensor], tokens: Sequence[str]) -> Picture:
    """Matrices [T, T] side by side, each row a token and what it takes from where, each with a scale of its own."""
    size = max(2.6, 0.23 * len(tokens) + 0.4)
    figure = new_figure(size * len(panels) + 0.8, size + 1.5)
    all_axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (title, panel) in zip(all_axes, panels.items(), strict=True):
        image = axes.imshow(panel.numpy(), cmap=COLORS, vmin=0)
        axes.set_title(title, fontsize=10)
        axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=8, parse_math=False)
        axes.set_yticks(range(len(tokens)), tokens, fontsize=8, parse_math=False)
        axes.tick_params(length=0)
        axes.set_xlabel("takes from", fontsize=9)
        bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.8, label="share")
        bar.outline.set_visible(False)  # type: ignore[operator]
        bar.ax.tick_params(labelsize=8)
    all_axes[0].set_ylabel("token", fontsize=9)
    told = " ".join(f"{title.capitalize()}: {sources(panel, tokens)}." for title, panel in panels.items())
    return Picture(figure, f"Heat maps of {len(panels)} ways to ask what each token takes from where. {told}")


def sources(panel: Tensor, tokens: Sequence[str]) -> str:
    """In words: from where each token takes most."""
    parts = [
        f"{token} takes most from {tokens[source]} ({share:.0%})"
        for token, share, source in zip(tokens[:TOLD], *(found.tolist() for found in panel.max(dim=1)), strict=False)
    ]
    rest = f"; and {len(tokens) - TOLD} more tokens" if len(tokens) > TOLD else ""
    return "; ".join(parts) + rest
