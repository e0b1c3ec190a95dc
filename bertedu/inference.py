"""Asking a trained model: which word is masked, how likely is a text, what does each token attend to, and which
vector does a word have in its sentence?
"""

import math
from collections.abc import Sequence
from pathlib import Path

import regex
import torch
from torch import Tensor

from bertedu.checkpoints.folder import GENERATOR, Trained, find_folder
from bertedu.config import CONFIG, architecture_of
from bertedu.errors import UserError
from bertedu.model import BertForPreTraining, BertModel
from bertedu.model.architecture import architecture_in, tokenizer_in
from bertedu.model.evaluating import evaluating
from bertedu.model.heads import MaskedLM, mean_cross_entropy
from bertedu.tokenization import Encoding, Tokenizer
from bertedu.tokenization.encoding import without_space_before

LanguageModel = BertForPreTraining | MaskedLM
Span = tuple[int, int]
BATCH = 32
MOST_NATS = 700.0
FILLS = Trained("masked_lm.", "fills masks")


def open_model(name: str | Path, trained: Trained | None = None) -> tuple[LanguageModel, Tokenizer]:
    """The model with its masked-word head, and its tokenizer, from a run folder, a saved folder or a hub id.

    ELECTRA's discriminator has no such head: it can be asked for attention and vectors, and fills no masks. Raises
    UserError where there is no usable model, where it lacks what must be trained, and where the tokenizer has ids that
    the model lacks.
    """
    folder = find_folder(name)
    member = architecture_in(folder)
    tokenizer = tokenizer_in(folder)
    whole = architecture_of(folder) == member.class_name(BertForPreTraining.kind)
    of_whole, of_words = member.for_pretraining or BertForPreTraining, member.for_masked_lm or MaskedLM
    return (of_whole if whole else of_words).from_pretrained(folder, trained), tokenizer


def open_filler(name: str | Path) -> tuple[LanguageModel, Tokenizer]:
    """As `open_model`, and in place of a discriminator the generator in the folder beside it, which fills masks.

    Raises UserError for a model of another task: words from an untrained head would be words at random.
    """
    folder = find_folder(name)
    return open_model(folder / GENERATOR if (folder / GENERATOR / CONFIG).is_file() else folder, FILLS)


def check_fills(model: LanguageModel) -> None:
    """Raise UserError for a model without a masked-word head."""
    if not hasattr(model, "masked_lm"):
        raise UserError(
            f"this is {type(model).__name__}, a discriminator: it tells which tokens were replaced and fills no masks. "
            f"Give the folder of its generator, {GENERATOR}/ in the checkpoint of a run, or a generator of the hub."
        )


def encode(model: LanguageModel | BertModel, tokenizer: Tokenizer, text: str, pair: str | None = None) -> Encoding:
    """One text or pair as a batch of one, [1, T], on the CPU. Raises UserError when it is too long for the model."""
    encoding = tokenizer(text, pair)
    length, positions = encoding.input_ids.size(1), model.config.max_tokens
    if length > positions:
        raise UserError(
            f"the text {shortened(text)!r} has {length} tokens with {tokenizer.cls_token} and {tokenizer.sep_token}, "
            f"and this model takes {positions}: shorten it."
        )
    return encoding


def shortened(text: str, most: int = 40) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@torch.no_grad()
def fill_mask(model: LanguageModel, tokenizer: Tokenizer, text: str, top: int = 5) -> list[list[tuple[str, float]]]:
    """The `top` likeliest tokens with their probabilities for each [MASK] of a text, in reading order.

    All masks are hidden from each other: every list is a guess on its own. Raises UserError for a text
    without [MASK], and for one with more tokens than the model has positions.
    """
    if top < 1:
        raise UserError(f"top is {top}: ask for at least 1 answer.")
    check_fills(model)
    encoding = encode(model, tokenizer, text)
    masked = encoding.input_ids == tokenizer.mask_token_id  # [1, T]
    if not masked.any():
        mask = tokenizer.mask_token
        raise UserError(f"there is no {mask} in {shortened(text)!r}: write {mask} where a word is to be guessed.")
    logits = run(model, encoding, masked_positions=masked).prediction_logits.cpu()  # [N, V]: no other token is scored
    likely = logits[:, : len(tokenizer)].float().softmax(dim=-1).topk(min(top, len(tokenizer)))
    return [
        list(zip(map(tokenizer.readable, tokenizer.convert_ids_to_tokens(ids)), probabilities, strict=True))
        for ids, probabilities in zip(likely.indices.tolist(), likely.values.tolist(), strict=True)
    ]


