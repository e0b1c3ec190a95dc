"""The interview in a notebook: what is on the screen at each step, worked by its buttons."""

import pytest
from ipywidgets import Button, Checkbox
from support.interview_questions import QUESTION, topics

from bertedu.errors import UserError
from bertedu.interview.asking import Interview, asked, interview, mock
from bertedu.interview.session import Session


def words(screen: Interview) -> str:
    return " ".join(getattr(part, "value", "") or "" for part in screen.box.children if not isinstance(part, Checkbox))


def boxes(screen: Interview) -> list[Checkbox]:
    return [part for part in screen.box.children if isinstance(part, Checkbox)]


def press(screen: Interview) -> None:
    (button,) = [part for part in screen.box.children if isinstance(part, Button)]
    button.click()


def test_points_are_shown_after_the_answer_and_ticks_are_kept():
    screen = Interview(Session([QUESTION, QUESTION]), {"masks": "Masks & more"})
    assert "What does a mask do?" in words(screen) and not boxes(screen), "the points would be read, not remembered"
    press(screen)
    assert [box.description for box in boxes(screen)] == [f"Point {place}." for place in range(4)]
    boxes(screen)[0].value = boxes(screen)[2].value = True
    press(screen)
    assert [box.description for box in boxes(screen)] == ["What about 1?", "What about 3?"]
    boxes(screen)[1].value = True
    press(screen)
    assert screen.session.answered[0].said == {0, 2} and screen.session.answered[0].said_late == {3}
    for _ in range(3):
        press(screen)
    assert "Masks &amp; more" in words(screen) and "31%" in words(screen), "(2.5 / 4 + 0) / 2"
    assert "chapter 03, “Padding”" in words(screen)
    assert not [part for part in screen.box.children if isinstance(part, Button)]


def test_somebody_who_said_all_is_not_asked_again():
    screen = Interview(Session([QUESTION]), {"masks": "Masks"})
    press(screen)
    for box in boxes(screen):
        box.value = True
    press(screen)
    assert "You said every point" in words(screen) and not boxes(screen)


def test_the_page_without_a_kernel_shows_the_question_and_its_points():
    found = topics(3)
    data, _ = asked(found[0].questions, found)._repr_mimebundle_()
    assert data["text/html"].count("<li>") == 3 and "What does a mask do?" in data["text/plain"]


def test_every_topic_of_the_bank_can_be_asked():
    assert interview("attention").controls.children
    assert mock(5, seed=2).controls.children
    with pytest.raises(UserError, match="there is no topic 'atention': do you mean attention"):
        interview("atention")
