"""Exercise 4.3: The encoder layer."""

from typing import Any

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.encoder import EncoderLayer

SMALL = BertConfig(20, 8, 3, 2, 12, max_position_embeddings=8)


def shake(case: Case, module: nn.Module) -> None:
    """Change every weight, so that no two layers are nearly the same and no norm keeps its weight of 1."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.4 * case.randn(*parameter.shape))


def misassembled(x: Tensor, attention: Any, norm_1: Any, feed_forward: Any, norm_2: Any) -> dict[str, Tensor]:
    """What each wrongly assembled layer returns, by the sentence that explains it."""
    summed, no_sum, other = x + attention(x), norm_1(attention(x)), norm_2(x + attention(x))
    update_normed = x + no_sum + norm_2(feed_forward(x + no_sum))
    first, pre, ffn_first = norm_1(summed), x + attention(norm_1(x)), norm_2(x + feed_forward(x))
    one_text = norm_1(x + attention(x)[0])
    return {
        "This is pre-norm: x + sublayer(norm(x)). BERT normalizes after the addition.": pre + feed_forward(norm_2(pre)),
        "Your second addition uses the original x. It should use the result of the first line.": norm_2(
            x + feed_forward(first)
        ),
        "There is no residual connection: each sublayer replaces x. It should add to x.": norm_2(feed_forward(no_sum)),
        "The residual connection around attention is missing.": norm_2(no_sum + feed_forward(no_sum)),
        "The residual connection around the feed-forward network is missing.": norm_2(feed_forward(first)),
        "You normalize each update before it is added. Add first, then normalize the sum.": update_normed,
        "Here attention returns one tensor. With [0] you keep only its first text.": norm_2(
            one_text + feed_forward(one_text)
        ),
        "You use the first norm twice. The second norm has weights of its own.": norm_1(first + feed_forward(first)),
        "The two norms are swapped.": norm_1(other + feed_forward(other)),
        "The attention half is right. What follows it?": first,
        "The last norm is missing.": first + feed_forward(first),
        "The norm between attention and feed-forward is missing.": norm_2(summed + feed_forward(summed)),
        "Your feed-forward network reads the original x. It should read the result of the first line.": norm_2(
            first + feed_forward(x)
        ),
        "In your layer the feed-forward network comes first. Attention should.": norm_1(
            ffn_first + attention(ffn_first)
        ),
    }


@exercise(
    "4.3",
    "The encoder layer",
    difficulty=2,
    minutes=10,
    runs="with package",
    hints=(
        "Use the form norm(x + sublayer(x)) twice. What is x the second time?",
        "The first line is x = attention_norm(x + attention(x)). The second has the same form with the other parts.",
    ),
)
def layer(case: Case) -> None:
    """A layer as one function, compared with the package."""
    whole = EncoderLayer(SMALL).eval()
    shake(case, whole)
    parts = (lambda x: whole.attention(x)[0], whole.attention_norm, whole.feed_forward, whole.feed_forward_norm)
    advice = "Follow the right side of the first figure: attention, add, norm, feed-forward, add, norm."
    for size, tried in (((2, 5, 8), "2 texts of 5 tokens"), ((1, 1, 8), "a single token")):
        x = case.randn(*size)
        result = case.call(x, *parts, tried=tried)
        case.close("the result", result, whole(x)[0], advice, mistakes=misassembled(x, *parts))
    case.refuse_in_place()
    case.expect(
        result.requires_grad, "But the result is detached from its inputs. Do you use `.detach()` or `torch.no_grad()`?"
    )
