"""Hidden tests of the lab `retrieval`: figures of a search that contradict each other."""

import torch
from torch.nn import functional as F

from bertedu.interview.bugs.program import Program

E = torch.eye(4)


def negatives(program: Program) -> str | None:
    """Two questions about one passage. Then its second copy moves away from the first question, towards the second."""
    questions, ids = E[:3], torch.tensor([7, 7, 8])
    shared = (E[0] + E[1]) / 2**0.5
    before, after = (
        program.call("contrastive_loss", questions, torch.stack([shared, copy, E[2]]), ids).item()
        for copy in (shared, E[1])
    )
    if before - after < 0.05:
        return None
    return f"the loss falls from {before:.2f} to {after:.2f} when a passage moves away from a question that it answers."


def rank(program: Program) -> str | None:
    """A perfect search, and one with the ranks 1, 2 and 4."""
    right = torch.tensor([0, 1, 2])
    perfect = torch.tensor([[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3]])
    found = program.call("mean_reciprocal_rank", perfect, right)
    if abs(found - 1) > 1e-4:
        return f"a search that is always right at once has an MRR of {found:.2f}."
    mixed = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 3, 2]])
    found = program.call("mean_reciprocal_rank", mixed, right)
    return None if abs(found - 1.75 / 3) < 1e-4 else f"the ranks 1, 2 and 4 have an MRR of {found:.3f}, not 0.583."


def length(program: Program) -> str | None:
    """A short passage that is all about the question, and one of a large norm that is half about something else."""
    encoder, pad = program.call("Encoder"), program["PAD"]
    with torch.no_grad():
        encoder.embeddings.weight.zero_()
        encoder.embeddings.weight[0, 0] = encoder.embeddings.weight[1, 1] = 1.0
        encoder.embeddings.weight[2, :2] = 3.0
        questions = encoder(torch.tensor([[0, 0]]))
        for other in ([0, 1, 0, 1, 0, 1], [2, 2, 2, 2, 2, 2]):
            passages = encoder(torch.tensor([[0, *[pad] * 5], other]))
            if program.call("search", questions, passages)[0, 0] != 0:
                return "a passage that is about nothing but the question comes after a long one that is half about it."
    return None


def sound(program: Program) -> str | None:
    """The usual loss where no passage is there twice; a search that gives all passages, the best first."""
    generator = torch.Generator().manual_seed(6)
    questions, passages = torch.randn(2, 5, 4, generator=generator)
    loss = program.call("contrastive_loss", questions, passages, torch.arange(5)).item()
    similarity = F.normalize(questions, dim=-1) @ F.normalize(passages, dim=-1).T / program["TEMPERATURE"]
    expected = F.cross_entropy(similarity, torch.arange(5)).item()
    if not abs(loss - expected) < 1e-4:
        return f"five different passages have a loss of {loss:.3f}, and had {expected:.3f}."
    same = torch.tensor([7, 7, 8])
    good, bad = (
        program.call("contrastive_loss", E[[0, 0, 1]], E[rows], same).item() for rows in ([0, 0, 1], [1, 1, 0])
    )
    if not good + 1 < bad:
        return f"where two questions share a passage, right embeddings have the loss {good:.2f}, wrong ones {bad:.2f}."
    found = program.call("search", E[:2], E)
    if (
        found.shape != (2, 4)
        or found[:, 0].tolist() != [0, 1]
        or found.sort(dim=-1).values.tolist() != [[0, 1, 2, 3]] * 2
    ):
        return "`search` no longer gives the indices of all passages, the most similar first."
    return None
