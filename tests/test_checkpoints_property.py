"""Folders of others as they may be: for every member, with added tokens, one to three classes, several problems, in one
file or many, wrapped or not. What is computed from them equals `transformers`, or they are refused with a reason.
"""

import json
import random
import warnings

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from support.family_parity import CLOSE, perturbed
from support.members import SIZES
from torch.testing import assert_close

from bertedu.checkpoints.folder import find_folder
from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import Tagger
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.model.architecture import architecture, tokenizer_in
from bertedu.model.heads import MaskedLM
from bertedu.production.uses import use_of
from bertedu.registry import ARCHITECTURES
from bertedu.tokenization import BertTokenizer

LINES = ["the cat sat on the mat", "a dog ran in the park and the cat saw it", "cats and dogs like the sun"] * 4
TEXTS = ["the cat", "a dog sat on [A] the mat", "Foo-bar the sun [A]", "dogs, and [B]cats"]
KINDS = {
    "ForSequenceClassification": TextClassifier,
    "ForTokenClassification": Tagger,
    "ForQuestionAnswering": SpanFinder,
}
WRAPPERS = ("", "", "", "module.", "_orig_mod.", "model.", "_orig_mod.module.model.")
SEEDS = 40


class Drawn:
    """One folder, drawn at random, and the model and the tokenizer of `transformers` that wrote it."""

    def __init__(self, model_type: str, seed: int, folder):
        rng = random.Random(f"{model_type} {seed}")
        torch.manual_seed(seed)
        self.member, self.folder = architecture(model_type), folder
        self.kind = rng.choice([*KINDS, *(() if model_type == "xlnet" else ("ForMaskedLM",))])
        self.added = rng.choice([(), (), ("[A]",), ("Foo-bar", "[A]", "[B]")])
        self.member.tokenizer.train(LINES, vocab_size=330).save_pretrained(folder)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        if self.added:
            self.tokenizer.add_tokens(list(self.added), special_tokens=rng.random() < 0.5)
            self.tokenizer.save_pretrained(folder)
        self.model = self.make_model(model_type, rng)
        shards = {"max_shard_size": "20KB"} if rng.random() < 0.4 else {}
        (folder / "config.json").unlink()
        self.model.save_pretrained(folder, **shards)
        self.edit_config(rng)
        if wrapper := rng.choice(WRAPPERS):
            self.wrap(wrapper)

    def make_model(self, model_type: str, rng: random.Random):
        sizes = {"vocab_size": len(self.tokenizer), "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
        sizes |= {"intermediate_size": 8, "max_position_embeddings": 40}
        own = {name: size for name, size in SIZES.get(model_type, {}).items() if name not in sizes}
        own |= {"num_hidden_groups": 1} if model_type == "albert" else {}
        config = self.member.config(**sizes, **own)
        config.save(self.folder, self.member.class_name(self.kind))
        theirs = transformers.AutoConfig.from_pretrained(self.folder)
        if self.kind in ("ForSequenceClassification", "ForTokenClassification"):
            theirs.num_labels = self.labels = rng.choice([1, 2, 3])
            problems = [None, "multi_label_classification", "regression" if self.labels == 1 else None]
            theirs.problem_type = rng.choice(problems) if self.kind == "ForSequenceClassification" else None
        return perturbed(getattr(transformers, self.member.class_name(self.kind))(theirs), seed=rng.randrange(99))

    def edit_config(self, rng: random.Random) -> None:
        path = self.folder / "config.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        if getattr(self, "labels", 0) == 2 and rng.random() < 0.5:
            values.pop("id2label", None)
        path.write_text(json.dumps(values), encoding="utf-8")

    def wrap(self, wrapper: str) -> None:
        for path in self.folder.glob("*.safetensors"):
            save_file({wrapper + name: tensor for name, tensor in load_file(path).items()}, path, {"format": "pt"})
        index = self.folder / "model.safetensors.index.json"
        if index.is_file():
            values = json.loads(index.read_text(encoding="utf-8"))
            values["weight_map"] = {wrapper + name: file for name, file in values["weight_map"].items()}
            index.write_text(json.dumps(values), encoding="utf-8")

    def theirs(self, text: str):
        segments = {"return_token_type_ids": True} if self.member.name == "XLNet" else {}  # left out by version 5
        encoding = self.tokenizer(text, return_tensors="pt", **segments)
        with torch.no_grad():
            output = self.model(**encoding)
        if self.kind == "ForQuestionAnswering":
            return encoding["input_ids"], torch.stack([output.start_logits, output.end_logits])
        return encoding["input_ids"], output.logits

    def ours(self):
        """The tokenizer and a function from an encoding to logits."""
        if self.kind == "ForMaskedLM":
            model = MaskedLM.from_pretrained(find_folder(self.folder))
            return tokenizer_in(self.folder), lambda encoding: model(**encoding).prediction_logits
        model = KINDS[self.kind].from_pretrained(self.folder)
        if self.kind == "ForQuestionAnswering":

            def spans(encoding):
                output = model(**encoding)
                return torch.stack([output.start_logits, output.end_logits])

            return tokenizer_in(self.folder), spans
        return tokenizer_in(self.folder), lambda encoding: model(**encoding).logits


@pytest.mark.slow(cases=30)
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("model_type", [*ARCHITECTURES])
def test_a_folder_is_computed_as_in_transformers_or_refused(model_type, seed, tmp_path):
    drawn = Drawn(model_type, seed, tmp_path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing is lost, and nothing starts untrained
            tokenizer, logits = drawn.ours()
    except UserError as error:
        assert str(tmp_path) in str(error) and "\n" not in str(error)
        assert drawn.added and drawn.member.tokenizer is not BertTokenizer, f"there is no reason to refuse: {error}"
        return
    for text in TEXTS:
        ids, right = drawn.theirs(text)
        encoding = tokenizer(text)
        assert encoding.input_ids.tolist() == ids.tolist(), text
        with torch.no_grad():
            assert_close(logits(encoding), right, **CLOSE)
    if drawn.kind == "ForSequenceClassification":
        task = TaskConfig.load(tmp_path)
        one = drawn.labels == 1 and drawn.model.config.problem_type in (None, "regression")
        assert (use_of(tmp_path) == "score") == (task.problem_type == "regression") == one
