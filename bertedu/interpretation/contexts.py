"""One word in many sentences: its vector layer by layer, and how vectors of one sense or another compare.

Vectors of a word are the means over its pieces. Cosines between two sentences alone mislead; averages over many
do not. Anisotropy: Ethayarajh 2019, section 4.1.
Shapes: N sentences or vectors, L layers (with the embeddings L + 1), D hidden size, T tokens.
"""

import re
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.errors import UserError
from bertedu.inference import LanguageModel, run, shortened
from bertedu.model import BertModel
from bertedu.tokenization import BertTokenizer

BATCH = 32
Span = tuple[int, int]


def word_vectors(
    model: LanguageModel | BertModel, tokenizer: BertTokenizer, sentences: Sequence[str], word: str
) -> Tensor:
    """The vector of one word in each sentence, layer by layer, the embeddings first: [N, L + 1, D], on the CPU.

    The vectors of its pieces are averaged. Upper and lower case are alike. Raises UserError that names the sentence
    where the word does not stand exactly once, or is cut off because the sentence is too long for the model.
    """
    spans = [[word_span(sentence, word)] for sentence in sentences]
    return span_vectors(model, tokenizer, sentences, spans)


def word_span(sentence: str, word: str) -> Span:
    """Where a word begins and ends in a sentence. Raises UserError where it does not stand there exactly once."""
    found = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, flags=re.IGNORECASE))
    if len(found) != 1:
        raise UserError(f"{sentence!r} has the word {word!r} {len(found)} times: it must stand there once.")
    return found[0].span()


@torch.no_grad()
def span_vectors(
    model: LanguageModel | BertModel,
    tokenizer: BertTokenizer,
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
        encoding = tokenizer(batch, max_length=model.config.max_position_embeddings)
        output = run(model, encoding, output_hidden_states=True)
        states = torch.stack(output.hidden_states, dim=2).float().cpu()  # [B, T, L + 1, D]
        for row, sentence in enumerate(batch):
            for span in spans[start + row]:
                pieces = pieces_of(span, encoding.offsets[row], sentence)
                vectors.append(states[row, pieces].mean(dim=0))
    return torch.stack(vectors)


def pieces_of(span: Span, offsets: Sequence[Span], sentence: str) -> list[int]:
    """The places of the tokens that stand for the characters of a word. Raises UserError where its end is missing."""
    start, end = span
    pieces = [place for place, (first, last) in enumerate(offsets) if start <= first < last <= end]
    if not pieces or offsets[pieces[-1]][1] != end:
        raise UserError(
            f"the word {sentence[start:end]!r} of {shortened(sentence)!r} is cut off, the sentence has more tokens "
            "than the model has positions: shorten it."
        )
    return pieces


def mean_cosines(vectors: Tensor, labels: Sequence[str]) -> dict[str, Tensor]:
    """The mean cosine of all pairs of one label ("within") and of two labels ("across"), layer by layer: [L + 1] each.

    vectors [N, L + 1, D] with a label each, such as the sense of the word. No vector is compared with itself. Raises
    UserError where either kind of pair is missing.
    """
    check_labels(vectors, labels)
    unit = normalize(vectors.float(), dim=-1).transpose(0, 1)  # [L + 1, N, D]
    cosines = unit @ unit.transpose(1, 2)  # [L + 1, N, N]
    numbers = torch.tensor([sorted(set(labels)).index(label) for label in labels])
    same = numbers[:, None] == numbers
    within, across = same & ~torch.eye(len(labels), dtype=torch.bool), ~same
    if not within.any() or not across.any():
        raise UserError("cosines within and across labels need two labels, and one of them twice: give more sentences.")
    return {"within": cosines[:, within].mean(dim=1), "across": cosines[:, across].mean(dim=1)}


def nearest(vectors: Tensor, query: Tensor, labels: Sequence[str], k: int = 5) -> list[tuple[str, float]]:
    """The labels and cosines of the k vectors [N, D] that point most nearly where the query [D] points, best first."""
    check_labels(vectors, labels)
    cosines = normalize(vectors.float(), dim=-1) @ normalize(query.float(), dim=-1)  # [N]
    best = cosines.topk(min(k, len(labels)))
    return [(labels[index], cosine) for index, cosine in zip(best.indices.tolist(), best.values.tolist(), strict=True)]


def anisotropy(vectors: Tensor) -> float:
    """The mean cosine of all pairs of different vectors [N, D]: 0 when they point everywhere, 1 when all point one way.

    Ethayarajh takes random pairs; the mean over all of them follows from the sum of the unit vectors: |Σu|² counts
    every ordered pair and N times a vector with itself.
    """
    count = len(vectors)
    if count < 2:
        raise UserError(f"anisotropy is a mean over pairs of vectors, and there are {count}: give at least 2.")
    total = normalize(vectors.double(), dim=-1).sum(dim=0)
    return float((total @ total - count) / (count * (count - 1)))


def check_labels(vectors: Tensor, labels: Sequence) -> None:
    """Raise UserError where vectors and labels are not of one number."""
    if len(vectors) != len(labels):
        raise UserError(f"there are {len(vectors)} vectors and {len(labels)} labels: give one label for each.")
