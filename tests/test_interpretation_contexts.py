"""One word in many sentences: its vectors against the plain forward pass, cosines against pencil and paper."""

import pytest
import torch
from support.small_runs import POSITIONS, small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.interpretation.contexts import anisotropy, mean_cosines, nearest, word_vectors
from bertedu.model import BertModel

SENTENCES = ["the cat sat on the mat .", "a dog , she Cats he", "cats speak french"]


@pytest.mark.parametrize("kind", [None, BertModel])
def test_a_word_has_the_mean_of_its_own_pieces(kind):
    model, tokenizer = small_model(*([kind] if kind else [])), small_tokenizer()
    vectors = word_vectors(model, tokenizer, SENTENCES[1:], "cats")
    assert vectors.shape == (2, 3, 16) and not vectors.requires_grad
    bert = model if kind else model.bert
    for row, (sentence, place) in enumerate(zip(SENTENCES[1:], (5, 1), strict=True)):
        encoding = tokenizer(sentence)
        assert encoding.tokens[0][place : place + 2] == ["cat", "##s"]
        with torch.no_grad():
            states = bert(**encoding, output_hidden_states=True).hidden_states
        for layer, state in enumerate(states):
            assert torch.allclose(vectors[row, layer], state[0, place : place + 2].mean(dim=0), atol=1e-5)


def test_more_sentences_than_a_batch_come_in_their_order():
    model, tokenizer = small_model(), small_tokenizer()
    sentences = [f"{'the ' * (number % 7)}cat sat" for number in range(70)]
    together = word_vectors(model, tokenizer, sentences, "cat")
    for number in (0, 33, 69):
        assert torch.allclose(
            together[number], word_vectors(model, tokenizer, [sentences[number]], "cat")[0], atol=1e-5
        )


def test_a_sentence_without_the_word_is_refused():
    model, tokenizer = small_model(), small_tokenizer()
    with pytest.raises(UserError, match=r"'cats speak french' has the word 'cat' 0 times"):
        word_vectors(model, tokenizer, ["the cat sat", "cats speak french"], "cat")
    with pytest.raises(UserError, match=r"'cat cat' has the word 'cat' 2 times"):
        word_vectors(model, tokenizer, ["cat cat"], "cat")
    with pytest.raises(UserError, match="no sentences"):
        word_vectors(model, tokenizer, [], "cat")


def test_a_word_that_is_cut_off_is_refused():
    model, tokenizer = small_model(), small_tokenizer()
    for fillers in (POSITIONS - 2, POSITIONS - 3):  # nothing of the word is left, or its first piece
        with pytest.raises(UserError, match=r"the word 'cats' of 'the the .*…' is cut off"):
            word_vectors(model, tokenizer, ["the " * fillers + "cats"], "cats")
    assert word_vectors(model, tokenizer, ["the " * (POSITIONS - 4) + "cats"], "cats").shape == (1, 3, 16)


def test_a_vector_is_not_compared_with_itself_and_layers_stay_apart():
    first = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    second = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 1.0]])
    cosines = mean_cosines(torch.stack([first, second], dim=1), ["river", "river", "money"])
    assert cosines["within"].tolist() == pytest.approx([0, 1])
    assert cosines["across"].tolist() == pytest.approx([0.5**0.5, 0])


def test_senses_that_cannot_be_compared_are_refused():
    for labels in (["a", "a", "a"], ["a", "b", "c"]):
        with pytest.raises(UserError, match="two labels, and one of them twice"):
            mean_cosines(torch.randn(3, 2, 4), labels)
    with pytest.raises(UserError, match="3 vectors and 2 labels"):
        mean_cosines(torch.randn(3, 2, 4), ["a", "b"])


def test_the_nearest_goes_by_angle_and_not_by_length():
    vectors = torch.tensor([[9.0, 9.0], [0.1, 0.0], [-1.0, 0.0]])
    assert nearest(vectors, torch.tensor([2.0, 0.0]), ["long", "near", "against"], k=2) == [
        ("near", pytest.approx(1)),
        ("long", pytest.approx(0.5**0.5)),
    ]
    assert len(nearest(vectors, torch.tensor([1.0, 0.0]), ["a", "b", "c"], k=10)) == 3


def test_anisotropy_does_not_count_a_vector_with_itself():
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(20, 8, generator=generator) + 1
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    pairs = [float(unit[i] @ unit[j]) for i in range(20) for j in range(20) if i != j]
    assert anisotropy(vectors) == pytest.approx(sum(pairs) / len(pairs), abs=1e-6)
    assert anisotropy(torch.tensor([[2.0, 0.0], [0.0, 1.0]])) == pytest.approx(0)
    assert anisotropy(torch.tensor([[2.0, 1.0], [4.0, 2.0]])) == pytest.approx(1)
    with pytest.raises(UserError, match="there are 1: give at least 2"):
        anisotropy(torch.ones(1, 3))
