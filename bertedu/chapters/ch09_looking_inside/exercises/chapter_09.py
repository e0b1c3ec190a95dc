"""Exercises 9.1 to 9.3: what heads attend to. The others are in chapter_09_labels.py."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.interpretation.heads import attention_layers, without_heads
from bertedu.interpretation.rollout import attention_rollout
from bertedu.model import BertForPreTraining


@exercise(
    "9.1",
    "Three unequal weights",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=("What is log₂ of ½, and of ¼?", "½ · 1 + ¼ · 2 + ¼ · 2."),
)
def three_weights(case: Case) -> None:
    """1.5 bits."""
    guess = plain(case.answer)
    if isinstance(guess, float) and math.isnan(guess):
        case.begin("You computed NaN.", "the entropy")
        case.fail("For a computer 0 · log₂ 0 is 0 · (−∞), and that is NaN. A weight of 0 adds 0: leave it out.")
    case.predicted(
        1.5,
        otherwise="Each weight p adds −p · log₂ p. Compute this for the three weights, and add them.",
        mistakes=[
            (2, "2 bits are the entropy of four equal weights. Here one token gets half, and one gets nothing."),
            (
                math.log2(3),
                "That is the entropy of three equal weights. Here one is twice as large, so the entropy is lower.",
            ),
            (1.5 * math.log(2), "That is the right sum in nats. For bits, use the logarithm to base 2."),
            (
                -1.5,
                "The size is right. But logarithms of weights below 1 are negative, hence the minus before the sum.",
            ),
            (5, "You added 1, 2 and 2. Multiply each of them by its weight first: ½, ¼ and ¼."),
            (1, "1 bit is the entropy of two equal weights. One half is there, but the other half is split again."),
            (0.5, "That is the part of the weight ½ alone. The two weights ¼ add something too."),
            (2**1.5, "That is 2 to the power of the entropy. The entropy itself is its exponent."),
        ],
        tolerance=5e-3,
    )


def rolled_out(attentions: list[Tensor], keep: float = 0.5, swapped: bool = False, summed: bool = False) -> Tensor:
    """Rollout, and the ways in which it goes wrong."""
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        heads = weights.sum(dim=1) if summed else weights.mean(dim=1)
        mixed = (1 - keep) * heads + keep * torch.eye(weights.size(-1))
        shares = shares @ mixed if swapped else mixed @ shares
    return shares


def rollout_mistakes(attentions: list[Tensor]) -> dict[str, Tensor]:
    """What wrong rollouts return, by the sentence that explains them."""
    means = torch.stack([weights.mean(dim=1) for weights in attentions])
    identity = torch.eye(means.size(-1))
    mixed = 0.5 * means + 0.5 * identity
    bare = rolled_out(attentions, keep=0.0)
    own_word = identity
    for mean in means:
        own_word = 0.5 * mean @ own_word + 0.5 * identity
    single = [rolled_out([w[:, [head]] for w in attentions]) for head in range(attentions[0].size(1))]
    return {
        "Two things: the residual connection ½ I is missing, and the new layer belongs on the left.": rolled_out(
            attentions, keep=0.0, swapped=True
        ),
        "That is the product of the attention weights alone. Where is the residual connection, ½ I?": bare,
        "½ I is added once, after the last layer. Every layer has a residual connection.": 0.5 * bare + 0.5 * identity,
        "After the first layer, a token is no longer its own word alone. The residual connection of a layer passes on "
        "what the token contains so far: (½ A + ½ I) @ shares.": own_word,
        "That follows the first head alone. Average over the heads.": single[0],
        "You multiplied the layers head by head and averaged at the end. A token of the next layer takes from what all "
        "heads have mixed: average over the heads in each layer, before you multiply.": torch.stack(single).mean(dim=0),
        "All entries are 0: did you begin with zeros? Before any layer each token is its own word: begin with the "
        "identity.": torch.zeros_like(bare),
        "All entries are 1: did you begin with ones? Before any layer each token is its own word: begin with the "
        "identity.": torch.ones_like(bare),
        "The attention weights of each layer are transposed. Row i of A says to which tokens token i attends, and so "
        "should row i of the result: use A as it is.": rolled_out([w.transpose(2, 3) for w in attentions]),
        "Rows and columns are swapped: row i should say how much of each word is in token i.": rolled_out(
            attentions
        ).transpose(1, 2),
        "The layers are multiplied in reverse order. Token i of the new layer takes from tokens that already are "
        "mixtures: which of the two matrices belongs on the left?": rolled_out(attentions, swapped=True),
        "That is the mean over the layers. Layers are applied one after the other, so multiply their matrices.": (
            means.mean(dim=0)
        ),
        "That is the mean over the layers, with the residual connection. Layers are applied one after the other, so "
        "multiply their matrices.": mixed.mean(dim=0),
        "You multiplied entry by entry (`*`). Use the matrix product (`@`).": mixed.prod(dim=0),
        "You added up the heads. Take their mean, so that every row still sums to 1.": rolled_out(
            attentions, summed=True
        ),
        "A + I in each layer is twice ½ A + ½ I. Halve both, or divide each row by its sum.": 8
        * rolled_out(attentions),
        "That is only the last layer.": mixed[-1],
        "That is only the last layer's attention, without the residual connection.": means[-1],
        "The first layer is missing.": rolled_out(attentions[1:]),
        "The last layer is missing.": rolled_out(attentions[:-1]),
    }


@exercise(
    "9.2",
    "Rollout in four lines",
    difficulty=2,
    minutes=12,
    without=("attention_rollout",),
    hints=(
        "Start with the identity: before any layer, each token contains its own word. Then multiply, layer by layer.",
        "mixed = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(T). The new layer goes to the left: mixed @ shares.",
    ),
)
def my_rollout(case: Case) -> None:
    """Three layers whose matrices do not commute, then one layer, then a batch."""
    case.causes = {"'list' object": "attentions is a list with one tensor for each layer: use a loop, or torch.stack."}
    attentions = [case.randn(2, 3, 5, 5).mul(2).softmax(dim=-1) for _ in range(3)]
    got = case.call(attentions, tried="3 layers of 3 heads on 2 texts of 5 tokens")
    right = attention_rollout(attentions)
    if isinstance(got, Tensor) and got.shape == right.shape:
        got = got[-1]  # the package's form, which keeps every layer, is also right
    shape_advice = "Average over the heads and multiply the layers: neither of these axes is left."
    if isinstance(got, Tensor) and got.ndim == 2:
        shape_advice = "Keep one matrix for each text of the batch."
    case.same_shape("the result", got, [2, 5, 5], shape_advice)
    advice = (
        "Each layer is ½ A + ½ I, where A is the mean over the heads, and the layers are multiplied. Compare the first "
        "layer alone with that, then the first two."
    )
    case.close("the result", got, right[-1], advice, mistakes=rollout_mistakes(attentions))
    one = case.call(attentions[:1], tried="a single layer")
    one = one[-1] if isinstance(one, Tensor) and one.ndim == 4 else one
    case.close("the result", one, right[0], "With one layer, the result is this layer's ½ A + ½ I.")


def small_model() -> BertForPreTraining:
    """Two layers of three heads, d = 4, with biases that are not zero."""
    sizes = {"vocab_size": 20, "intermediate_size": 16, "max_position_embeddings": 8}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        config = BertConfig.preset("tiny", hidden_size=12, num_hidden_layers=2, num_attention_heads=3, **sizes)
        model = BertForPreTraining(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@torch.no_grad()
def answers(model: nn.Module, ablated: list[tuple[int, int]] | None = None) -> Tensor:
    """The logits of two texts, with some heads ablated."""
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 5, 6, 11, 3]])
    with without_heads(model, ablated or []):
        return model(ids).prediction_logits


def head_mistakes(layer: int, head: int) -> dict[str, Tensor]:
    """What the model answers after a wrong ablation, by the sentence that explains it."""
    model = small_model()
    attention = attention_layers(model)[layer]
    own = slice(4 * head, 4 * head + 4)
    found = {}

    def tried(sentence: str, *parts: tuple[Tensor, Any]) -> None:
        kept = [(part, part.detach().clone()) for part, _ in parts]
        with torch.no_grad():
            for part, where in parts:
                part[where] = 0
            found[sentence] = answers(model)
            for part, before in kept:
                part.copy_(before)

    out, value = attention.output, attention.value
    tried(
        "You set rows to 0. The weight of a linear layer is [out, in], and the head's output comes in: which axis is "
        "that?",
        (out.weight, own),
    )
    tried(
        "The weight of the value is 0, but its bias is not, so the head still adds something. The output projection "
        "reads the head at one point only.",
        (value.weight, own),
    )
    every = slice(None)
    for name, missing in (("queries", attention.query), ("keys", attention.key)):
        without = f"Without its {name} a head still attends to some tokens, and still passes on what it finds."
        tried(without, (missing.weight, own))
    tried(
        "The bias of the output is 0 too. It does not belong to any head.",
        (out.weight, (every, own)),
        (out.bias, every),
    )
    tried("You ablated the whole layer. Ablate only one of its heads.", (out.weight, every))
    tried(
        "These columns are spread over all heads. The d numbers of a head are next to each other.",
        (out.weight, (every, slice(head, None, 3))),
    )
    tried("You set one column to 0, but a head has d = D / H of them.", (out.weight, (every, head)))
    tried(
        "Your slice begins at column `head`. Each head before this one takes d columns: where does it begin?",
        (out.weight, (every, slice(head, head + 4))),
    )
    others = [column for column in range(out.in_features) if column // 4 != head]
    tried("You ablated the other heads and kept this one.", (out.weight, (every, others)))
    found[
        "Nothing has changed: the copy answers like the original. Is d computed from this model, D / H? Did you change "
        "the weight itself, and not a clone of it?"
    ] = answers(model)
    found["You ablated another head. Both numbers count from 0."] = answers(model, [(layer, head - 1)])
    found["You ablated another head of another layer. Both numbers count from 0."] = answers(
        model, [(1 - layer, head - 1)]
    )
    found["That is the right head, but in another layer."] = answers(model, [(1 - layer, head)])
    return found


@exercise(
    "9.3",
    "Ablate a head",
    difficulty=2,
    minutes=12,
    without=("without_heads",),
    runs="beside",
    hints=(
        "copy.deepcopy makes an independent copy of a model. The output of head h is in the entries h · d to "
        "h · d + d − 1 of the output projection's input.",
        "A linear layer's weight is [out, in]: set weight[:, head * d : (head + 1) * d] to 0, inside torch.no_grad().",
    ),
)
def ablate_head(case: Case) -> None:
    """Middle and last heads of both layers, and the original unchanged."""
    case.causes = {
        "leaf Variable": "PyTorch records what you do with weights. Change them inside `with torch.no_grad():`.",
        "slice indices must be integers": "D / H is a float in Python. D // H is an integer.",
        "as parameter": "A weight is a Parameter, and no plain tensor can take its position. Change its entries "
        "instead: weight[…] = 0, inside `with torch.no_grad():`.",
    }
    model = small_model()
    before = answers(model)
    for layer, head in ((0, 1), (1, 2)):
        got = case.call(model, layer, head, tried=f"layer {layer} and head {head} of a model with 2 layers of 3 heads")
        case.is_a("the result", got, nn.Module, "a model")
        if not torch.equal(answers(model), before):
            case.fail(
                "But the model that I gave you has changed too.",
                "Return a copy, so that the original can be used again: see copy.deepcopy.",
            )
        got.eval()
        expected = answers(model, [(layer, head)])
        stranger = "Is this a copy of the model that I gave you? It may be one of the notebook's: use the parameter."
        case.same_shape("what the copy answers", answers(got), expected, stranger)
        advice = "Print d and the slice that you set to 0: which entries of the projection's input belong to this head?"
        case.close(
            "what the copy answers", answers(got), expected, advice, mistakes=head_mistakes(layer, head), tolerance=1e-4
        )
    case.close_with("The package uses a hook instead, so it does not have to copy the model.")
