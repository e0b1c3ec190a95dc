"""Variants of chapter 13: the nearest vectors by another distance, and a contrastive loss with groups."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import compare
from bertedu.course.variant import COPIED, Draws, Variant

DISTANCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Euclidean distance": lambda a, b: (a[:, None] - b).square().sum(-1).sqrt(),
    "Manhattan distance": lambda a, b: (a[:, None] - b).abs().sum(-1),
    "cosine distance": lambda a, b: 1 - normalize(a, dim=-1) @ normalize(b, dim=-1).T,
}
FORMULAS = {
    "Euclidean distance": "the length of the difference of two vectors",
    "Manhattan distance": "the sum of the absolute differences of their entries",
    "cosine distance": "1 minus the cosine of two vectors",
}
OTHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "These are squared distances: take the root.": lambda a, b: (a[:, None] - b).square().sum(-1),
    "That is the mean of the absolute differences. Their sum is asked for.": (
        lambda a, b: (a[:, None] - b).abs().mean(-1)
    ),
    "A cosine needs vectors of length 1: normalize both.": lambda a, b: 1 - a @ b.T,
}  # fmt: skip


def search(
    queries: Tensor,
    collection: Tensor,
    k: int,
    *,
    distance: Callable[[Tensor, Tensor], Tensor],
    columns: bool,  # the vectors are columns
    far_first: bool = False,
    largest: bool = False,  # those that are farthest from the query
    transposed: bool | None = None,  # the result is [k, N]; None: if the vectors are columns
) -> tuple[Tensor, Tensor]:
    """Positions and distances of k vectors for each query, [N, k], or [k, N] for columns."""
    ours, theirs = (queries.T, collection.T) if columns else (queries, collection)
    if ours.size(-1) != theirs.size(-1) or len(theirs) < k:
        return torch.empty(0), torch.empty(0)  # a mistake that is not possible with these sizes
    values, positions = distance(ours, theirs).topk(k, largest=largest)
    if far_first != largest:
        values, positions = values.flip(-1), positions.flip(-1)
    return (positions.T, values.T) if (columns if transposed is None else transposed) else (positions, values)


def public_nearest(queries: Tensor, collection: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """What the chapter's solution gives, whatever the axes are: the cosines first."""
    cosine = DISTANCES["cosine distance"]
    positions, distances = search(queries, collection, k, distance=cosine, columns=False)
    return 1 - distances, positions


def neighbors(draws: Draws) -> Variant:
    """The k nearest vectors by a drawn distance, in rows or columns, the nearest or the farthest of them first."""
    name, columns, far_first = draws.pick(tuple(DISTANCES)), draws.pick((True, False)), draws.pick((True, False))
    vectors, result = ("[D, N]", "[k, N]") if columns else ("[N, D]", "[N, k]")
    wrong = partial(search, distance=DISTANCES[name], columns=columns, far_first=far_first)
    order = "farthest" if far_first else "nearest"

    mistakes: dict[str, Callable] = {
        COPIED.format(number="13.3"): public_nearest,
        "Return the positions first, then the distances.": lambda *inputs: wrong(*inputs)[::-1],
        f"Of the k nearest, the {order} should come first.": partial(wrong, far_first=not far_first),
        "Those are the k farthest vectors. The k nearest are asked for.": partial(wrong, largest=True),
        "Those are the k farthest vectors, and in the wrong order, too.": partial(
            wrong, largest=True, far_first=not far_first
        ),
        f"The vectors are the {'columns' if columns else 'rows'}: {vectors}.": partial(wrong, columns=not columns),
        f"Each vector is a {'column' if columns else 'row'}: the inputs are {vectors}.": partial(
            wrong, columns=not columns, transposed=columns
        ),
        f"The vectors are {vectors}, and the results {result}.": partial(wrong, transposed=not columns),
    }
    for said, measure in OTHERS.items():
        mistakes[said] = partial(wrong, distance=measure)
    for other, measure in DISTANCES.items():
        mistakes[f"That is the {other}. The {name} is asked for."] = partial(wrong, distance=measure)

    def examine(case: Case) -> None:
        case.causes |= {words: f"The vectors are {vectors}." for words in ("must match", "multiplied", "out of range")}
        rows = []
        for n, m, d, k in ((4, 4, 3, 2), (3, 10, 8, 4), (1, 5, 4, 1), (2, 7, 3, 3)):
            queries, collection = case.randn(n, d), case.randn(m, d) * torch.linspace(0.3, 3, m).unsqueeze(-1)
            inputs = (queries.T.contiguous(), collection.T.contiguous(), k) if columns else (queries, collection, k)
            rows.append((f"{n} queries and {m} vectors with D = {d} and k = {k}", *inputs))
        compare(case, rows, wrong, mistakes, f"Compute all distances, [N, M], by the {name}.")

    text = (
        f"Write `nearest(queries, collection, k)` for N queries `{vectors}` and a collection of M vectors "
        f"`{vectors.replace('N', 'M')}`: the vectors are the **{'columns' if columns else 'rows'}**. For each query "
        f"find the k vectors of the collection with the smallest **{name}** ({FORMULAS[name]}). Return two tensors "
        f"`{result}`, the **positions** of these vectors in the collection first, then their **distances**. Of the k "
        f"vectors the **{order}** comes first."
    )
    hints = (
        "First all distances of queries and collection, as a table [N, M]. Then topk along the collection.",
        "topk(k, largest=False) gives the smallest values and their positions, the smallest first. flip(-1) reverses.",
    )
    exercise = Exercise("13.11", "Nearest by another distance", 2, 12, hints, examine)
    return Variant(exercise, text, "def nearest(queries, collection, k):")


