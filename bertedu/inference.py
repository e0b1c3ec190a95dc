"""Asking a trained model: what stands behind a mask, how likely is a text, and where does each token look?"""

import math
from pathlib import Path

import torch
from torch import Tensor

from bertedu.checkpoints.folder import find_folder
from bertedu.config import architecture_of
from bertedu.errors import UserError
from bertedu.model import BertForMaskedLM, BertForPreTraining, BertModel
from bertedu.model.heads import IGNORED
from bertedu.tokenization import BertTokenizer, Encoding

LanguageModel = BertForPreTraining | BertForMaskedLM
MODELS: dict[str, type[BertForPreTraining] | type[BertForMaskedLM]] = {
    "BertForPreTraining": BertForPreTraining,
    "BertForMaskedLM": BertForMaskedLM,
}


def open_model(name: str | Path) -> tuple[LanguageModel, BertTokenizer]:
    """The model with its masked-word head, and its tokenizer, from a run folder, a saved folder or a hub id.

    Raises UserError where there is no usable model, and where the tokenizer has ids that the model lacks.
    """
    folder = find_folder(name)
    tokenizer = BertTokenizer.from_pretrained(folder)
    architecture = architecture_of(folder)
    model = MODELS.get(architecture, BertForMaskedLM).from_pretrained(folder)
    if len(tokenizer) > model.config.vocab_size:
        raise UserError(
            f"{folder}: the tokenizer has {len(tokenizer)} tokens and the model knows {model.config.vocab_size}: "
            "use the vocab.txt that was saved with the model."
        )
    return model, tokenizer


def encode(model: LanguageModel | BertModel, tokenizer: BertTokenizer, text: str, pair: str | None = None) -> Encoding:
    """One text or pair as a batch of one, [1, T], on the CPU. Raises UserError when it is too long for the model."""
    encoding = tokenizer(text, pair)
    length, positions = encoding.input_ids.size(1), model.config.max_position_embeddings
    if length > positions:
        raise UserError(
            f"the text {shortened(text)!r} has {length} tokens with [CLS] and [SEP], and this model takes "
            f"{positions}: shorten it."
        )
    return encoding


def shortened(text: str, most: int = 40) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@torch.no_grad()
def fill_mask(model: LanguageModel, tokenizer: BertTokenizer, text: str, top: int = 5) -> list[list[tuple[str, float]]]:
    """The `top` likeliest tokens with their probabilities for each [MASK] of a text, in reading order.

    All masks are hidden from each other: every list is a guess on its own. Raises UserError for a text
    without [MASK], and for one with more tokens than the model has positions.
    """
    if top < 1:
        raise UserError(f"top is {top}: ask for at least 1 answer.")
    encoding = encode(model, tokenizer, text)
    masked = encoding.input_ids == tokenizer.mask_token_id  # [1, T]
    if not masked.any():
        raise UserError(f"there is no [MASK] in {shortened(text)!r}: write [MASK] where a word is to be guessed.")
    logits = run(model, encoding).prediction_logits.cpu()[masked]  # [N, V]
    likely = logits[:, : len(tokenizer)].float().softmax(dim=-1).topk(min(top, len(tokenizer)))
    return [
        list(zip(tokenizer.convert_ids_to_tokens(ids), probabilities, strict=True))
        for ids, probabilities in zip(likely.indices.tolist(), likely.values.tolist(), strict=True)
    ]


@torch.no_grad()
def pseudo_perplexity(model: LanguageModel, tokenizer: BertTokenizer, text: str) -> float:
    """Among how many tokens the model hesitates, on average, where one token of a text is hidden: 1 is the best.

    e to the mean of -log p(token | all other tokens), each token being masked in a pass of its own (Salazar et
    al. 2020, section 2, after Wang & Cho 2019). It is no perplexity: these probabilities do not multiply to one of
    the text. Raises UserError for a text without a token, and for one with more tokens than the model has positions.
    """
    ids = encode(model, tokenizer, text).input_ids[0]  # [T]
    places = ((ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)).nonzero()[:, 0]  # [N]
    if not len(places):
        raise UserError("there is no token to hide in an empty text: give at least one word.")
    encoding = tokenizer([text] * len(places))  # [N, T]
    rows = torch.arange(len(places))
    labels = torch.full_like(encoding.input_ids, IGNORED)
    labels[rows, places] = ids[places]
    encoding.input_ids[rows, places] = tokenizer.mask_token_id
    return math.exp(run(model, encoding, labels=labels.to(next(model.parameters()).device)).loss)


@torch.no_grad()
def attention_weights(
    model: LanguageModel | BertModel, tokenizer: BertTokenizer, text: str, pair: str | None = None
) -> tuple[list[str], Tensor]:
    """The tokens of a text or pair, and how much each looks at each: [L, H, T, T], on the CPU; rows sum to 1."""
    encoding = encode(model, tokenizer, text, pair)
    attentions = run(model, encoding, output_attentions=True).attentions
    return encoding.tokens[0], torch.cat(attentions).float().cpu()


def run(model, encoding: Encoding, **options):
    """The model's output for an encoding, without dropout, on the model's device; its mode is as before afterwards."""
    device, training = next(model.parameters()).device, model.training
    model.eval()
    try:
        return model(**{name: encoding[name].to(device) for name in encoding.keys()}, **options)  # noqa: SIM118
    finally:
        model.train(training)
