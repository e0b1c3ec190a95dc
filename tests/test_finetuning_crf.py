"""The conditional random field against all rows of tags counted one by one."""

import itertools

import pytest
import torch

from bertedu.finetuning.crf import FORBIDDEN, ConditionalRandomField, may_follow

BIO = ["O", "B-x", "I-x", "B-y", "I-y"]
BIOES = ["O", "B-x", "I-x", "E-x", "S-x"]
POS = ["NOUN", "VERB", "DET"]


def made(tags, seed: int, words: int = 5, batch: int = 3):
    torch.manual_seed(seed)
    crf = ConditionalRandomField(tags).double()
    for parameter in crf.parameters():
        parameter.data = torch.randn_like(parameter)
    emissions = torch.randn(batch, words, len(tags), dtype=torch.double)
    mask = torch.arange(words) < torch.randint(1, words + 1, (batch, 1))
    return crf, emissions, mask


def by_hand(crf, tags, emissions, row, ended: bool = True) -> float:
    """The score of one row of tags, straight from the definition; without its end where it was cut off."""
    closes = any(tag.startswith("E-") for tag in tags)
    score = float(crf.start.data[row[0]] + ended * crf.end.data[row[-1]])
    score += FORBIDDEN * (not may_follow("O", tags[row[0]], closes))
    score += FORBIDDEN * (ended and not may_follow(tags[row[-1]], "O", closes))
    score += sum(float(emissions[word, tag]) for word, tag in enumerate(row))
    for a, b in itertools.pairwise(row):
        score += float(crf.transitions.data[a, b]) + FORBIDDEN * (not may_follow(tags[a], tags[b], closes))
    return score


@pytest.mark.parametrize("tags", [BIO, BIOES, POS], ids=["BIO", "BIOES", "POS"])
@pytest.mark.parametrize("seed", range(4))
@torch.no_grad()
def test_every_sequence_of_tags_is_in_the_sum_and_the_best_is_found(tags, seed):
    crf, emissions, mask = made(tags, seed)
    decoded = crf.decode(emissions, mask)
    sums = crf.log_sum_of_all(emissions, mask)
    for sentence in range(len(emissions)):
        words = int(mask[sentence].sum())
        rows = list(itertools.product(range(len(tags)), repeat=words))
        scores = torch.tensor([by_hand(crf, tags, emissions[sentence], row) for row in rows], dtype=torch.double)
        assert float(sums[sentence]) == pytest.approx(float(scores.logsumexp(0)), abs=1e-8)
        assert decoded[sentence] == list(rows[int(scores.argmax())])
        right = torch.zeros(1, emissions.size(1), dtype=torch.long)
        right[0, :words] = torch.tensor(decoded[sentence])
        likelihood = crf.log_likelihood(emissions[sentence : sentence + 1], right, mask[sentence : sentence + 1])
        assert float(likelihood) == pytest.approx(float(scores.max() - scores.logsumexp(0)), abs=1e-8)


@pytest.mark.parametrize("tags", [BIO, POS], ids=["BIO", "POS"])
def test_how_likely_a_tag_is_equals_enumeration(tags):
    crf, emissions, mask = made(tags, 11, words=4)
    with torch.no_grad():  # as when a model is asked
        marginals = crf.marginals(emissions, mask)
    for sentence, words in enumerate(mask.sum(dim=1).tolist()):
        rows = torch.tensor(list(itertools.product(range(len(tags)), repeat=words)))
        scores = [by_hand(crf, tags, emissions[sentence], row) for row in rows.tolist()]
        shares = torch.tensor(scores, dtype=torch.double).softmax(dim=0)
        for word in range(words):
            right = torch.zeros(len(tags), dtype=torch.double).index_add(0, rows[:, word], shares)
            assert torch.allclose(marginals[sentence, word], right, atol=1e-8)
        assert not marginals[sentence, words:].any()
    assert crf.transitions.grad is None