@torch.no_grad()
def pseudo_perplexity(model: LanguageModel, tokenizer: Tokenizer, text: str) -> float:
    """The perplexity of a masked model, where each token of a text is hidden in turn: 1 is the best.

    e to the mean of -log p(token | all other tokens), each token being masked in a pass of its own (Salazar et
    al. 2020, section 2, after Wang & Cho 2019). It is no perplexity: these probabilities do not multiply to one of
    the text. Raises UserError for a text without a token, and for one with more tokens than the model has positions.
    """
    check_fills(model)
    ids = encode(model, tokenizer, text).input_ids[0]  # [T]
    places = ((ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)).nonzero()[:, 0]  # [N]
    if not len(places):
        raise UserError("there is no token to hide in an empty text: give at least one word.")
    encoding = tokenizer([text] * len(places))  # [N, T]
    rows = torch.arange(len(places))
    hidden = torch.zeros_like(encoding.input_ids, dtype=torch.bool)
    hidden[rows, places] = True
    encoding.input_ids[hidden] = tokenizer.mask_token_id
    logits = run(model, encoding, masked_positions=hidden).prediction_logits.cpu()  # [N, V]
    return perplexity(float(mean_cross_entropy(logits, ids[places])))


def perplexity(nats: float) -> float:
    """e to a mean of -log p. No float holds e to more than MOST_NATS: that is the perplexity there, and also where the
    loss is no number.
    """
    return math.exp(min(MOST_NATS, nats))


@torch.no_grad()
def attention_weights(
    model: LanguageModel | BertModel, tokenizer: Tokenizer, text: str, pair: str | None = None
) -> tuple[list[str], Tensor]:
    """The tokens of a text or pair, and how much each attends to each: [L, H, T, T], on the CPU; rows sum to 1."""
    encoding = encode(model, tokenizer, text, pair)
    attentions = run(model, encoding, output_attentions=True).attentions
    return encoding.tokens[0], torch.cat(attentions).float().cpu()


def run(model, encoding: Encoding, **options):
    """The model's output for an encoding, without dropout, on the model's device, to which tensors among the options
    go too; its mode is as before afterwards.
    """
    given = {**{name: encoding[name] for name in encoding}, **options}
    with evaluating(model) as device:
        return model(
            **{name: value.to(device) if isinstance(value, Tensor) else value for name, value in given.items()}
        )


def word_vectors(model: LanguageModel | BertModel, tokenizer: Tokenizer, sentences: Sequence[str], word: str) -> Tensor:
    """The vector of one word in each sentence, layer by layer, the embeddings first: [N, L + 1, D], on the CPU.

    The vectors of its pieces are averaged. Upper and lower case are alike. Raises UserError that names the sentence
    where the word does not stand exactly once, or is cut off because the sentence is too long for the model.
    """
    spans = [[word_span(sentence, word)] for sentence in sentences]
    return span_vectors(model, tokenizer, sentences, spans)


def word_span(sentence: str, word: str) -> Span:
    """Where a word begins and ends in a sentence. Raises UserError where it does not stand there exactly once."""
    alone = rf"(?:\b|(?<!\w)){regex.escape(word)}(?:\b|(?!\w))"  # \b is Unicode's: also between Chinese characters
    found = list(regex.finditer(alone, sentence, flags=regex.IGNORECASE | regex.WORD))
    if len(found) != 1:
        raise UserError(f"{sentence!r} has the word {word!r} {len(found)} times: it must stand there once.")
    return found[0].span()


@torch.no_grad()
def span_vectors(
    model: LanguageModel | BertModel,
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    spans: Sequence[Sequence[Span]],
) -> Tensor:
    """The vectors of some words of each sentence, one after the other: [N, L + 1, D], N words in all, on the CPU.

    spans: for each sentence the (start, end) of its words' characters. The vectors of a word's pieces are averaged.
    Raises UserError for no sentences, and for a word that is cut off.
    """
    if not sentences:
        raise UserError("there are no sentences: give at least one.")
    vectors = []
    for start in range(0, len(sentences), BATCH):
        batch = sentences[start : start + BATCH]
        encoding = tokenizer(batch, max_length=model.config.max_tokens)
        output = run(model, encoding, output_hidden_states=True)
        states = torch.stack(output.hidden_states, dim=2).float().cpu()  # [B, T, L + 1, D]
        for row, sentence in enumerate(batch):
            for span in spans[start + row]:
                pieces = pieces_of(span, encoding.offsets[row], sentence)
                vectors.append(states[row, pieces].mean(dim=0))
    return torch.stack(vectors)


def pieces_of(span: Span, offsets: Sequence[Span], sentence: str) -> list[int]:
    """Which tokens stand for the characters of a word. Raises UserError where its end is missing."""
    start, end = span
    trimmed = [without_space_before(offset, sentence) for offset in offsets]
    # A token may reach beyond the word: for a Unigram model "bank." can be one.
    pieces = [place for place, (first, last) in enumerate(trimmed) if first < last and first < end and start < last]
    if not pieces or trimmed[pieces[-1]][1] < end:
        raise UserError(
            f"the word {sentence[start:end]!r} of {shortened(sentence)!r} is cut off, the sentence has more tokens "
            "than the model has positions: shorten it."
        )
    return pieces