def in_batch(
    questions: Tensor,
    answers: Tensor,
    group: Tensor,
    *,
    temperature: float,
    sides: str,  # who chooses: "questions", "answers", "both"
    unit: bool = True,  # vectors of length 1
    left_out: Callable[[Tensor, Tensor], Tensor] = lambda same, own: same & ~own,
    filled: float = -torch.inf,  # the score of what is left out
    reduction: str = "mean",
) -> Tensor:
    """The contrastive loss of a batch; texts of the same group are no negatives."""
    if unit:
        questions, answers = normalize(questions, dim=-1), normalize(answers, dim=-1)
    own = torch.eye(len(group), dtype=torch.bool)
    same = group[:, None] == group
    scores = (questions @ answers.T / temperature).masked_fill(left_out(same, own), filled)
    labels = torch.arange(len(group))
    losses = [cross_entropy(one, labels, reduction=reduction) for one in (scores, scores.T)]
    return {"questions": losses[0], "answers": losses[1], "both": (losses[0] + losses[1]) / 2}[sides]


BOTH = "Do the same for each answer, which chooses among the questions, and return the **mean of both** losses."
SIDES = {
    "questions": ("Each **question** chooses among the answers", ""),
    "answers": ("Each **answer** chooses among the questions", ""),
    "both": ("Each **question** chooses among the answers", f" {BOTH}"),
}


def contrasting(draws: Draws) -> Variant:
    """A contrastive loss with a drawn temperature and direction, where a group shares its right answers."""
    temperature, sides = draws.pick((0.1, 0.2, 0.4, 0.5)), draws.pick(tuple(SIDES))
    wrong = partial(in_batch, temperature=temperature, sides=sides)
    nothing: Callable[[Tensor, Tensor], Tensor] = lambda same, own: torch.zeros_like(own)  # noqa: E731
    mistakes: dict[str, Callable] = {
        "That is the chapter's loss. Texts of the same group are no negatives here: leave them out.": partial(
            wrong, left_out=nothing
        ),
        "That is the loss with the chapter's τ = 0.05, and with all others as negatives. Read what is different.": (
            partial(wrong, left_out=nothing, temperature=0.05, sides="questions")
        ),
        f"You multiplied by the temperature. Divide by {temperature:g}.": partial(wrong, temperature=1 / temperature),
        "The temperature is missing.": partial(wrong, temperature=1.0),
        f"The temperature is the chapter's 0.05. It is {temperature:g} here.": partial(wrong, temperature=0.05),
        "Those are dot products. A cosine needs vectors of length 1: normalize both.": partial(wrong, unit=False),
        "A text's own partner was left out as well. It is in the same group, but it has to stay.": (
            partial(wrong, left_out=lambda same, own: same)
        ),
        "A score of 0 is not left out: e to the 0 is 1. Use minus infinity.": partial(wrong, filled=0.0),
        "You left out the other groups. They are the negatives; the same group is left out.": partial(
            wrong, left_out=lambda same, own: ~same
        ),
        "That is the sum over the pairs. Take the mean.": partial(wrong, reduction="sum"),
    }  # fmt: skip
    for side in SIDES:
        chosen = {"questions": "each question chooses", "answers": "each answer chooses", "both": "both choose"}
        mistakes[f"In your loss {chosen[side]}. In the text {chosen[sides]}."] = partial(wrong, sides=side)

    def examine(case: Case) -> None:
        rows = []
        for group, tried in (
            ([0, 1, 1, 2, 0, 3], "6 pairs in 4 groups"),
            ([0, 1, 2, 3], "4 pairs, each in a group of its own"),
            ([5, 5, 7, 5, 7], "5 pairs in 2 groups"),
            ([1, 1, 1], "3 pairs of one group, which leaves no negatives"),
        ):
            size = (len(group), 5)
            rows.append((tried, 2 * case.randn(*size), 0.5 * case.randn(*size), torch.tensor(group)))
        compare(
            case, rows, wrong, mistakes, "Compute the loss of one pair by hand, with the formula.", names=("the loss",)
        )
        tried, questions, answers, numbers = rows[0]
        case.gradient_flows(questions, answers, names=("questions", "answers"), tried=tried, group=numbers)

    text = (
        "Write `contrastive_loss(questions, answers, group)` for vectors `[B, D]` and `[B, D]` of any length. Answer i "
        "is the right one for question i. `group` `[B]` has a whole number for each pair. Pairs with the same number "
        "ask for the same thing, so a text of another pair of the **same group** is neither right nor wrong: leave it "
        f"out. Scores are cosines divided by **{temperature:g}**. {SIDES[sides][0]} by cross-entropy (InfoNCE): its "
        f"own partner against the partners in **other** groups. The loss is the mean over the pairs.{SIDES[sides][1]}"
    )
    hints = (
        "Start with the B × B cosines. Where is the right partner in each row, and which entries of a row don't count?",
        "masked_fill(same group, but not the diagonal, -inf), then cross_entropy with the labels 0, 1, 2 …",
    )
    exercise = Exercise("13.12", "Negatives from other groups", 3, 15, hints, examine)
    return Variant(exercise, text, "def contrastive_loss(questions, answers, group):")


MAKERS = {"13.11": neighbors, "13.12": contrasting}
