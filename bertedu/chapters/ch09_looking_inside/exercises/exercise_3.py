"""Exercise 9.3: Ablate a head."""

from typing import Any

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.interpretation.heads import attention_layers, without_heads
from bertedu.model import BertForPreTraining


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
        case.same_shape("the copy's output", answers(got), expected, stranger)
        advice = "Print d and the slice that you set to 0: which entries of the projection's input belong to this head?"
        case.close(
            "the copy's output", answers(got), expected, advice, mistakes=head_mistakes(layer, head), tolerance=1e-4
        )
    case.close_with("The package uses a hook instead, so it does not have to copy the model.")