@pytest.mark.parametrize(("tags", "words"), [(BIO, 4), (BIOES, 4), (POS, 5)], ids=["BIO", "BIOES", "POS"])
def test_thousands_of_sentences_equal_enumeration(tags, words):
    crf, emissions, _ = made(tags, 7, words, batch=4000)
    mask = torch.ones(4000, words, dtype=torch.bool)
    rows = torch.tensor(list(itertools.product(range(len(tags)), repeat=words)))  # [C^W, W]
    transitions, start, end = (scores.detach() for scores in crf.scores())
    scores = sum(emissions[:, word, rows[:, word]] for word in range(words))  # [B, C^W]
    scores = scores + (start[rows[:, 0]] + end[rows[:, -1]] + transitions[rows[:, :-1], rows[:, 1:]].sum(dim=1))
    assert torch.allclose(crf.log_sum_of_all(emissions, mask).detach(), scores.logsumexp(dim=1))
    assert torch.equal(torch.tensor(crf.decode(emissions, mask)), rows[scores.argmax(dim=1)])


def test_a_sentence_cut_within_an_entity_may_end_there_and_others_may_not():
    crf, emissions, _ = made(BIOES, 5, words=4)
    mask = torch.arange(4) < torch.tensor([[4], [3], [4]])
    right = torch.tensor([[0, 0, 1, 2], [4, 0, 1, 0], [0, 1, 2, 3]])  # the last alone was not cut: it ends with E-x
    likelihoods = crf.log_likelihood(emissions, right, mask).detach()
    for sentence, (words, ended) in enumerate([(4, False), (3, False), (4, True)]):
        rows = itertools.product(range(len(BIOES)), repeat=words)
        scores = torch.tensor([by_hand(crf, BIOES, emissions[sentence], row, ended) for row in rows])
        score = by_hand(crf, BIOES, emissions[sentence], right[sentence, :words].tolist(), ended)
        assert float(likelihoods[sentence]) == pytest.approx(score - float(scores.logsumexp(0)), abs=1e-4)


def test_padding_changes_no_sentence():
    crf, emissions, mask = made(BIO, 1)
    tags = torch.randint(0, 5, mask.shape)
    before = crf.log_likelihood(emissions, tags, mask), crf.decode(emissions, mask)
    emissions[~mask], tags[~mask] = 50.0, -100
    assert torch.equal(crf.log_likelihood(emissions, tags, mask), before[0])
    assert crf.decode(emissions, mask) == before[1]


def test_forbidden_tags_are_never_decoded():
    crf, _, _ = made(BIO, 2)
    emissions = torch.zeros(1, 3, 5, dtype=torch.double)
    emissions[0, :, 2] = 100.0  # I-x everywhere, and nothing may begin with it
    (tags,) = crf.decode(emissions, torch.ones(1, 3, dtype=torch.bool))
    assert [BIO[tag] for tag in tags] == ["B-x", "I-x", "I-x"]


def test_probabilities_of_all_sequences_sum_to_one_and_gradients_flow():
    crf, emissions, _ = made(POS, 3, words=4, batch=1)
    mask = torch.ones(1, 4, dtype=torch.bool)
    rows = torch.tensor(list(itertools.product(range(3), repeat=4)))
    likelihoods = crf.log_likelihood(emissions.expand(len(rows), -1, -1), rows, mask.expand(len(rows), -1))
    assert float(likelihoods.detach().exp().sum()) == pytest.approx(1.0)
    likelihoods[5].backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in crf.parameters())


@pytest.mark.parametrize(
    ("before", "after", "closes", "allowed"),
    [
        ("O", "I-x", False, False),
        ("B-x", "I-x", False, True),
        ("B-x", "I-y", False, False),
        ("I-x", "O", False, True),
        ("B-x", "O", True, False),
        ("I-x", "E-x", True, True),
        ("E-x", "I-x", True, False),
        ("S-x", "B-x", True, True),
        ("B-x", "S-y", True, False),
        ("NOUN", "INTJ", False, True),
    ],
)
def test_the_rules_of_the_tags_run_in_the_right_direction(before, after, closes, allowed):
    assert may_follow(before, after, closes) is allowed
