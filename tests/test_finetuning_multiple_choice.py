"""Several choices: scores that compete, the same as in `transformers`, and choices that belong to their question."""

import random

import pytest
import torch
from transformers import AutoModelForMultipleChoice

from bertedu.config import BertConfig
from bertedu.corpora.readers import Choices
from bertedu.errors import UserError
from bertedu.finetuning.examples import collate, encode_text
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tasks.multiple_choice import BertForMultipleChoice, MultipleChoiceTask, choice_baselines
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefgh"])


def made_model(hidden_size: int = 32) -> BertForMultipleChoice:
    torch.manual_seed(0)
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertForMultipleChoice.from_config(BertConfig(13, hidden_size, 1, 2, 64, **dropout)).eval()


def test_transformers_says_the_same(tmp_path):
    model = made_model()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(tmp_path)
    reference = AutoModelForMultipleChoice.from_pretrained(tmp_path).eval()
    ids, labels = torch.randint(5, 13, (2, 3, 6)), torch.tensor([2, 0])
    mask = torch.ones_like(ids)
    mask[1, 1, 4:] = 0
    ours, theirs = model(ids, mask, labels=labels), reference(ids, attention_mask=mask, labels=labels)
    assert torch.allclose(ours.logits, theirs.logits, atol=1e-5)
    assert ours.loss.item() == pytest.approx(theirs.loss.item(), abs=1e-5)


def test_choices_are_padded_together_and_stay_with_their_question():
    rows = [Choices("a", ("b", "c d e"), 1), Choices("f g h", ("a b", "c"), 0, context="a b")]
    task = MultipleChoiceTask(rows, [], TOKENIZER, FinetuningSettings())
    batch = collate(task.examples, TOKENIZER.pad_token_id)
    assert batch["input_ids"].shape == (2, 2, 10)
    texts = [[TOKENIZER.decode(row) for row in choices] for choices in batch["input_ids"]]
    assert texts == [["a b", "a c d e"], ["a b f g h a b", "a b f g h c"]]
    assert batch["labels"].tolist() == [1, 0]
    uneven = MultipleChoiceTask([*rows, Choices("a", ("b", "c", "d"), 0)], [], TOKENIZER, FinetuningSettings())
    with pytest.raises(UserError, match="with 2 and with 3 choices"):
        collate(uneven.examples, 0)


def read_by(task: MultipleChoiceTask) -> list[list[str]]:
    """What the model reads of each question's choices."""
    return [[TOKENIZER.decode(ids, False) for ids in example["input_ids"]] for example in task.examples]


def test_questions_on_one_long_context_stay_different():
    rows = [Choices(asked, ("f", "g h"), 0, "a b " * 20) for asked in ("c d", "e")]
    task = MultipleChoiceTask(rows, [], TOKENIZER, FinetuningSettings(max_length=10))
    assert read_by(task) == [
        ["[CLS] a b a b c d [SEP] f [SEP]", "[CLS] a b a c d [SEP] g h [SEP]"],
        ["[CLS] a b a b a e [SEP] f [SEP]", "[CLS] a b a b e [SEP] g h [SEP]"],
    ]
    for example in task.examples:
        for ids, types, mask in zip(
            example["input_ids"], example["token_type_ids"], example["attention_mask"], strict=True
        ):
            second = ids.index(TOKENIZER.sep_token_id) + 1
            assert types == [0] * second + [1] * (10 - second) and mask == [1] * 10


def test_a_context_gives_way_where_question_and_choice_alone_are_too_long():
    for context in ("", "h h"):
        rows = [Choices("a b c d e f", ("g a b c d", "g"), 0, context)]
        task = MultipleChoiceTask(rows, [], TOKENIZER, FinetuningSettings(max_length=10))
        assert read_by(task) == [["[CLS] a b c d [SEP] g a b [SEP]", "[CLS] a b c d e f [SEP] g [SEP]"]]


@pytest.mark.parametrize(
    "context", ["", "a B. ", " [MASK] \u00c4\u00df", "a\u0301 \u03a3", "\u4e2d\u6587", "\x00a\u200b"]
)
@pytest.mark.parametrize("question", ["c d", "\u0301e", "\u6587?", "##a [SEP] b", " h's"])
def test_a_row_that_fits_is_read_as_context_and_question_in_one_text(context, question):
    row = Choices(question, ("f", "g h"), 0, context)
    task = MultipleChoiceTask([row], [], TOKENIZER, FinetuningSettings(max_length=32))
    joined = [encode_text(TOKENIZER, f"{context} {question}".strip(), choice, 32) for choice in row.choices]
    assert task.examples == [{name: [one[name] for one in joined] for name in joined[0]} | {"labels": 0}]


def questions(count: int) -> list[Choices]:
    """The right choice is the one with an h."""
    rng = random.Random(0)
    rows = []
    for _ in range(count):
        choices = [" ".join(rng.choices("abcdefg", k=3)) for _ in range(3)]
        label = rng.randrange(3)
        choices[label] = choices[label].replace(choices[label][0], "h")
        rows.append(Choices(rng.choice("abcdefg"), tuple(choices), label))
    return rows


def test_the_right_choice_is_learned(tmp_path):
    rows = questions(200)
    task = MultipleChoiceTask(rows[:150], rows[150:], TOKENIZER, FinetuningSettings())
    settings = TrainingSettings(learning_rate=3e-3, device="cpu", precision="fp32", validations=2)
    Trainer(made_model(), task, settings, Budget(steps=60), tmp_path).run()
    best = BertForMultipleChoice.from_pretrained(tmp_path / "checkpoint-best")
    baselines = choice_baselines([], rows[150:])
    assert task.score(best, rows[150:])["accuracy"] > 0.9 > 0.5 > baselines["chance"]["accuracy"]


def test_an_empty_part_of_a_batch_has_a_loss_of_0():
    """As when a batch has fewer questions than there are processes."""
    empty = {
        name: torch.zeros((0, 2, 8), dtype=torch.long) for name in ("input_ids", "attention_mask", "token_type_ids")
    }
    output = made_model()(**empty, labels=torch.zeros(0, dtype=torch.long))
    assert output.summed_loss == 0 and output.logits.shape == (0, 2)
