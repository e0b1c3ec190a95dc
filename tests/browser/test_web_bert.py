"""The BERT in JavaScript against PyTorch, and its WordPiece against the course's, in Chromium."""

import base64
import json

import numpy as np
import pytest
from support.web_questions import (
    ANSWERS,
    CHECKPOINTS,
    LOGITS_WITHIN,
    WEIGHTS_WITHIN,
    in_lots,
    largest_differences,
    opened,
    random_texts,
    rows_for,
)

from bertedu.web.bundling import bundle
from bertedu.web.playground import small_files

SENTENCES = {"world-tiny": 100, "mixed-mini": 20}
OPEN = """([files, weights]) => {
    globalThis.files = { ...files, weights: Uint8Array.from(atob(weights), one => one.charCodeAt(0)).buffer };
}"""
ASK = """rows => {
    const bytes = new Uint8Array(answers.answerRows(files, rows).buffer);
    let text = "";
    for (let start = 0; start < bytes.length; start += 8192) {
        text += String.fromCharCode(...bytes.subarray(start, start + 8192));
    }
    return btoa(text);
}"""


@pytest.fixture
def asked(page):
    """A page with the modules in it, and the function that gives it a checkpoint's files."""
    page.goto("about:blank")
    page.evaluate(bundle(ANSWERS, "answers"))

    def open_checkpoint(name: str):
        weights = (CHECKPOINTS[name] / "model.safetensors").read_bytes()
        page.evaluate(OPEN, [small_files(CHECKPOINTS[name]), base64.b64encode(weights).decode()])
        return page

    return open_checkpoint


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_scores_and_attention_are_those_of_pytorch(name, asked):
    page, found = asked(name), []
    for lot in in_lots(rows_for(name, SENTENCES[name], seed=5), 10):
        numbers = np.frombuffer(base64.b64decode(page.evaluate(ASK, lot)), np.float32)
        found.append(largest_differences(opened(name)[0], lot, numbers))
    logits, weights = (max(one) for one in zip(*found, strict=True))
    print(f"Chromium, {name}: logits within {logits:.1e}, attention weights within {weights:.1e}")
    assert logits < LOGITS_WITHIN and weights < WEIGHTS_WITHIN


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_pieces_are_those_of_the_course(name, asked):
    page, tokenizer = asked(name), opened(name)[1]
    texts = random_texts(2000, seed=6)
    for text, pieces in zip(texts, page.evaluate("rows => answers.pieceRows(files, rows)", texts), strict=True):
        ids, offsets = tokenizer.encode_with_offsets(text)
        assert pieces == [[token, *span] for token, span in zip(ids, offsets, strict=True)], json.dumps(text)
