"""Make tests/data/transformers-4.zip: a small folder of every member as `transformers` 4 saves it, and what it says.

Run in an environment of its own (pip install "transformers==4.57.1" torch), from the repository's root:

    python tests/support/folders_of_version_4.py FOLDERS

FOLDERS holds a folder for each member with a tokenizer that this package saved. Nothing here is imported by a test.
"""

import json
import sys
import zipfile
from inspect import signature
from pathlib import Path
from typing import Any

import torch
import transformers

TARGET = Path(__file__).parents[1] / "data" / "transformers-4.zip"
TEXTS = ["the cat", "a dog sat on [A] the mat", "Foo-bar the sun [A]", "dogs, and [B]cats"]
KINDS = ("SequenceClassification", "TokenClassification", "QuestionAnswering")
SIZES: dict[str, Any] = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 4}
SIZES |= {"max_position_embeddings": 40}
OWN = {
    "distilbert": {"dim": 4, "n_layers": 1, "n_heads": 2, "hidden_dim": 4, "max_position_embeddings": 40},
    "xlnet": {"d_model": 4, "n_layer": 1, "n_head": 2, "d_inner": 4},
    "albert": {**SIZES, "embedding_size": 4},
    "electra": {**SIZES, "embedding_size": 4},
    "modernbert": {**SIZES, "pad_token_id": 0, "reference_compile": False},
    "deberta": {**SIZES, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False},
    "deberta-v2": {  # as published
        **SIZES,
        **{"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False},
        **{"share_att_key": True, "norm_rel_ebd": "layer_norm", "position_buckets": 4, "max_relative_positions": 40},
    },
}


def make(folder: Path, number: int) -> None:
    """Save a model over a tokenizer's folder, tokens added to WordPiece, and write what they say beside it."""
    model_type, settings = folder.name, folder / "tokenizer_config.json"
    of_version_5 = settings.read_text(encoding="utf-8")
    settings.write_text(of_version_5.replace("extra_special_tokens", "additional_special_tokens"), encoding="utf-8")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if isinstance(tokenizer, transformers.BertTokenizerFast):
        tokenizer.add_tokens(["Foo-bar", "[B]"])
        tokenizer.add_special_tokens({"additional_special_tokens": ["[A]"]})
    for path in folder.iterdir():
        path.unlink()
    tokenizer.save_pretrained(folder)
    kind, labels = KINDS[number % len(KINDS)], 1 + number % 3
    config = transformers.AutoConfig.for_model(model_type, vocab_size=len(tokenizer), **OWN.get(model_type, SIZES))
    if kind != "QuestionAnswering":
        config.num_labels = labels
    torch.manual_seed(number)
    model_class = getattr(transformers, f"AutoModelFor{kind}")
    if model_type == "xlnet" and kind == "QuestionAnswering":
        model_class = transformers.XLNetForQuestionAnsweringSimple
    make_model = getattr(model_class, "from_config", model_class)
    model = make_model(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(folder, **({"max_shard_size": "2KB"} if number % 2 else {}))
    said = []
    for text in TEXTS:
        encoding = tokenizer(text, return_tensors="pt")
        taken = {name: encoding[name] for name in encoding if name in signature(model.forward).parameters}
        with torch.no_grad():
            output = model(**taken)
        spans = (output.start_logits, output.end_logits) if kind == "QuestionAnswering" else ()
        logits = torch.stack(spans) if spans else output.logits
        said.append({"text": text, "ids": encoding["input_ids"].tolist(), "logits": logits.tolist()})
    (folder / "said.json").write_text(json.dumps(said), encoding="utf-8")


def main(folders: Path) -> None:
    """Make all folders and pack them."""
    for number, folder in enumerate(sorted(folders.iterdir())):
        make(folder, number)
    with zipfile.ZipFile(TARGET, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folders.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folders).as_posix())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
