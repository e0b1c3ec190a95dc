"""Compares models with different vocabularies on the same masked words of texts that none of them was trained on.

Run: python benchmarks/same_passages.py DATASETS --models FOLDER FOLDER …

Whole words are masked, 15 % of them, the same for all models; a word's loss is the sum over its pieces, so a
vocabulary of long pieces has no advantage. The texts: the books' held-out documents, which a hash chooses, so that a
run which reads the books leaves out the same; passages of half of SQuAD 2.0's development set (encyclopedia articles);
sentences of the test part of Universal Dependencies' English Web Treebank (blogs, mails, reviews). A cased model must
also predict capitals, which an uncased one is spared. Prints a table: loss in nats for a word, the same in bits for a
character, and the share of words whose pieces are all the likeliest.
"""

import argparse
import math
import random
import warnings
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


@torch.no_grad()
def measure(model: BertForMaskedLM, tokenizer: BertTokenizer, passages: list[Passage]) -> tuple[float, float, int]:
    """The summed loss of all masked words in nats, how many were right, and how many there are."""
    loss, right, count = 0.0, 0, 0
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
        ).prediction_logits  # [N, V]
        gold = labels[chosen]  # [N]
        loss -= scores.log_softmax(dim=-1).gather(1, gold[:, None]).sum().item()
        hits = (scores.argmax(dim=-1) == gold).tolist()
        words = list(zip(chosen.nonzero()[:, 0].tolist(), numbers[chosen].tolist(), strict=True))
        wrong = {word for word, hit in zip(words, hits, strict=True) if not hit}
        count += len(set(words))
        right += len(set(words)) - len(wrong)
    return loss, right, count


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
    print("| text | masked words | model | nats a word | bits a character | right |\n|---|---|---|---|---|---|")
    for text, lines in texts(given.datasets).items():
        chosen = passages(lines, list(tokenizers.values()), longest)
        letters = sum(len(word) for words, masked in chosen for word, one in zip(words, masked, strict=True) if one)
        for name, model in models.items():
            loss, right, count = measure(model, tokenizers[name], chosen)
            cells = [f"{count:,}", name, f"{loss / count:.3f}", f"{loss / letters / math.log(2):.3f}"]
            print("|", " | ".join([text, *cells, f"{right / count:.1%}"]), "|", flush=True)


if __name__ == "__main__":
    main()
