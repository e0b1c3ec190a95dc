"""Compares models with different vocabularies on the same masked words of texts that none of them was trained on.

Run: python benchmarks/same_passages.py DATASETS --models FOLDER FOLDER …

Whole words are masked, 15 % of them, the same for all models; a word's loss is the sum over its pieces, so a
vocabulary of long pieces has no advantage. The texts: the books' held-out documents, which a hash chooses, so that a
run which reads the books leaves out the same; passages of half of SQuAD 2.0's development set (encyclopedia articles);
sentences of the test part of Universal Dependencies' English Web Treebank (blogs, mails, reviews). A cased model must
also predict capitals, which an uncased one is spared: a second loss takes the word in any capitals, as far as they have
as many pieces. Prints a table: both losses in nats for a word, the first in bits for a character, and the share of
words whose pieces are all the likeliest.
"""

import argparse
import math
import random
import warnings
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import torch

from bertedu import BertForMaskedLM, BertTokenizer
from bertedu.corpora import load_corpus
from bertedu.corpora.task_data import read_questions, read_tagged

RATE, BATCH = 0.15, 32
Passage = tuple[list[str], list[bool]]  # its words, and which of them are masked


def texts(folder: Path) -> dict[str, list[str]]:
    """The texts, by the name of their set."""
    books = load_corpus(folder / "public_domain_books").heldout
    questions = read_questions(folder / "squad_v2_half_dev/dev-v2.0.json.gz")
    sentences = read_tagged(folder / "ud_english_ewt/en_ewt-ud-test.conllu.gz")
    return {
        "books": [" ".join(document.sentences) for part in books.values() for document in part],
        "encyclopedia": list(dict.fromkeys(row.context for row in questions)),
        "web": [" ".join(row.words) for row in sentences],
    }


def passages(texts: list[str], tokenizers: list[BertTokenizer], longest: int) -> list[Passage]:
    """The beginning of each text as far as every model can read it, with its masked words. Texts of which no word is
    chosen are left out."""
    draw, found = random.Random("same passages"), []
    for text in texts:
        words = text.split()
        while max(sum(map(len, one.encode_lines(words))) for one in tokenizers) > longest - 2:
            words = words[: -max(1, len(words) // 20)]
        masked = [draw.random() < RATE and word.isalpha() and known(word, tokenizers) for word in words]
        if any(masked):
            found.append((words, masked))
    return found


def known(word: str, tokenizers: list[BertTokenizer]) -> bool:
    """Whether no model reads the word as [UNK], which is easy to guess."""
    return not any(one.unk_token_id in one.encode(word) for one in tokenizers)


@dataclass
class Measured:
    """Sums over masked words: losses in nats as the word is written and in any capitals, how many were right, and how
    many there are.
    """

    loss: float = 0.0
    any_capitals: float = 0.0
    right: int = 0
    words: int = 0


@torch.no_grad()
def measure(model: BertForMaskedLM, tokenizer: BertTokenizer, passages: list[Passage]) -> Measured:
    """What the model makes of the masked words."""
    found = Measured()
    for start in range(0, len(passages), BATCH):
        rows = [encoded(tokenizer, *passage) for passage in passages[start : start + BATCH]]
        width = max(len(ids) for ids, _ in rows)
        ids, labels, numbers = (torch.full((len(rows), width), value) for value in (tokenizer.pad_token_id, -100, -1))
        for row, (tokens, word_of) in enumerate(rows):
            place = slice(0, len(tokens))
            ids[row, place], numbers[row, place] = torch.tensor(tokens), torch.tensor(word_of)
        chosen = numbers >= 0
        labels[chosen] = ids[chosen]
        mask = (ids != tokenizer.pad_token_id).long()
        scores = model(
            ids.masked_fill(chosen, tokenizer.mask_token_id), mask, labels=labels
        ).prediction_logits.log_softmax(dim=-1)  # [N, V]
        best = scores.argmax(dim=-1).tolist()
        hidden = [word for words, masked in passages[start : start + BATCH] for word in compress(words, masked)]
        first = 0
        for word in hidden:
            forms = written(tokenizer, word)
            last = first + len(forms[0])
            of_forms = torch.stack([scores[range(first, last), form].sum() for form in forms])
            found.loss -= of_forms[0].item()
            found.any_capitals -= of_forms.logsumexp(dim=0).item()
            found.right += best[first:last] == forms[0]
            first = last
        found.words += len(hidden)
    return found


def written(tokenizer: BertTokenizer, word: str) -> list[list[int]]:
    """The pieces of a word as it is written; then in other capitals, each form once, where they are as many."""
    forms = list(tokenizer.encode_lines([word, word.lower(), word.capitalize(), word.upper()]))
    return [form for number, form in enumerate(forms) if len(form) == len(forms[0]) and form not in forms[:number]]


def encoded(tokenizer: BertTokenizer, words: list[str], masked: list[bool]) -> tuple[list[int], list[int]]:
    """The ids of a passage with [CLS] and [SEP], and for each the number of its masked word, else -1."""
    ids, numbers = [tokenizer.cls_token_id], [-1]
    for number, (pieces, hidden) in enumerate(zip(tokenizer.encode_lines(words), masked, strict=True)):
        ids += pieces
        numbers += [number if hidden else -1] * len(pieces)
    return [*ids, tokenizer.sep_token_id], [*numbers, -1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--models", nargs="+", required=True)
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*no place in this model")  # for the pooler and the head of sentence pairs
        models = {name: BertForMaskedLM.from_pretrained(name).eval() for name in given.models}
    tokenizers = {name: BertTokenizer.from_pretrained(name) for name in given.models}
    longest = min(model.config.max_position_embeddings for model in models.values())
    print(
        "| text | masked words | model | nats a word | in any capitals | bits a character | right |\n"
        + "|---" * 7
        + "|"
    )
    for text, lines in texts(given.datasets).items():
        chosen = passages(lines, list(tokenizers.values()), longest)
        letters = sum(len(word) for words, masked in chosen for word, one in zip(words, masked, strict=True) if one)
        for name, model in models.items():
            found = measure(model, tokenizers[name], chosen)
            losses = [f"{loss / found.words:.3f}" for loss in (found.loss, found.any_capitals)]
            cells = [f"{found.words:,}", name, *losses, f"{found.loss / letters / math.log(2):.3f}"]
            print("|", " | ".join([text, *cells, f"{found.right / found.words:.1%}"]), "|", flush=True)


if __name__ == "__main__":
    main()
