"""One vector a text: cosines by hand, padding without a part, scores on their scale, search, and learning."""

import json

import pytest
import torch
from transformers import AutoModel

from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import LabelledText
from bertedu.errors import UserError
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tasks.similarity import BertSentenceEncoder, SimilarityTask, embed, search, word_cosines
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefgh"])


def made_encoder(pooling: str = "mean") -> BertSentenceEncoder:
    torch.manual_seed(0)
    config = BertConfig(13, 32, 1, 2, 64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return BertSentenceEncoder.from_config(config, TaskConfig(pooling=pooling)).eval()


def test_a_text_has_the_same_vector_beside_a_longer_one(tmp_path):
    model = made_encoder()
    together, alone = embed(model, TOKENIZER, ["a b", "c d e f g h"]), embed(model, TOKENIZER, ["a b"])
    assert torch.allclose(together[0], alone[0], atol=1e-6)
    assert torch.allclose(together.norm(dim=-1), torch.ones(2))
    model.save_pretrained(tmp_path)
    encoding = {name: value for name, value in TOKENIZER("a b").items()}
    reference = AutoModel.from_pretrained(tmp_path)(**encoding).last_hidden_state.mean(dim=1)
    assert torch.allclose(alone, torch.nn.functional.normalize(reference, dim=-1), atol=1e-5)


def test_search_returns_the_nearest():
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert search(vectors, torch.tensor([0.0, 1.0]), k=2) == [(1, 1.0), (2, pytest.approx(0.8))]
    assert len(search(vectors, vectors[0], k=9)) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (LabelledText("a", 3.0), "no second text"),
        (LabelledText("a", 6.0, "b"), "from 0.0 to 5.0"),
        (LabelledText("a", ("x",), "b"), "from 0.0 to 5.0"),
    ],
)
def test_a_row_that_is_no_scored_pair_is_refused(row, message):
    with pytest.raises(UserError, match=message):
        SimilarityTask([row], [], TOKENIZER, FinetuningSettings())


def pairs() -> list[LabelledText]:
    """Two texts are alike by the share of their letters that are the same; their order means nothing."""
    generator = torch.Generator().manual_seed(0)
    rows = []
    for _ in range(240):
        same = int(torch.randint(0, 5, (1,), generator=generator))
        letters = ["abcdefgh"[int(i)] for i in torch.randperm(8, generator=generator)]
        first, second = letters[:4], letters[:same] + letters[4 : 8 - same]
        rows.append(LabelledText(" ".join(first), 5 * same / 4, " ".join(reversed(second))))
    return rows


def test_cosines_follow_the_scores_after_training(tmp_path):
    rows = pairs()
    task = SimilarityTask(rows[:200], rows[200:], TOKENIZER, FinetuningSettings(batch_size=20))
    assert [round(task.target(row), 2) for row in (LabelledText("a", 0.0, "b"), LabelledText("a", 5.0, "b"))] == [0, 1]
    settings = TrainingSettings(learning_rate=5e-3, device="cpu", precision="fp32", validations=2)
    Trainer(made_encoder(), task, settings, Budget(steps=100), tmp_path).run()
    best = BertSentenceEncoder.from_pretrained(tmp_path / "checkpoint-best")
    figures = task.score(best, rows[200:])
    assert figures["spearman"] > 0.85 and figures["mean_squared_error"] < 0.05


def test_the_baseline_does_not_see_the_scores():
    rows = [LabelledText("red car", 5.0, "red car"), LabelledText("red car", 0.0, "two dogs")]
    figures = word_cosines(rows, rows)
    assert figures["cosine of bags of words"]["spearman"] == pytest.approx(1.0)


def test_the_highest_of_fine_scores_is_read_though_training_had_a_lower_one(tmp_path):
    rows = {"train": (0.02, 0.5, 0.98), "near": (0.0, 0.5, 1.0), "far": (0.0, 0.5, 5.0)}
    for name, scores in rows.items():
        lines = [json.dumps({"sentence1": "a", "sentence2": "b", "score": score}) for score in scores]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    read = TASKS["similarity"].read_rows
    train = read(str(tmp_path / "train.jsonl"))
    assert [row.label for row in read(str(tmp_path / "near.jsonl"), train=train)] == [0.0, 0.5, 1.0]
    with pytest.raises(UserError, match=r"far.jsonl, line 3: the score is 5.0, and scores run from 0 to 0.98"):
        read(str(tmp_path / "far.jsonl"), train=train)
