"""Exercise 21.4: Break even."""

import math
from collections.abc import Sequence
from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise

MILLION, IN_AN_HOUR = 1_000_000, 3_600_000  # milliseconds


TEXTS = (
    (900.0, 0.4, 25.0, (4000, 200), (3.0, 12.0), "900 euros of labels against a prompt of 4,000 tokens"),
    (75.0, 3.0, 80.0, (150, 40), (0.5, 4.0), "75 euros of labels on an expensive machine"),
    (600.0, 0.05, 60.0, (1000, 5), (0.1, 0.4), "600 euros of labels against a very cheap prompt"),
)  # none of them breaks even at a whole number, where rounding errors would decide


ARE_PAIRS = "tokens and prices are pairs: tokens[0] * prices[0] + tokens[1] * prices[1]."


TWO_PRODUCTS = f"That is an array of two prices. Add them, or use np.dot: {ARE_PAIRS}"


def price_of_prompt(tokens: Sequence[float], prices: Sequence[float]) -> float:
    """What one text costs by prompt."""
    return (tokens[0] * prices[0] + tokens[1] * prices[1]) / MILLION


def first_cheaper(once: float, encoder: float, prompt: float) -> float:
    """The smallest number of texts for which `once` and the encoder's price are less than the prompt's."""
    return math.inf if prompt <= encoder else math.floor(once / (prompt - encoder)) + 1


@exercise(
    "21.4",
    "Break even",
    difficulty=3,
    minutes=12,
    hints=(
        "What does one text cost by prompt, and what on the core? Each text saves the difference. How many texts save "
        "more than what is paid once? Can a text save nothing?",
        "prompt = (input tokens * their price + output tokens * their price) / 1e6, encoder = hour * milliseconds / "
        "3.6e6. If prompt <= encoder: math.inf. Else math.floor(once / (prompt - encoder)) + 1.",
    ),
)
def break_even(case: Case) -> None:
    case.causes = {
        "division by zero": "Both cost the same for a text here. Then the encoder never gets cheaper: math.inf.",
        "infinity to integer": "math.inf can't be rounded: return it as it is, before you round.",
        "inf to int": "math.inf can't be rounded: return it as it is, before you round.",
        "'inf' is not defined": "Its name is math.inf.",
        "arrays can be converted": TWO_PRODUCTS,
        "truth value of an array": TWO_PRODUCTS,
        "multiply sequence": ARE_PAIRS,
        "'tuple'": ARE_PAIRS,
        "tuple indices": ARE_PAIRS,
    }
    for once, hour, milliseconds, tokens, prices, tried in TEXTS:
        inputs = (once, hour, milliseconds, tokens, prices)
        got = number(case, case.call(*inputs, tried=tried))
        encoder, prompt = hour * milliseconds / IN_AN_HOUR, price_of_prompt(tokens, prices)
        wanted = first_cheaper(once, encoder, prompt)
        if got != wanted:
            case.fail(f"But it returned {got:,.10g}, and {wanted:,} is right.", *explained(got, *inputs))
    for hour, prices, words in (
        (0.5, (0.1, 0.1), "a prompt that costs less than the core for each text"),
        (0.0, (0.0, 0.0), "a core and a prompt that cost nothing"),
    ):
        got = number(case, case.call(50.0, hour, 1000.0, (100, 10), prices, tried=words))
        if got != math.inf:
            case.fail(
                f"But it returned {got:,.10g}, and the encoder never gets cheaper here: math.inf.",
                *(["Each further text costs more on the encoder, so no number of texts pays."] if hour else []),
            )
    got = number(
        case,
        case.call(100.0, 0.0, 5.0, (1000, 0), (500.0, 500.0), tried="100 euros of labels against a prompt of 0.50"),
    )
    if got == 200:
        case.almost(
            "After 200 texts both have cost 100 euros, so the encoder isn't cheaper yet. It is after 201.",
            "math.ceil and `<=` stop at 200, where the encoder is as cheap as the prompt, but not cheaper.",
        )
    case.expect(got == 201, f"But it returned {got:,.10g}, and 201 is right: 200 texts cost the same either way.")


def number(case: Case, got: Any) -> float:
    """What came back, as a number."""
    got = plain(got)
    if isinstance(got, bool) or not isinstance(got, int | float):
        case.fail(f"But the result should be a number of texts, and it is {said(got)}.")
    return got


