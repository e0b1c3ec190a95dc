"""Answers to the variants of chapter 13: see test_classroom_variants.py."""

from support.variant_facts import found

NEAREST = """
def nearest(queries, collection, k):
    a, b = (queries.T, collection.T) if columns else (queries, collection)
    if name == "cosine":
        table = 1 - torch.cosine_similarity(a[:, None], b[None], dim=-1)
    else:
        table = torch.cdist(a, b, p=2 if name == "Euclidean" else 1)
    distances, positions = table.topk(k, largest=False)
    if far_first:
        distances, positions = distances.flip(-1), positions.flip(-1)
    return (positions.T, distances.T) if columns else (positions, distances)
"""
NEAREST_LOOP = """
def nearest(queries, collection, k):
    axis = 0 if columns else 1
    positions, distances = [], []
    for query in queries.unbind(1 - axis):
        row = []
        for at, one in enumerate(collection.unbind(1 - axis)):
            far = (query - one).norm() if name == "Euclidean" else (query - one).abs().sum()
            if name == "cosine":
                far = 1 - query @ one / query.norm() / one.norm()
            row.append((far.item(), at))
        row = sorted(row)[:k][:: -1 if far_first else 1]
        distances.append(torch.tensor([far for far, _ in row]))
        positions.append(torch.tensor([at for _, at in row]))
    return torch.stack(positions, 1 - axis), torch.stack(distances, 1 - axis)
"""
PUBLIC_NEAREST = """
from torch.nn.functional import normalize

def nearest(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    best = cosines.topk(k, dim=-1)
    return best.values, best.indices
"""
LOSS = """
from torch.nn.functional import cross_entropy, normalize

def contrastive_loss(questions, answers, group):
    cosines = normalize(questions, dim=-1) @ normalize(answers, dim=-1).T
    others = (group[:, None] == group[None, :]) & ~torch.eye(len(group), dtype=torch.bool)
    scores = (cosines / temperature).masked_fill(others, -torch.inf)
    labels = torch.arange(len(group))
    losses = {"questions": cross_entropy(scores, labels), "answers": cross_entropy(scores.T, labels)}
    return losses[side] if side in losses else sum(losses.values()) / 2
"""
LOSS_LOOP = """
def contrastive_loss(questions, answers, group):
    def one_way(mine, theirs):
        losses = []
        for i, vector in enumerate(mine):
            cosines = theirs @ vector / vector.norm() / theirs.norm(dim=1)
            kept = [j for j in range(len(group)) if j == i or group[j] != group[i]]
            losses.append((cosines[kept] / temperature).logsumexp(0) - cosines[i] / temperature)
        return torch.stack(losses).mean()
    if side == "both":
        return (one_way(questions, answers) + one_way(answers, questions)) / 2
    return one_way(questions, answers) if side == "questions" else one_way(answers, questions)
"""

RIGHT = {
    "13.11": [NEAREST, NEAREST_LOOP],
    "13.12": [LOSS, LOSS_LOOP],
}
WRONG = {
    "13.11": {
        PUBLIC_NEAREST: r"the chapter's exercise 13\.3",
        NEAREST + "\nright = nearest\ndef nearest(*inputs):\n    return right(*inputs)[::-1]": r"positions first",
        NEAREST.replace("if far_first", "if not far_first"): r"should come first",
        NEAREST.replace("largest=False", "largest=True"): r"k farthest",
        NEAREST.replace("if columns else (queries", "if not columns else (queries"): r"The vectors are|the inputs are",
        NEAREST.replace("if columns else (positions", "if not columns else (positions"): r"and the results",
        NEAREST.replace('p=2 if name == "Euclidean" else 1)', 'p=1 if name == "Euclidean" else 2)').replace(
            '"cosine"', '"none"'
        ): r"That is the (Euclidean|Manhattan) distance\. The",
    },
    "13.12": {
        LOSS.replace("masked_fill(others, -torch.inf)", "clone()"): r"the chapter's loss",
        LOSS.replace("masked_fill(others, -torch.inf)", "clone()")
        .replace("/ temperature", "/ 0.05")
        .replace("losses[side] if side in losses else sum(losses.values()) / 2", "losses['questions']"): (
            r"the chapter's τ = 0\.05"
        ),
        LOSS.replace("/ temperature", "* temperature"): r"You multiplied",
        LOSS.replace(" / temperature", ""): r"temperature is missing",
        LOSS.replace("/ temperature", "/ 0.05"): r"the chapter's 0\.05",
        LOSS.replace("normalize(questions, dim=-1) @ normalize(answers, dim=-1).T", "questions @ answers.T"): (
            r"dot products"
        ),
        LOSS.replace(" & ~torch.eye(len(group), dtype=torch.bool)", ""): r"own partner was left out",
        LOSS.replace("-torch.inf", "0.0"): r"A score of 0",
        LOSS.replace("group[:, None] == group", "group[:, None] != group"): r"left out the other groups",
        LOSS.replace("labels)", "labels, reduction='sum')"): r"sum over the pairs",
        LOSS.replace("losses[side] if side", "losses['questions' if side == 'answers' else 'answers'] if side").replace(
            "sum(losses.values()) / 2", "losses['questions']"
        ): r"In your loss",
        LOSS.replace("return losses[side] if", "return losses[side].item() if")
        .replace("/ 2", "/ 2 * 1.0")
        .replace("sum(losses.values())", "sum(losses.values()).item()"): r"should be a tensor",
    },
}
PUBLIC = {"13.11": "13.3"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "name": found(r"smallest \*\*(\w+) distance", text),
        "columns": "vectors are the **columns**" in text,
        "far_first": "the **farthest** comes first" in text,
        "temperature": float(found(r"divided by \*\*([\d.]+)\*\*", text) or 0),
        "side": "both" if "mean of both" in text else found(r"Each \*\*(\w+)\*\*", text) + "s",
    }
