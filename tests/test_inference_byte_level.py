"""Members of the family with byte-level BPE, from text: opened, masked, pre-trained and fine-tuned with their own
tokenizers.
"""

import re

import pytest
import torch
import transformers
from torch.testing import assert_close
from transformers import AutoTokenizer

from bertedu import UserError
from bertedu.corpora.documents import Document, FactProbe
from bertedu.corpora.readers import TaggedWords
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tagging import Tagger, TaggingTask
from bertedu.finetuning.windows import label_of, on_tokens, windows
from bertedu.inference import fill_mask, open_model, word_vectors
from bertedu.model.architecture import architecture
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.probes import fact_probe_accuracy, questions
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import ModernBertTokenizer, RobertaTokenizer

SENTENCES = ["The capital of France is Paris.", "In Paris people speak French.", "A café has naïve cats, 東京!"]
MEMBERS = {"roberta": RobertaTokenizer, "modernbert": ModernBertTokenizer}
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "max_position_embeddings": 66, "bos_token_id": None, "eos_token_id": None,
}  # fmt: skip


@pytest.fixture(scope="module", params=MEMBERS)
def member(request) -> str:
    return request.param


@pytest.fixture(scope="module", params=[True, False], ids=["prefix", "no prefix"])
def folder(request, member, tmp_path_factory):
    """A model and a tokenizer as `transformers` saves them."""
    folder = tmp_path_factory.mktemp(member)
    learned = MEMBERS[member].train(SENTENCES * 4, 340, add_prefix_space=request.param)
    learned.save_pretrained(folder / "learned")
    tokenizer = AutoTokenizer.from_pretrained(folder / "learned")
    config = transformers.AutoConfig.for_model(
        member, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id, **SIZES,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.AutoModelForMaskedLM.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def task_of(tokenizer, **changes) -> MaskedWords:
    documents = [Document(tuple(SENTENCES * 5), "a")]
    text = tokenize_documents(documents, tokenizer)
    return MaskedWords(text, text, tokenizer, PretrainingSettings(objective="words", max_length=40, **changes))


def test_a_folder_of_transformers_gives_the_same_logits_for_the_same_text(folder):
    model, tokenizer = open_model(folder)
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    their_tokenizer = AutoTokenizer.from_pretrained(folder)
    mask = tokenizer.mask_token
    firsts, seconds = [f"The capital of {mask} is", SENTENCES[2]], ["two   spaces", f"{mask}, {mask}"]
    for pair in ((firsts, None), (firsts, seconds)):
        wanted = their_tokenizer(*pair, padding=True, return_tensors="pt")
        encoding = tokenizer(*pair)
        assert torch.equal(encoding.input_ids, wanted["input_ids"])
        with torch.no_grad():
            logits = model(**encoding).prediction_logits
            expected = theirs(**wanted).logits
        real = encoding.attention_mask.bool()
        assert_close(logits[real], expected[real], atol=1e-5, rtol=1e-5)


def test_guesses_are_shown_as_text(folder):
    model, tokenizer = open_model(folder)
    guesses = fill_mask(model, tokenizer, f"The capital of {tokenizer.mask_token}.", top=len(tokenizer))[0]
    words = {word for word, _ in guesses}
    assert any(re.fullmatch(r" \w+", word) for word in words) and not any("Ġ" in word for word in words)
    with pytest.raises(UserError, match=f"there is no {re.escape(tokenizer.mask_token)} in"):
        fill_mask(model, tokenizer, "The capital of")


def test_a_word_with_the_space_before_it_is_found(folder):
    model, tokenizer = open_model(folder)
    vectors = word_vectors(model, tokenizer, SENTENCES[:2], "Paris")
    assert vectors.shape == (2, 3, 16)


def test_whole_words_are_masked_whole(member):
    tokenizer = MEMBERS[member].train(SENTENCES * 4, 300)
    task = task_of(tokenizer, whole_words=True)
    for batch in task.fixed_batches(task.maker):
        for ids, labels in zip(batch["input_ids"], batch["labels"], strict=True):
            tokens = tokenizer.convert_ids_to_tokens(torch.where(labels == -100, ids, labels))
            chosen = (labels != -100).tolist()
            assert not any(token in tokenizer.all_special_tokens for token, c in zip(tokens, chosen, strict=True) if c)
            for place in range(2, len(tokens)):
                if tokenizer.continues_word(tokens[place]):
                    assert chosen[place] == chosen[place - 1]


def test_sentences_of_a_passage_stay_apart():
    tokenizer = RobertaTokenizer.train(SENTENCES * 4, 400, add_prefix_space=False)
    text = tokenize_documents([Document(tuple(SENTENCES[:2]), "a")], tokenizer)
    assert tokenizer.decode(text.tokens) == " ".join(SENTENCES[:2])


def test_a_question_about_a_fact_is_asked_with_the_members_own_mask(folder):
    model, tokenizer = open_model(folder)
    probe = FactProbe("The capital of France is [MASK].", "Paris")
    assert 0 <= fact_probe_accuracy(model, tokenizer, [probe]) <= 1
    learned = RobertaTokenizer.train(SENTENCES * 9, 400, add_prefix_space=False)
    assert learned.convert_ids_to_tokens(questions(learned, [probe]).answers) == ["ĠParis"]


def test_an_answer_begins_without_a_space(member):
    tokenizer = MEMBERS[member].train(SENTENCES * 4, 400, add_prefix_space=False)
    context = " ".join(SENTENCES)
    answer = (context.index("Paris"), context.index("Paris") + len("Paris"))
    found = windows(tokenizer, "What?", context, 200, 20)
    start, end = label_of(found[0], on_tokens(answer, found))
    offsets = [found[0].offsets[place - found[0].first] for place in (start, end)]
    assert context[offsets[0][0] : offsets[1][1]] == "Paris"


@pytest.mark.filterwarnings("ignore:.*model.safetensors:UserWarning")  # the head is new
def test_a_words_tag_stands_at_its_first_token(folder, member):
    _, tokenizer = open_model(folder)
    rows = [TaggedWords(("Paris", "naïve", "cats"), ("B-place", "O", "O"))]
    labels = ("O", "B-place")
    task = TaggingTask(rows, rows, tokenizer, FinetuningSettings(max_length=40), labels)
    example = task.examples[0]
    first = [i for i, here in zip(example["input_ids"], example["first_pieces"], strict=True) if here]
    assert [tokenizer.readable(token)[:2] for token in tokenizer.convert_ids_to_tokens(first)] == [" P", " n", " c"]
    model = Tagger.from_pretrained(folder, labels=labels)
    assert len(task.predict(model, rows)[0]) == 3


def test_every_member_has_its_own_tokenizer(member):
    assert architecture(member).tokenizer is MEMBERS[member]
