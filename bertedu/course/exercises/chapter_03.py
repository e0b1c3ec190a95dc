"""Exercises of chapter 3: self-attention."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.model.attention import attend, padding_bias


@exercise(
    "3.1",
    "The token that looks for nothing",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=(
        "What is the dot product of a vector of zeros with any other vector? You get three scores.",
        "All three scores are 0, and e to the 0 is 1. What share of the sum of the three powers is one of them?",
    ),
)
def looks_for_nothing(case: Case) -> None:
    case.predicted(
        1 / 3,
        otherwise="Work out the three scores in the row of keys first. What does softmax make of them?",
        mistakes=[
            (0.0, "A score of 0 is not a weight of 0: e to the 0 is 1. How many ones share the attention?"),
            (1.0, "1 is e to the score. It has still to be divided by the sum of all three."),
            (0.5, "A half each would be right for two tokens. Does keys look at itself, too? And at [MASK]?"),
            (-1 / 3, "A share is never negative: the value of lamp is, but this asks for its weight."),
            (0.11, "That is the row of [MASK]. The row of keys begins with the query of keys."),
            (0.67, "That is how much lamp looks at itself. The row of keys begins with the query of keys."),
        ],
        tolerance=0.006,
    )


@exercise(
    "3.2",
    "Attention in four lines",
    difficulty=2,
    minutes=10,
    hints=(
        "One query is compared with all keys: which axis of the scores holds the keys?",
        "scores = query @ key.transpose(-2, -1), then divide, softmax over the last axis, and mix the values.",
    ),
)
def attention(case: Case) -> None:
    query, key, value = (case.randn(2, 3, 5, 8) for _ in range(3))
    result = case.call(query, key, value, tried="2 sentences of 5 tokens with 3 heads")
    values, weights = case.parts(result, "values", "weights")
    if is_shaped(values, [2, 3, 5, 5]) and is_shaped(weights, [2, 3, 5, 8]):
        case.fail("But the two come in the wrong order: first the mixed values, then the weights.")
    case.same_shape("values", values, [2, 3, 5, 8])
    case.same_shape("weights", weights, [2, 3, 5, 5], "Every token of 5 looks at every token of 5.")
    rows, columns = weights.sum(-1), weights.sum(-2)
    if not is_close(rows, torch.ones_like(rows), 1e-4):
        came = f"But row 0 of the weights sums to {rows[0, 0, 0]:.2f}, and every row should sum to 1"
        if is_close(columns, torch.ones_like(columns), 1e-4):
            case.fail(
                came + ": a token shares out exactly one unit of attention.",
                "Your columns sum to 1, so the softmax runs over the queries. "
                "Which axis holds the keys that one query chooses from?",
            )
        if is_close(weights.sum(1), torch.ones_like(weights.sum(1)), 1e-4):
            case.fail(came + ".", "Your softmax runs over the heads: each head should choose on its own.")
        if is_close(weights.sum(0), torch.ones_like(weights.sum(0)), 1e-4):
            case.fail(came + ".", "Your softmax runs over the batch: one sentence would depend on its neighbours.")
        case.fail(came + ": is there a softmax?")
    scores = query @ key.mT
    if is_close(weights, scores.softmax(-1), 1e-4):
        case.almost("The weights are sharper than they should be. Something that kept the scores small is missing.")
    if is_close(weights, (scores / 8).softmax(-1), 1e-4):
        case.almost("The weights are flatter than they should be: you divided by d. Which spread does a score have?")
    if is_close(weights, (scores / 5**0.5).softmax(-1), 1e-4):
        case.almost("You divided by √T, the number of tokens. It is the length of a query that makes scores large.")
    if is_close(weights, (scores / 3**0.5).softmax(-1), 1e-4):
        case.almost("You divided by √H, the number of heads. It is the length of a query that makes scores large.")
    if is_close(weights, (scores / 2).softmax(-1), 1e-4):
        case.almost("You divided by 2, as in the example by hand. There d was 4; what is it here?")
    expected_values, expected_weights = attend(query, key, value)
    wrong_way = attend(key, query, value)[1]
    turned = {"These are the weights with query and key exchanged: the rows belong to the queries.": wrong_way}
    case.close("weights", weights, expected_weights, "Look again at what the scores are made of.", mistakes=turned)
    mistakes = {
        "The weights are turned round before they mix: row i of the weights makes row i of the result.": (
            weights.mT @ value
        ),
        "The weights are right, but they mix the keys: the values are what is handed over.": weights @ key,
    }
    case.close("values", values, expected_values, "The weights are right. What do they mix?", mistakes=mistakes)
    one = [case.randn(1, 1, 1, 4) for _ in range(3)]
    single, _ = case.parts(case.call(*one, tried="a single token"), "values", "weights")
    case.close("values", single, one[2], "A single token can only look at itself.")
    case.gradient_flows(query, key, value, names=("query", "key", "value"), tried="2 sentences of 5 tokens")


def is_shaped(value: object, size: list[int]) -> bool:
    """Whether it is a tensor of that shape."""
    return isinstance(value, Tensor) and list(value.shape) == size


@exercise(
    "3.3",
    "Put the heads side by side",
    difficulty=2,
    minutes=5,
    hints=(
        "The split was: cut the last axis, then swap T and H. Undo the last step first.",
        "Swap the axes 1 and 2 back with transpose; then the last two axes, H and d, become one with flatten.",
    ),
)
def merge_heads(case: Case) -> None:
    whole = case.randn(2, 5, 12)  # [B, T, D]
    heads = whole.unflatten(-1, (3, 4)).transpose(1, 2)  # [B, H, T, d] = [2, 3, 5, 4]
    merged = case.call(heads, tried="2 sentences of 5 tokens with 3 heads of 4")
    if is_shaped(merged, [2, 5, 3, 4]):
        case.fail("But the result is [2, 5, 3, 4]: T and H are in place, and H and d have still to become one axis.")
    if is_shaped(merged, [2, 3, 20]):
        case.fail("But the result is [2, 3, 20]: T and d have become one axis. H and d should: swap T and H first.")
    case.same_shape("merged", merged, [2, 5, 12], "One vector for each token: B, T and D = H·d.")
    mistakes = {
        "The shape is right and the content scrambled: the vector of token 0 holds pieces of other tokens. "
        "Reshaping alone cuts up memory in its order; T and H must be swapped first.": heads.reshape(2, 5, 12),
        "Each vector holds the right numbers in the wrong order: head 0 should come first, whole, then head 1.": (
            heads.permute(0, 2, 3, 1).flatten(-2)
        ),
    }
    case.close("merged", merged, whole, "Splitting and merging should give back what went in.", mistakes=mistakes)
    for batch, count, length, size in ((1, 1, 4, 6), (3, 4, 1, 2)):
        whole = case.randn(batch, length, count * size)
        heads = whole.unflatten(-1, (count, size)).transpose(1, 2)
        tried = "a single head" if count == 1 else "texts of one token with 4 heads"
        case.close("merged", case.call(heads, tried=tried), whole, "Take all sizes from the shape of x.")
    case.gradient_flows(case.randn(2, 3, 5, 4), names=("x",), tried="3 heads")


@exercise(
    "3.4",
    "A softmax that knows a mask",
    difficulty=3,
    minutes=10,
    hints=(
        "Hide the keys before the softmax, with a number that stays finite. Then only the row of zeros is missing.",
        "masked_fill(~keep, torch.finfo(scores.dtype).min), softmax; what does multiplying the weights by keep change?",
    ),
)
def masked_softmax(case: Case) -> None:
    scores = 3 * case.randn(2, 3, 4, 4)
    keep = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]).bool()[:, None, None, :]  # [B, 1, 1, T]
    weights = case.call(scores, keep, tried="2 texts of 4 tokens, the last of the first one padding")
    case.same_shape("weights", weights, scores)
    if bool(weights.isnan().any()):
        case.fail("But there is a nan in the weights, though every row has something to look at.")
    hidden = weights[0, :, :, 3]
    reference = scores.masked_fill(~keep, -torch.inf).softmax(-1)
    plain = scores.softmax(-1)
    if is_close(weights, plain * keep):
        case.fail(
            f"But the first row sums to {weights[0, 0, 0].sum():.2f}, and should to 1.",
            "Padding took its share in the softmax, and you threw the share away. Hide the keys before the softmax.",
        )
    if is_close(weights, (scores * keep).softmax(-1)):
        case.fail(
            f"But the padding gets {hidden[0, 0]:.2f} of the attention, and should get 0.",
            "You made the hidden scores 0, and a score of 0 is not hidden: e to the 0 is 1.",
        )
    upside_down = scores.masked_fill(keep, torch.finfo(scores.dtype).min).softmax(-1)
    if is_close(weights[0], upside_down[0]):
        case.fail("But all attention goes to the padding. Your mask is turned upside down: keep is True for text.")
    if is_close(weights, plain):
        case.fail(
            f"But the padding gets {hidden[0, 0]:.2f} of the attention: these are the weights without a mask.",
            "Did you make a new tensor and go on with the old one? masked_fill returns its result.",
        )
    if bool((hidden != 0).any()):
        largest = hidden.max()
        case.fail(f"But the padding gets up to {largest:.2g} of the attention, and should get exactly 0.")
    case.close("weights", weights, reference, "The padding is hidden. Does each row choose among the last axis?")
    all_padding(case)
    sixteen_bits(case)


def all_padding(case: Case) -> None:
    """The second half: a text in which everything is hidden, forwards and backwards; high scores."""
    scores, keep = case.randn(2, 1, 3, 3), torch.tensor([[1, 1, 0], [0, 0, 0]]).bool()[:, None, None, :]
    weights = case.call(scores, keep, tried="a text that is all padding")
    case.same_shape("weights", weights, scores)
    empty = weights[1]
    if bool(empty.isnan().any()):
        case.fail("But its weights are nan: 0 / 0. With -inf in every place there is nothing to divide by.")
    if is_close(empty, torch.full_like(empty, 1 / 3)):
        case.almost("A text that is all padding gets equal shares of 0.33: finite, but it asked for zeros.")
    if bool((empty != 0).any()):
        case.fail(f"But row 0 of its weights is {[round(w, 2) for w in empty[0, 0].tolist()]}, and should be zeros.")
    expected = scores[0].masked_fill(~keep[0], -torch.inf).softmax(-1)
    case.close("the weights of the other text", weights[0], expected, "The text beside it must not change.")
    leaf = scores.clone().requires_grad_()
    case.begin("I called masked_softmax on a text that is all padding and asked for the gradient.", "its gradient")
    result = case.protected(case.answer, leaf.clone(), keep.clone())
    if not result.requires_grad:
        case.fail("But the result is cut off from the scores: is there a detach or a no_grad on the way?")
    gradient = torch.autograd.grad((result * case.randn(*result.shape)).sum(), leaf)[0]
    if bool(gradient.isnan().any()):
        case.almost(
            "The weights are right, but the gradient is nan: a nan was painted over on the way forwards, and comes",
            "back on the way backwards. Fill with a number that is finite, so that no nan arises at all.",
        )


def sixteen_bits(case: Case) -> None:
    """Large scores, and float16."""
    keep = torch.tensor([[1, 1, 0]]).bool()[:, None, None, :]
    scores = torch.tensor([-20000.0, -20001.0, 20000.0]).expand(1, 1, 3, 3).clone()
    weights = case.call(scores, keep, tried="scores of ±20000")
    if is_shaped(weights, [1, 1, 3, 3]) and bool((weights[..., 2] != 0).any() | (weights[..., 0] < 0.5).any()):
        case.almost("With scores as large as ±20000 the padding is seen again: your fill is not negative enough.")
    scores = case.randn(1, 1, 3, 3).half() - 20
    weights = case.call(scores, keep, tried="float16")
    case.dtype("weights", weights, torch.float16)
    expected = scores.float().masked_fill(~keep, -torch.inf).softmax(-1)
    case.close("weights", weights.float(), expected, "Is your fill a number of the scores' own type?", tolerance=2e-3)


@exercise(
    "3.5",
    "Repair the mask",
    difficulty=3,
    minutes=10,
    hints=(
        "Write down the shape of the scores and below it the shape of the bias. Along which axis does the bias differ?",
        "The keys lie along the last axis of the scores: [B, T] has to become [B, 1, 1, T].",
    ),
)
def repaired_bias(case: Case) -> None:
    attention_mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    bias = case.call(attention_mask, torch.float32, tried="2 texts of 5 tokens, the last 2 of the second padding")
    case.is_a("the bias", bias, Tensor, "a tensor")
    if bias.dtype == torch.bool:
        case.fail(
            "But the bias is boolean. It is added to the scores: 0 where a key may be seen, very negative elsewhere."
        )
    size = list(bias.shape)
    if size == [2, 1, 5, 1]:
        case.fail(
            "But the bias is still [2, 1, 5, 1]: it moves whole rows, and softmax does not notice that.",
            "Which axis of the scores [B, H, T, T] holds the keys?",
        )
    if size == [2, 5]:
        case.fail("But the bias is [2, 5], and the scores have four axes, [B, H, T, T]: put axes in with None.")
    query, key, value = (case.randn(2, 3, 5, 4) for _ in range(3))
    try:
        fits = torch.broadcast_shapes(size, (2, 3, 5, 5)) == (2, 3, 5, 5)
    except RuntimeError:
        fits = False
    case.expect(fits, f"But the bias is {size}, which cannot be added to scores of [2, 3, 5, 5].")
    weights = attend(query, key, value, bias.float())[1]
    if bool(weights.isnan().any()):
        case.fail("But the weights become nan where this is added: is a whole row hidden, or a number times infinity?")
    of_text = weights[1, :, :3]  # what padding looks at is of no matter
    on_text, on_padding = of_text[..., :3].sum(-1).max(), of_text[..., 3:].sum(-1).max()
    if on_text < 1e-3 and on_padding > 0.99:
        case.fail("But with it all attention goes to the padding: the mask is turned upside down.")
    if on_padding > 0:
        case.fail(
            f"But with it a token still gives {on_padding:.1%} of its attention to padding, and should give none."
        )
    case.close("the weights of the text without padding", weights[0], attend(query, key, value)[1][0])
    never = attend(query[1:, :, :3], key[1:, :, :3], value[1:, :, :3])[1]
    case.close("weights", weights[1:, :, :3, :3], never, "Padded and masked should equal never padded.")
    edges(case, query, key, value)


def edges(case: Case, query: Tensor, key: Tensor, value: Tensor) -> None:
    """All padding in both types; a batch of one."""
    nothing = torch.zeros(2, 5, dtype=torch.long)
    for dtype in (torch.float32, torch.float16):
        name = str(dtype).removeprefix("torch.")
        bias = case.call(nothing, dtype, tried=f"texts that are all padding, in {name}")
        case.dtype("the bias", bias, dtype, "The second input says which type the scores have.")
        scores = (query @ key.mT).to(dtype) - 20
        if not bool((scores + bias).softmax(-1).isfinite().all()):
            case.almost(
                f"Padding is hidden, but a text that is all padding gives nan in {name}.",
                'The bias plus a score must stay finite: see "How negative is very negative?"',
            )
    bias = case.call(torch.tensor([[1, 0]]), torch.float32, tried="a batch of one")
    expected = padding_bias(torch.tensor([[1, 0]]), torch.float32)
    zeros = torch.zeros(1, 1, 2, 2)
    case.close("softmax(0 + bias)", (zeros + bias).softmax(-1)[:, :, :1], (zeros + expected).softmax(-1)[:, :, :1])
