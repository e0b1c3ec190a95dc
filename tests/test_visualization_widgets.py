"""Widgets: what their functions compute, what a change of a control shows, and what is left where no kernel runs."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import HTML, Checkbox, Dropdown, IntSlider, Text, ToggleButtons
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from support.small_runs import POSITIONS, small_model, small_tokenizer

from bertedu.course.building.executing import scrub
from bertedu.errors import UserError
from bertedu.inference import attention_weights, fill_mask
from bertedu.model import BertForMaskedLM
from bertedu.model.heads import IGNORED
from bertedu.pretraining.masking import mask_tokens
from bertedu.visualization.widgets import attention_explorer, fill_mask_box, masking_playground, word_in_context
from bertedu.visualization.widgets.context import cosines, in_two_dimensions
from bertedu.visualization.widgets.explorer import explorer_html
from bertedu.visualization.widgets.filling import answers_html
from bertedu.visualization.widgets.playground import (
    KEPT,
    MASKED,
    RANDOM,
    MaskedText,
    describe,
    in_words,
    mask_text,
    masked_html,
)
from bertedu.visualization.widgets.view import WIDGET

TEXT = "the cat sat on the mat . the dogs sat on the list of paris ."
SENTENCES = ["the cat sat on the mat .", "a cat speak french .", "paris is a cat ."]


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer()


def controls(view) -> dict:
    return {control.description: control for control in view.controls.children[:-1]}


def shown(view) -> str:
    return view.controls.children[-1].value


def every_view(model, tokenizer) -> list:
    return [
        attention_explorer(model, tokenizer, "the cat sat .", "a dog ."),
        masking_playground(tokenizer, TEXT, model),
        fill_mask_box(model, tokenizer, "the [MASK] sat ."),
        word_in_context(model, tokenizer, SENTENCES, "cat"),
    ]


# What all widgets share --------------------------------------------------------------------------------------------


def test_a_stored_notebook_shows_a_picture(model, tokenizer):
    for view in every_view(model, tokenizer):
        data, metadata = view._repr_mimebundle_()
        assert data[WIDGET]["model_id"] == view.controls.model_id
        cell = new_code_cell("view", execution_count=1, outputs=[new_output("display_data", data, metadata=metadata)])
        scrub(NotebookNode(cells=[cell], metadata=NotebookNode()))
        (output,) = cell.outputs
        assert WIDGET not in output.data and {"image/png", "text/html"} & set(output.data)
        assert len(output.data["text/plain"].split()) > 10
        if "image/png" in output.data:
            assert output.metadata["image/png"]["alt"] == output.data["text/plain"]


def test_what_is_compared_is_the_same_on_each_run(model, tokenizer):
    first, second = (
        [(view.still.alt, getattr(view.still, "html", lambda: "")) for view in every_view(model, tokenizer)]
        for _ in range(2)
    )
    assert [alt for alt, _ in first] == [alt for alt, _ in second]
    assert first[1][1] == second[1][1]


def test_every_control_says_what_it_does(model, tokenizer):
    for view in every_view(model, tokenizer):
        *inputs, page = view.controls.children
        assert isinstance(page, HTML)
        assert all(isinstance(control, Text | IntSlider | Dropdown | Checkbox | ToggleButtons) for control in inputs)
        assert all(control.description for control in inputs)
        assert 'role="region"' in page.value and 'tabindex="0"' in page.value
        assert re.search(r'aria-label="\w', page.value)


def test_signs_in_a_text_become_no_tags(model, tokenizer):
    sign = "<b onclick=x>"  # a tokenizer would cut it up, so tokens are given as they are
    weights = np.ones((1, 1, 1, 1))
    pages = [
        masked_html(MaskedText([sign], [7], [sign], [IGNORED], [""])),
        answers_html(f"[MASK] {sign}", [[(sign, 0.5)]]),
        explorer_html(weights, [sign], 1, 1, 0, None),
        explorer_html(weights, [sign], 1, 1, 0, 0),
        shown(word_in_context(model, tokenizer, [f"a cat {sign}", "the cat"], "cat")),
    ]
    for page in pages:
        assert sign not in page and "&lt;b onclick" in page


# Masking -----------------------------------------------------------------------------------------------------------


def test_the_playground_masks_as_pretraining_does(tokenizer):
    ids = torch.tensor([tokenizer(TEXT).input_ids[0].tolist()])
    candidates = (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        seen, labels = mask_tokens(ids, candidates, 0.3, tokenizer.mask_token_id, len(tokenizer), generator)
        masked = mask_text(tokenizer, TEXT, 0.3, 0.8, 0.1, seed=seed)
        assert masked.input_ids == seen[0].tolist() and masked.labels == labels[0].tolist()


def test_every_fate_that_is_told_happened(tokenizer):
    for seed in range(10):
        masked = mask_text(tokenizer, TEXT, 0.9, 0.3, 0.4, seed=seed)
        for token, seen, label, fate in zip(masked.tokens, masked.seen, masked.labels, masked.fates, strict=True):
            assert (label == IGNORED) == (fate == "")
            assert fate != MASKED or seen == "[MASK]"
            assert fate not in ("", KEPT) or seen == token
            assert fate == "" or tokenizer.convert_ids_to_tokens(label) == token
    assert {MASKED, RANDOM, KEPT} <= set(masked.fates)


def test_special_tokens_are_not_masked(tokenizer):
    masked = mask_text(tokenizer, "the cat", 1.0, 1.0, 0.0)
    assert masked.seen == ["[CLS]", "[MASK]", "[MASK]", "[SEP]"]


def test_no_word_is_masked_by_halves(tokenizer):
    for seed in range(30):
        masked = mask_text(tokenizer, "the dogs sat on the mats", 0.3, 1.0, 0.0, whole_words=True, seed=seed)
        fates = dict(zip(enumerate(masked.tokens), masked.fates, strict=True))
        assert fates[2, "dog"] == fates[3, "##s"] and fates[7, "mat"] == fates[8, "##s"]


@pytest.mark.parametrize("kind", ["pretraining", "masked"])
def test_the_loss_is_the_mean_cross_entropy_at_the_labels(tokenizer, kind):
    model = small_model() if kind == "pretraining" else small_model(BertForMaskedLM)
    masked = mask_text(tokenizer, TEXT, 0.5, 0.8, 0.1, model=model)
    with torch.no_grad():
        logits = model(torch.tensor([masked.input_ids])).prediction_logits[0]  # [T, V]
    right = [(place, label) for place, label in enumerate(masked.labels) if label != IGNORED]
    expected = [logits[place].softmax(-1)[label].item() for place, label in right]
    assert [masked.probabilities[place] for place, _ in right] == pytest.approx(expected, rel=1e-4)
    assert sum(share is not None for share in masked.probabilities) == len(right)
    assert masked.loss == pytest.approx(-np.log(expected).mean(), rel=1e-4)


def test_moving_a_slider_of_the_playground_changes_the_picture(model, tokenizer):
    view = masking_playground(tokenizer, TEXT, model)
    by_name, before = controls(view), shown(view)
    by_name["chosen, %"].value = 100
    count = len(tokenizer(TEXT).tokens[0])
    assert f"{count - 2} of {count} tokens have a label" in shown(view) != before
    by_name["of these random, %"].value = 0
    by_name["of these [MASK], %"].value = 0
    assert f"0 became [MASK], 0 a random token, {count - 2} stayed" in shown(view)
    by_name["of these [MASK], %"].value = 100
    assert f"{count - 2} became [MASK]" in shown(view)
    by_name["chosen, %"].value = 20
    before = shown(view)
    by_name["draw number"].value = 1
    assert shown(view) != before
    by_name["text"].value = "paris"
    assert "1 of 3 tokens" in shown(view)
    by_name["text"].value = "dogs"
    by_name["whole words"].value = True
    assert "No token was chosen" in shown(view)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"of these random, %": 30}, "more than 100 %"),
        ({"text": ""}, "type a text"),
        ({"text": "cat " * POSITIONS}, f"this model takes {POSITIONS}"),
    ],
)
def test_a_bad_value_does_not_end_a_widget(model, tokenizer, change, words):
    view = masking_playground(tokenizer, TEXT, model)
    good = shown(view)
    before = {name: controls(view)[name].value for name in change}
    for name, value in change.items():
        controls(view)[name].value = value
    assert words in shown(view) and 'role="alert"' in shown(view)
    for name, value in before.items():
        controls(view)[name].value = value
    assert shown(view) == good


def test_the_playground_needs_no_model(tokenizer):
    masked = mask_text(tokenizer, TEXT, 0.15, 0.8, 0.1)
    assert masked.loss is None and "loss" not in describe(masked) and "right token" not in masked_html(masked)
    assert "It must guess: " in in_words(masked)


def test_a_long_text_keeps_its_end(tokenizer):
    masked = mask_text(tokenizer, TEXT, 0.15, 0.8, 0.1)
    page = masked_html(masked)
    assert page.count("<table") == 2 and page.count("<td") == 5 * len(masked.tokens)


# Fill in the mask --------------------------------------------------------------------------------------------------


def test_typing_a_sentence_shows_the_new_answers(model, tokenizer):
    view = fill_mask_box(model, tokenizer, "the [MASK] sat .")
    controls(view)["sentence"].value = "a [MASK] is [MASK] ."
    controls(view)["answers"].value = 2
    answers = fill_mask(model, tokenizer, "a [MASK] is [MASK] .", 2)
    assert shown(view) == answers_html("a [MASK] is [MASK] .", answers)
    assert shown(view).count('<th scope="row"') == 4 and "[MASK] number 2" in shown(view)
    assert f"{answers[1][0][1]:.1%}" in shown(view)
    controls(view)["sentence"].value = "a cat ."
    assert "there is no [MASK]" in shown(view)


def test_a_first_text_without_a_mask_is_refused(model, tokenizer):
    with pytest.raises(UserError, match=r"there is no \[MASK\]"):
        fill_mask_box(model, tokenizer, "a cat .")


# Attention ---------------------------------------------------------------------------------------------------------


def test_the_explorer_shows_the_head_and_token_chosen(model, tokenizer):
    tokens, weights = attention_weights(model, tokenizer, "the cat sat .", "a dog .")
    view = attention_explorer(model, tokenizer, "the cat sat .", "a dog .")
    assert shown(view) == explorer_html(weights.numpy(), tokens, 1, 1, 0.05, None)
    first = int(weights[0, 0, 2].argmax())
    assert f"cat attends most to {tokens[first]} (" in shown(view) and "looks" not in shown(view)
    controls(view)["layer"].value, controls(view)["head"].value = 2, 1
    controls(view)["or click one"].value = 2  # cat
    assert controls(view)["token"].value == 2
    row = weights[1, 0, 2]
    best = int(row.argmax())
    assert f"Token 3, cat, attends to: {tokens[best]} ({best + 1}) {row[best]:.0%}" in shown(view)
    assert all(f"{share:.0%}</text>" in shown(view) for share in row.tolist())


# A word in context -------------------------------------------------------------------------------------------------


def test_every_word_has_its_own_layer_and_sentence(model, tokenizer):
    from bertedu.interpretation.contexts import word_vectors

    vectors = word_vectors(model, tokenizer, SENTENCES, "cat")
    view = word_in_context(model, tokenizer, SENTENCES, "cat")
    controls(view)["layer"].value = 1
    controls(view)["compared with"].value = 2
    expected = torch.cosine_similarity(vectors[:2, 1], vectors[2, 1], dim=-1)
    assert cosines(vectors, 1, 2)[:2] == pytest.approx(expected.tolist(), abs=1e-5)
    best = int(expected.argmax())
    first_row = shown(view).split("<tbody>")[1].split("</tr>")[0]
    assert f"{expected[best]:.2f}" in first_row and SENTENCES[best] in first_row
    assert "cat at layer 1 of 2" in shown(view)
    way = re.findall(r'points="([^"]+)"', shown(view))
    assert [len(points.split()) for points in way] == [2, 2, 2]
    controls(view)["layer"].value = 0
    assert "embeddings only" in shown(view)


def test_one_sentence_alone_is_refused(model, tokenizer):
    with pytest.raises(UserError, match="at least two"):
        word_in_context(model, tokenizer, ["a cat ."], "cat")


def test_each_sense_has_a_color(model, tokenizer):
    view = word_in_context(model, tokenizer, SENTENCES, "cat", ["pet", "pet", "city"])
    drawn = [line.get_color() for line in view.still.figure.axes[0].get_lines()]
    assert [len(set(found)) for found in (re.findall(r'stroke="(.+?)"', shown(view)), drawn)] == [2, 2]


def test_what_all_sentences_share_does_not_hide_how_a_word_parts():
    """Vectors that differ in two directions, on top of a shared step from layer to layer that is a hundred times as
    long: the picture shows the difference, and keeps all of it.
    """
    shared = torch.zeros(1, 3, 4)
    shared[0, :, 3] = torch.tensor([0.0, 100.0, 200.0])
    apart = torch.zeros(4, 3, 4)
    apart[0, :, 0], apart[1, :, 0], apart[2, :, 1], apart[3, :, 1] = 1.0, -1.0, 1.0, -1.0
    points, kept = in_two_dimensions(shared + apart)
    assert kept == pytest.approx(1.0)
    assert np.linalg.norm(points, axis=-1) == pytest.approx(np.ones((4, 3)), abs=1e-4)
    assert np.linalg.norm(points[0] - points[1], axis=-1) == pytest.approx(2 * np.ones(3), abs=1e-4)
