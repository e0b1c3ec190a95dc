"""word2vec's loss and gradients: by hand, by finite differences, and by a step of gensim."""

import numpy as np
import torch
from gensim.models import Word2Vec
from torch.testing import assert_close

from bertedu.before.word2vec import SkipGram, draw_negatives


def model_of(centers, contexts) -> SkipGram:
    model = SkipGram(*np.shape(centers)).double()
    with torch.no_grad():
        model.centers.weight.copy_(torch.as_tensor(centers))
        model.contexts.weight.copy_(torch.as_tensor(contexts))
    return model


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(-x))


def test_a_negative_pushes_away():
    v, u, n = np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([2.0, 0.25])
    model = model_of(np.stack([v, v * 0, v * 0]), np.stack([u * 0, u, n]))
    loss = model.loss(torch.tensor([0]), torch.tensor([1]), torch.tensor([[2]]))
    assert_close(loss.item(), -np.log(sigmoid(-1.5)) - np.log(sigmoid(-2.5)))  # u·v = -1.5, n·v = 2.5
    loss.backward()
    assert_close(model.contexts.weight.grad[1].numpy(), (sigmoid(-1.5) - 1) * v)
    assert_close(model.contexts.weight.grad[2].numpy(), sigmoid(2.5) * v)
    assert_close(model.centers.weight.grad[0].numpy(), (sigmoid(-1.5) - 1) * u + sigmoid(2.5) * n)


def test_gradients_are_the_finite_differences():
    model = model_of(numbers(7, 3), numbers(7, 3, seed=1))
    batch = torch.tensor([0, 1, 1, 5]), torch.tensor([2, 3, 6, 6]), torch.tensor([[4, 2], [4, 4], [0, 6], [1, 1]])
    model.loss(*batch).backward()
    for weight in (model.centers.weight, model.contexts.weight):
        expected = torch.zeros_like(weight)
        for at in np.ndindex(*weight.shape):
            with torch.no_grad():
                weight[at] += 1e-6
                above = model.loss(*batch).item()
                weight[at] -= 2e-6
                expected[at] = (above - model.loss(*batch).item()) / 2e-6
                weight[at] += 1e-6
        assert_close(weight.grad, expected, atol=1e-8, rtol=1e-6)


def test_a_word_is_not_pushed_away_from_its_own_context():
    model = model_of(numbers(4, 3), numbers(4, 3, seed=1))
    without = model.loss(torch.tensor([0]), torch.tensor([1]), torch.tensor([[2]]))
    assert_close(model.loss(torch.tensor([0]), torch.tensor([1]), torch.tensor([[2, 1]])), without)


def test_a_step_is_gensims():
    theirs = Word2Vec(vector_size=4, window=1, min_count=1, sg=1, negative=1, sample=0, workers=1)
    theirs.build_vocab_from_freq({"a": 3, "b": 2, "c": 1})
    theirs.wv.vectors[:] = numbers(3, 4).numpy()
    theirs.syn1neg[:] = numbers(3, 4, seed=1).numpy()
    theirs.cum_table[:] = [0, 0, 2**31 - 1]  # the negative is always c
    ours = model_of(theirs.wv.vectors.copy(), theirs.syn1neg.copy())
    theirs.train([["a", "b"]], total_examples=1, epochs=1, start_alpha=0.5, end_alpha=0.5)
    optimizer = torch.optim.SGD(ours.parameters(), lr=0.5)
    for center, context in ((1, 0), (0, 1)):  # gensim lets the neighbour predict the word
        optimizer.zero_grad()
        ours.loss(torch.tensor([center]), torch.tensor([context]), torch.tensor([[2]])).backward()
        optimizer.step()
    # gensim looks up σ in a table of 1,000 values between -6 and 6
    assert_close(ours.centers.weight.detach().numpy(), theirs.wv.vectors.astype(float), atol=1e-2, rtol=0)
    assert_close(ours.contexts.weight.detach().numpy(), theirs.syn1neg.astype(float), atol=1e-2, rtol=0)
    assert np.abs(theirs.wv.vectors[0] - numbers(3, 4).numpy()[0]).max() > 0.3  # it did move


def test_words_that_are_used_alike_end_up_close():
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    model = SkipGram(6, 4)  # 0 and 1 stand beside 2 and 3, 4 beside 5
    centers = torch.randint(2, (4000,), generator=generator)
    contexts = 2 + torch.randint(2, (4000,), generator=generator)
    centers, contexts = torch.cat([centers, torch.full((2000,), 4)]), torch.cat([contexts, torch.full((2000,), 5)])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        negatives = draw_negatives(torch.ones(6) / 6, len(centers), 2, generator)
        optimizer.zero_grad()
        model.loss(centers, contexts, negatives).backward()
        optimizer.step()
    unit = torch.nn.functional.normalize(model.word_vectors(), dim=-1)
    assert unit[0] @ unit[1] > 0.9 > 0.3 > unit[0] @ unit[4]


def test_negatives_follow_the_distribution():
    drawn = draw_negatives(torch.tensor([0.75, 0.0, 0.25]), 4000, 2, torch.Generator().manual_seed(0))
    assert drawn.shape == (4000, 2)
    assert_close(
        torch.bincount(drawn.flatten(), minlength=3) / 8000, torch.tensor([0.75, 0.0, 0.25]), atol=0.02, rtol=0
    )
