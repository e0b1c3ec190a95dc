"""fastText's pieces and hashes as gensim has them, its gradients by hand and by a step of gensim."""

import pytest
import torch
from gensim.models import FastText as TheirFastText
from gensim.models.fasttext_inner import compute_ngrams, ft_hash_bytes
from torch.testing import assert_close

from bertedu.before.fasttext import FastText, bucket, pieces

WORDS = ["[PAD]", "cat", "cats", "dog"]


@pytest.mark.parametrize("word", ["a", "at", "cat", "bakery", "größer", "photosynthesis"])
def test_pieces_know_where_a_word_begins(word):
    assert sorted(pieces(word)) == sorted(compute_ngrams(word, 3, 6))


@pytest.mark.parametrize("piece", ["<ca", "größe", "日本語", "x" * 6])
def test_a_piece_has_the_hash_of_fasttext(piece):
    assert bucket(piece, 2_000_000) == ft_hash_bytes(piece.encode()) % 2_000_000


def seeded(buckets: int = 50) -> FastText:
    torch.manual_seed(0)
    model = FastText(WORDS, 3, buckets).double()
    with torch.no_grad():
        model.contexts.weight.normal_()
    return model


def test_the_filler_does_not_count_in_the_mean():
    model = seeded()
    rows = [1, *(4 + bucket(piece, 50) for piece in pieces("cat"))]
    assert_close(model.word_vectors()[1], model.centers.weight[rows].mean(dim=0).detach())
    assert len(rows) == 7 and model.table.size(1) > 7  # "cats" has more


def test_a_special_token_has_no_pieces():
    model = seeded()
    assert_close(model.word_vectors()[0], model.centers.weight[0].detach())


def test_an_unseen_word_has_the_vector_of_its_pieces():
    model = seeded()
    rows = [4 + bucket(piece, 50) for piece in pieces("cots")]
    assert_close(model.vector("cots"), model.centers.weight[rows].mean(dim=0).detach())


def test_a_piece_gets_its_share_of_the_gradient():
    model = seeded()
    model.loss(torch.tensor([1]), torch.tensor([3]), torch.tensor([[2]])).backward()
    center, (positive, negative) = model.word_vectors()[1], model.contexts.weight[[3, 2]].detach()
    of_center = -(1 - (positive @ center).sigmoid()) * positive + (negative @ center).sigmoid() * negative
    for row in (1, 4 + bucket("<ca", 50), 4 + bucket("<cat>", 50)):
        times = (model.table[1] == row).sum()  # two pieces may share a bucket
        assert_close(model.centers.weight.grad[row], times * of_center / 7)
    assert model.centers.weight.grad[model.filler].abs().sum() == 0


def test_a_step_is_gensims():
    """gensim divides by the number of pieces without the word, and gives each row the whole gradient of the mean."""
    theirs = TheirFastText(vector_size=3, window=1, min_count=1, sg=1, negative=1, sample=0, workers=1, bucket=50)
    theirs.build_vocab_from_freq({"cats": 3, "dog": 2, "cat": 1})
    ours = FastText(["cats", "dog", "cat"], 3, 50).double()
    with torch.no_grad():
        ours.contexts.weight.copy_(torch.randn(3, 3, generator=torch.Generator().manual_seed(1)))
        ours.centers.weight.mul_(3)
    for name, size in (("dog", 6), ("cats", 10)):
        assert len(set(pieces(name))) == len(pieces(name)) == size
    table = ours.centers.weight.detach().clone().float().numpy()
    theirs.wv.vectors_vocab[:], theirs.wv.vectors_ngrams[:] = table[:3], table[3:53]
    theirs.syn1neg[:] = ours.contexts.weight.detach().numpy()
    theirs.cum_table[:] = [0, 0, 2**31 - 1]  # the negative is always "cat"
    theirs.train([["cats", "dog"]], total_examples=1, epochs=1, start_alpha=0.5, end_alpha=0.5)
    for center, context in ((0, 1), (1, 0)):  # here the word predicts its neighbour
        count = len(pieces(["cats", "dog"][center]))
        with torch.no_grad():
            ours.centers.weight.mul_((count + 1) / count)  # so that the mean is gensim's
        ours.zero_grad()
        ours.loss(torch.tensor([center]), torch.tensor([context]), torch.tensor([[2]])).backward()
        with torch.no_grad():
            ours.centers.weight.mul_(count / (count + 1)).sub_(0.5 * (count + 1) * ours.centers.weight.grad)
            ours.contexts.weight.sub_(0.5 * ours.contexts.weight.grad)
    found = ours.centers.weight.detach().float().numpy()
    assert_close(found[:3], theirs.wv.vectors_vocab, atol=1e-2, rtol=0)
    assert_close(found[3:53], theirs.wv.vectors_ngrams, atol=1e-2, rtol=0)
    assert_close(ours.contexts.weight.detach().float().numpy(), theirs.syn1neg, atol=1e-2, rtol=0)
    assert abs(found - table).max() > 0.3
