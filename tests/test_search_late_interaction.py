"""MaxSim against a loop over real tokens, with padding on both sides; the search against training; saving."""

import pytest
import torch
from support.search_models import KINDS, PASSAGES, QUESTIONS, TOKENIZER, small
from torch.nn.functional import normalize

from bertedu.search.late_interaction import SIZE, LateInteraction, LateRetriever, LateSearch, TokenVectors, max_sim
from bertedu.search.retriever import score_all


def token_vectors(lengths: list[int], seed: int, sign: float = 1.0) -> TokenVectors:
    """Random vectors with positive entries, times sign; behind the real tokens the padding has vectors as well."""
    generator = torch.Generator().manual_seed(seed)
    vectors = sign * normalize(torch.rand(len(lengths), max(lengths), 5, generator=generator), dim=-1)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return TokenVectors(vectors, real)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["alike", "all cosines negative"])
def test_padding_is_nobodys_partner_and_looks_for_none(sign):
    """Where all cosines are negative, a padding that counts as 0 would be the best partner of every token."""
    asked, searched = token_vectors([2, 4, 1], 0), token_vectors([3, 1, 6, 2], 1, sign)
    found = max_sim(asked, searched)
    for q, q_length in enumerate([2, 4, 1]):
        for p, p_length in enumerate([3, 1, 6, 2]):
            expected = sum(
                max(float(asked.vectors[q, t] @ searched.vectors[p, s]) for s in range(p_length))
                for t in range(q_length)
            )
            assert found[q, p].item() == pytest.approx(expected, abs=1e-5), (q, p)


def test_the_maximum_is_taken_over_the_tokens_of_the_passage():
    """One token of the question, three of the passage: the sum of the passage's best cosines would be 3."""
    one = TokenVectors(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[True]]))
    three = TokenVectors(torch.tensor([[[1.0, 0.0]] * 3]), torch.tensor([[True] * 3]))
    assert max_sim(one, three).item() == 1.0
    assert max_sim(three, one).item() == 3.0


def test_padding_gets_no_gradient_and_makes_no_nan():
    asked, searched = token_vectors([1, 2], 0), token_vectors([1, 3], 1)
    vectors = searched.vectors.requires_grad_()
    max_sim(asked, TokenVectors(vectors, searched.real)).sum().backward()
    assert torch.isfinite(vectors.grad).all()
    assert (vectors.grad[~searched.real] == 0).all() and (vectors.grad[0, 0] != 0).any()


def test_a_passage_scores_the_same_beside_a_longer_one(monkeypatch):
    model = small(KINDS["late"])
    expected = torch.cat([score_all(LateRetriever(), model, TOKENIZER, QUESTIONS, [one]) for one in PASSAGES], dim=1)
    monkeypatch.setattr("bertedu.search.retriever.READ_AT_ONCE", 2)
    hits = LateSearch(model, TOKENIZER, PASSAGES).search(QUESTIONS, len(PASSAGES))
    for row, scores in zip(hits, expected, strict=True):
        assert [score for _, score in row] == pytest.approx(scores.sort(descending=True).values.tolist(), abs=1e-4)
        assert [number for number, _ in row] == scores.argsort(descending=True).tolist()


def test_the_projection_is_kept_on_disk_and_vectors_have_length_one(tmp_path):
    model = small(KINDS["late"])
    model.save_pretrained(tmp_path)
    opened = LateInteraction.from_pretrained(tmp_path)
    encoding = TOKENIZER(PASSAGES)
    vectors, again = (one(encoding.input_ids, encoding.attention_mask) for one in (model, opened))
    assert torch.equal(vectors, again) and vectors.shape == (len(PASSAGES), encoding.input_ids.size(1), SIZE)
    assert torch.allclose(vectors.norm(dim=-1), torch.ones(vectors.shape[:2]), atol=1e-5)


def test_the_projection_has_no_bias():
    """All vectors would be moved to one side, and the cosines of all pairs with them."""
    names = {name for name, _ in small(KINDS["late"]).named_parameters() if not name.startswith("encoder.")}
    assert names == {"projection.weight"}
