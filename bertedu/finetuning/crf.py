"""A layer that chooses the tags of a sentence together: a linear-chain conditional random field. Notebook 11.

Lafferty et al. 2001; over a neural tagger: Lample et al. 2016, section 2.2. The score of a tag sequence is the sum of
what each word says (emissions) and what each pair of neighbouring tags says (transitions); its probability is the
softmax over all C^W sequences, summed by the forward algorithm in W · C² steps. Shapes: B batch, W words, C tags.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from bertedu.errors import UserError
from bertedu.finetuning.spans import split_tag

FORBIDDEN = -1e4  # added to a score: its probability is 0, and sums and gradients stay finite
SHOWN = 60  # characters of a sentence in a message


class ConditionalRandomField(nn.Module):
    """Transitions between tags, learned; those that cannot be (O to I-person) are forbidden, not learned."""

    step_rules: Tensor
    start_rules: Tensor
    end_rules: Tensor

    def __init__(self, tags: Sequence[str]):
        super().__init__()
        count = len(tags)
        closes = are_closed(tags)
        self.transitions = nn.Parameter(torch.zeros(count, count))  # from row to column
        self.start = nn.Parameter(torch.zeros(count))
        self.end = nn.Parameter(torch.zeros(count))
        rules = torch.tensor([[rule(a, b, closes) for b in tags] for a in tags])
        self.register_buffer("step_rules", rules, persistent=False)
        self.register_buffer("start_rules", torch.tensor([rule("O", tag, closes) for tag in tags]), persistent=False)
        self.register_buffer("end_rules", torch.tensor([rule(tag, "O", closes) for tag in tags]), persistent=False)

    def scores(self) -> tuple[Tensor, Tensor, Tensor]:
        """Transitions [C, C], starts [C] and ends [C] with what is forbidden."""
        return self.transitions + self.step_rules, self.start + self.start_rules, self.end + self.end_rules

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log p of the right tags of each sentence, [B]. emissions [B, W, C], tags [B, W], mask [B, W] of booleans.

        Words stand at the front of each row, at least one; what stands in the padding makes no difference. A sentence
        whose right tags end where the rules allow no end (BIOES: within an entity) was cut off there: of all its tag
        sequences the end counts nothing.
        """
        last = tags.gather(1, mask.sum(dim=1, keepdim=True) - 1)
        ended = (self.end_rules[last] == 0).to(emissions.dtype)
        return self.score_of(emissions, tags, mask, ended) - self.log_sum_of_all(emissions, mask, ended)

    def score_of(self, emissions: Tensor, tags: Tensor, mask: Tensor, ended: Tensor | float = 1.0) -> Tensor:
        """The score of one tag sequence for each sentence, [B]. ended [B, 1] is 0 where a sentence was cut off."""
        transitions, start, end = self.scores()
        tags = tags.masked_fill(~mask, 0)
        said = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1)  # [B, W]
        steps = transitions[tags[:, :-1], tags[:, 1:]]  # [B, W - 1]
        last = tags.gather(1, mask.sum(dim=1, keepdim=True) - 1)
        ends = (end[last] * ended).squeeze(1)
        return (said * mask).sum(dim=1) + (steps * mask[:, 1:]).sum(dim=1) + start[tags[:, 0]] + ends

    def log_sum_of_all(self, emissions: Tensor, mask: Tensor, ended: Tensor | float = 1.0) -> Tensor:
        """The log of the summed exp(score) of all tag sequences, [B], by the forward algorithm. ended as above."""
        transitions, start, end = self.scores()
        sums = start + emissions[:, 0]  # [B, C]: of all rows that end here with tag c
        for word in range(1, emissions.size(1)):
            onward = (sums.unsqueeze(2) + transitions).logsumexp(dim=1) + emissions[:, word]
            sums = torch.where(mask[:, word, None], onward, sums)
        return (sums + end * ended).logsumexp(dim=-1)

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """How likely each word has each tag, over all tag sequences: [B, W, C], 0 in the padding.

        It is the gradient of the log of the sum by the emissions: the share of the sum that runs through each.
        """
        with torch.enable_grad():
            emissions = emissions.detach().requires_grad_()
            return torch.autograd.grad(self.log_sum_of_all(emissions, mask).sum(), emissions)[0]

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor) -> list[list[int]]:
        """The tag sequence with the highest score for each sentence, by Viterbi's algorithm: B lists of tag numbers."""
        transitions, start, end = self.scores()
        best = start + emissions[:, 0]  # [B, C]: the score of the best row that ends here with tag c
        stay = torch.arange(best.size(-1), device=best.device).expand_as(best)
        came_from = []
        for word in range(1, emissions.size(1)):
            onward, origin = (best.unsqueeze(2) + transitions).max(dim=1)  # [B, C] each
            going = mask[:, word, None]
            best = torch.where(going, onward + emissions[:, word], best)
            came_from.append(torch.where(going, origin, stay))
        rows = [(best + end).argmax(dim=-1)]
        for origin in reversed(came_from):
            rows.append(origin.gather(1, rows[-1].unsqueeze(1)).squeeze(1))
        together = torch.stack(rows[::-1], dim=1)  # [B, W]; padding repeats the last tag
        return [row[:length].tolist() for row, length in zip(together, mask.sum(dim=1).tolist(), strict=True)]


def are_closed(tags: Sequence[str]) -> bool:
    """Whether the rules of BIOES hold for these tags, by which an entity ends with E- or S-."""
    return any(tag.startswith(("E-", "S-")) for tag in tags)


def refuse_forbidden(words: Sequence[str], tags: Sequence[str], closes: bool) -> None:
    """Raise UserError for a sentence whose tags the rules forbid: a CRF could neither learn nor decode them."""
    for place, (before, after) in enumerate(pairwise(("O", *tags, "O"))):
        if not may_follow(before, after, closes):
            earlier = f"the tag {before!r} of {words[place - 1]!r}" if place else "the beginning"
            found = f"the tag {after!r} of {words[place]!r}" if place < len(tags) else "the end"
            raise UserError(
                f"the sentence {' '.join(words)[:SHOWN]!r}: {found} stands after {earlier}, and the rules of "
                f"{'BIOES' if closes else 'BIO'} by which a CRF chooses tags forbid it: leave --crf out, or write the "
                "tags by these rules (the task entities reads IOB1 from CoNLL columns and makes BIO of it)."
            )


def rule(before: str, after: str, closes: bool) -> float:
    """What is added to the score of a transition between two tags."""
    return 0.0 if may_follow(before, after, closes) else FORBIDDEN


def may_follow(before: str, after: str, closes: bool = False) -> bool:
    """Whether a tag may follow another by the rules of BIO, or, with `closes`, of BIOES; tags without a type
    (parts of speech) may stand anywhere. The beginning and the end of a sentence are like O.
    """
    (position, kind), (next_position, next_kind) = split_tag(before), split_tag(after)
    goes_on = position in ("B", "I") and next_position in ("I", "E") and kind == next_kind
    if next_kind and next_position in ("I", "E"):
        return goes_on
    return not (closes and kind and position in ("B", "I"))  # in BIOES an entity that began must go on to its E