def explained(got: float, once: float, hour: float, milliseconds: float, tokens: Any, prices: Any) -> list[str]:
    """The sentence of the known mistake whose number came, rounded in whichever way; else what a text costs."""
    prices_of_text = hour * milliseconds / IN_AN_HOUR, price_of_prompt(tokens, prices)
    saved = prices_of_text[1] - prices_of_text[0]
    exact = once / saved
    if got == math.inf:
        cheaper = (
            "A text on the core is cheaper than by prompt here. Which one do you subtract from which? And the units:"
        )
        return [f"{cheaper} an hour has 3,600,000 milliseconds.", in_millions(prices_of_text)]
    if got == 0:
        return ["Without a single text the encoder has cost `once`, and the prompt nothing."]
    if math.isclose(got, exact, rel_tol=1e-12) or math.isclose(got, exact + 1, rel_tol=1e-12):
        return ["A number of texts is a whole number: round it."]
    if got == math.floor(exact):
        return ["With one text less than you need it isn't cheaper yet. Round up."]
    if got == math.floor(exact) + 2:
        return ["One text less is enough: don't round up and then add 1."]
    for encoder, prompt, sentence in wrong_prices(hour, milliseconds, tokens, prices):
        if prompt != encoder:
            wrong = once / (prompt - encoder)
            if math.isclose(got, wrong, rel_tol=1e-9) or got in (math.floor(wrong), math.floor(wrong) + 1):
                return [sentence]
    if once != 600 and got in (math.floor(600 / saved), math.floor(600 / saved) + 1):
        return ["Those are 600 euros of labels. Use `once`, the argument."]
    return [in_millions(prices_of_text), f"And {once:g} euros are paid once."]


def in_millions(prices_of_text: tuple[float, float]) -> str:
    """What a million texts cost, to compare with."""
    encoder, prompt = (MILLION * price for price in prices_of_text)
    return f"To compare: a million texts cost {encoder:,.4g} euros on the core, and {prompt:,.6g} by prompt."


def wrong_prices(hour: float, milliseconds: float, tokens: Any, prices: Any) -> list[tuple[float, float, str]]:
    """What one text costs on the encoder and by prompt after known mistakes."""
    encoder, prompt = hour * milliseconds / IN_AN_HOUR, price_of_prompt(tokens, prices)
    own = "Each kind of token has its own price: multiply, then add."
    swapped = (tokens[0] * prices[1] + tokens[1] * prices[0]) / MILLION
    return [
        (encoder, prompt * MILLION, "The prices are for a million tokens. You took them for one token."),
        (encoder, prompt * 1000, "The prices are for a million tokens, not for a thousand."),
        (encoder, tokens[0] * prices[0] / MILLION, "The output tokens are missing: they have a price of their own."),
        (encoder, tokens[1] * prices[1] / MILLION, "The input tokens are missing: the prompt and the text are paid."),
        (encoder, sum(tokens) * prices[0] / MILLION, "Output tokens have a price of their own, the second one."),
        (encoder, sum(tokens) * prices[1] / MILLION, "Input tokens have a price of their own, the first one."),
        (encoder, sum(tokens) * sum(prices) / MILLION, own),
        (encoder, sum(tokens) * sum(prices) / 2 / MILLION, own),
        (encoder, sum(prices) / MILLION, "The numbers of tokens are missing: the prices are for a million of them."),
        (encoder, prompt * 10, "A million has six zeros: 1_000_000, or 1e6."),
        (encoder, prompt / 10, "A million has six zeros: 1_000_000, or 1e6."),
        (encoder, prompt / 1000, "A million has six zeros: 1_000_000, or 1e6."),
        (encoder, swapped, "The two prices are swapped: first the input's, then the output's."),
        (encoder * 1000, prompt, "You took the milliseconds for seconds."),
        (hour * milliseconds / 1000, prompt, "The price is for an hour of 3,600 seconds. You took it for a second."),
        (hour * milliseconds / 60_000, prompt, "The price is for an hour. You took it for a minute."),
        (0.0, prompt, "The core's time is missing, or nearly 0: hour * milliseconds / 3,600,000 for each text."),
        (hour / 3600, prompt, "The milliseconds are missing: that is the price of a second."),
        (milliseconds / IN_AN_HOUR, prompt, "The price of the hour is missing: multiply by `hour`."),
        (hour * milliseconds / MILLION, prompt, "An hour has 3,600,000 milliseconds, not a million."),
        (encoder * 10, prompt, "An hour has 3,600,000 milliseconds."),
        (encoder / 10, prompt, "An hour has 3,600,000 milliseconds."),
        (-encoder, prompt, "Each text saves the prompt's price minus the encoder's. You added them."),
        (prompt, encoder, "The sign is wrong: a text saves the prompt's price minus the core's."),
    ]
