"""Answers to the exercises 21.2, 21.3 and 21.4: right ones, and mistakes with the words that they must hear."""

import math
import statistics

import numpy as np
import torch

SPECIAL, LN_2 = ("[CLS]", "[SEP]"), math.log(2)

# 21.2 ----------------------------------------------------------------------------------------------------------------

MARKS, CHANCE, ERRORS = 90 * 0.0455, 1 - 0.9545**90, statistics.NormalDist().inv_cdf(1 - 0.0455 / 180)

# 21.3 ----------------------------------------------------------------------------------------------------------------


def plainly(texts, tokens, nats):
    total = 0.0
    for some, losses in zip(tokens, nats, strict=True):
        total += sum(loss for token, loss in zip(some, losses, strict=True) if token not in SPECIAL)
    return total / math.log(2) / sum(len(text) for text in texts)


def without_the_ends(texts, tokens, nats):
    return sum(sum(losses[1:-1]) for losses in nats) / (math.log(2) * len("".join(texts)))


def with_numpy(texts, tokens, nats):
    flat, losses = np.concatenate([list(one) for one in tokens]), np.concatenate([list(one) for one in nats])
    return losses[~np.isin(flat, SPECIAL)].sum() / np.log(2) / sum(map(len, texts))


def bits(unit=LN_2, ends=slice(1, -1), of=len, kept=sum):
    """An answer with another unit, other tokens, another thing to count in a text, or another total."""

    def answer(texts, tokens, nats):
        return kept(sum(losses[ends]) for losses in nats) / unit / sum(map(of, texts))

    return answer


def mean_loss(texts, tokens, nats):
    means = [sum(losses) / len(losses) for losses in nats]
    return sum(means) / len(means)


def mean_of_texts(texts, tokens, nats):
    by_text = [sum(losses[1:-1]) / len(text) for losses, text in zip(nats, texts, strict=True)]
    return sum(by_text) / len(by_text) / math.log(2)


def means_by_token(texts, tokens, nats):
    means = [sum(losses[1:-1]) / (len(losses) - 2) for losses in nats]
    return sum(means) / len(means) / math.log(2)


def by_token(texts, tokens, nats):
    return sum(sum(losses[1:-1]) for losses in nats) / math.log(2) / sum(len(losses) - 2 for losses in nats)


def letters_of_tokens(texts, tokens, nats):
    letters = sum(len(token.removeprefix("##")) for one in tokens for token in one[1:-1])
    return sum(sum(losses[1:-1]) for losses in nats) / math.log(2) / letters


def of_the_last(texts, tokens, nats):
    return sum(nats[-1][1:-1]) / math.log(2) / len(texts[-1])


def of_the_first(texts, tokens, nats):
    return plainly(texts[:1], tokens[:1], nats[:1])


def perplexity(texts, tokens, nats):
    return 2 ** plainly(texts, tokens, nats)


def not_for_a_character(texts, tokens, nats):
    return plainly(texts, tokens, nats) * sum(map(len, texts))


def multiplied(texts, tokens, nats):
    return plainly(texts, tokens, nats) * math.log(2) ** 2


def summed_lists(texts, tokens, nats):
    return sum(nats) / math.log(2) / sum(map(len, texts))


def added_lists(texts, tokens, nats):
    total = 0.0
    for losses in nats:
        total += losses
    return total / math.log(2) / sum(map(len, texts))


def divided_lists(texts, tokens, nats):
    return sum(losses / math.log(2) for losses in nats) / sum(map(len, texts))


def two_conditions(texts, tokens, nats):
    total = 0.0
    for some, losses in zip(tokens, nats, strict=True):
        total += sum(x for token, x in zip(some, losses, strict=True) if token != "[CLS]" or token != "[SEP]")
    return total / math.log(2) / sum(map(len, texts))


def multiplied_by_characters(texts, tokens, nats):
    return sum(sum(losses[1:-1]) for losses in nats) / math.log(2) * sum(map(len, texts))


def by_all_tokens(texts, tokens, nats):
    return sum(sum(losses[1:-1]) for losses in nats) / math.log(2) / sum(map(len, tokens))


def sum_of_texts(texts, tokens, nats):
    by_text = [sum(losses[1:-1]) / len(text) for losses, text in zip(nats, texts, strict=True)]
    return sum(by_text) / math.log(2)


# 21.4 ----------------------------------------------------------------------------------------------------------------


def in_one_formula(once, hour, milliseconds, tokens, prices):
    prompt = (tokens[0] * prices[0] + tokens[1] * prices[1]) / 1e6
    encoder = hour * milliseconds / 3.6e6
    return math.inf if prompt <= encoder else math.floor(once / (prompt - encoder)) + 1


def in_cents_of_a_million(once, hour, milliseconds, tokens, prices):
    saved = sum(t * p for t, p in zip(tokens, prices, strict=True)) - hour * milliseconds / 3.6
    if saved <= 0:
        return float("inf")
    texts = math.ceil(once * 1e6 / saved)
    return texts if texts * saved > once * 1e6 else texts + 1


def by_halving(once, hour, milliseconds, tokens, prices):
    """Finds the number of texts by halving an interval."""
    prompt = np.dot(tokens, prices) / 1e6
    encoder = hour / 3600 * (milliseconds / 1000)
    if not prompt > encoder:
        return np.inf
    low, high = 0, 10**12
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if once + middle * encoder < middle * prompt else (middle, high)
    return high


def paying(encoder_of=lambda hour, ms: hour * ms / 3.6e6, prompt_of=None, finish=lambda exact: math.floor(exact) + 1):
    """An answer with other prices, or another end."""

    def answer(once, hour, milliseconds, tokens, prices):
        encoder = encoder_of(hour, milliseconds)
        prompt = prompt_of(tokens, prices) if prompt_of else np.dot(tokens, prices).item() / 1e6
        return math.inf if prompt <= encoder else finish(once / (prompt - encoder))

    return answer


def negative(once, hour, milliseconds, tokens, prices):
    prompt, encoder = np.dot(tokens, prices).item() / 1e6, hour * milliseconds / 3.6e6
    return math.inf if prompt == encoder else math.floor(once / (prompt - encoder)) + 1


def divided_by_zero(once, hour, milliseconds, tokens, prices):
    prompt, encoder = np.dot(tokens, prices).item() / 1e6, hour * milliseconds / 3.6e6
    return math.inf if prompt < encoder else math.floor(once / (prompt - encoder)) + 1


def infinity_rounded(once, hour, milliseconds, tokens, prices):
    prompt, encoder = np.dot(tokens, prices).item() / 1e6, hour * milliseconds / 3.6e6
    return math.ceil(once / (prompt - encoder) if prompt > encoder else math.inf)


def always_600(once, hour, milliseconds, tokens, prices):
    return in_one_formula(2000 * 0.30, hour, milliseconds, tokens, prices)


def none_at_all(once, hour, milliseconds, tokens, prices):
    found = in_one_formula(once, hour, milliseconds, tokens, prices)
    return 0 if found == math.inf else found


ANSWERS = {
    "21.2": {
        "accepted": [[MARKS, CHANCE, ERRORS], [4.1, 0.98, 3.5], (4, 0.99, 3.45), torch.tensor([4.095, 0.985, 3.48])],
        "wrong": [
            ([0, CHANCE, ERRORS], "chance alone exceeds"),
            ([1, CHANCE, ERRORS], "add up to"),
            ([45, CHANCE, ERRORS], "Half of the differences"),
            ([90, CHANCE, ERRORS], "all of them"),
            ([2.05, CHANCE, ERRORS], "both directions together"),
            ([4.5, CHANCE, ERRORS], "belongs to 1.96"),
            ([0.455, CHANCE, ERRORS], "There are nine"),
            ([0.41, CHANCE, ERRORS], "There are ten"),
            ([0.0455, CHANCE, ERRORS], "chance in one comparison"),
            ([12, CHANCE, ERRORS], "numbers can be added"),
            ([MARKS, 1, ERRORS], "not certain"),
            ([MARKS, 0.0455, ERRORS], "in one comparison"),
            ([MARKS, 90 * 0.0455 * 0.9545**89, ERRORS], "exactly one mark"),
            ([MARKS, 0.0455**90, ERRORS], "*all* 90 are marked"),
            ([MARKS, 1 - 0.0455**90, ERRORS], "not *all* are marked"),
            ([MARKS, CHANCE, 1 - 0.0455 / 180], "a share q"),
            ([MARKS, 0.0151, ERRORS], "no mark at all"),
            ([MARKS, MARKS, ERRORS], "at most 1"),
            ([MARKS, 98.5, ERRORS], "in percent"),
            ([MARKS, 0.5, ERRORS], "multiplied 90 times"),
            ([MARKS, 0.7, ERRORS], "all 90 get none"),
            ([MARKS, CHANCE, 2], "a 90th of it"),
            ([MARKS, CHANCE, 3.285], "Halve the probability"),
            ([MARKS, CHANCE, 2.8], "nine comparisons"),
            ([MARKS, CHANCE, 180], "the errors by 90"),
            ([MARKS, CHANCE, 18.97], "the errors by √90"),
            ([MARKS, CHANCE, 0.0455 / 90], "is it reached"),
            ([MARKS, CHANCE, -ERRORS], "without the sign"),
            ([MARKS, CHANCE, 3.0], "Ask NormalDist"),
            ([MARKS, CHANCE], "a list of three numbers"),
            ("4", "a list of three numbers"),
        ],
    },
    "21.3": {
        "accepted": [plainly, without_the_ends, with_numpy],
        "wrong": [
            (mean_loss, "number of tokens"),
            (bits(ends=slice(None)), "leave their losses out"),
            (bits(unit=1.0), "in nats"),
            (bits(unit=1.0, ends=slice(None)), "leave their losses out"),
            (bits(unit=math.log(10)), "base 10"),
            (by_token, "number of tokens"),
            (bits(of=lambda text: len(text.split())), "for a word"),
            (bits(of=lambda text: len(text.encode())), "counted bytes"),
            (bits(of=lambda text: len(text.replace(" ", ""))), "Spaces are characters"),
            (letters_of_tokens, "Spaces are characters"),
            (mean_of_texts, "mean of the sentences' means"),
            (means_by_token, "number of tokens"),
            (of_the_last, "Only the last"),
            (of_the_first, "Only the first"),
            (perplexity, "Return the bits"),
            (not_for_a_character, "the number of their characters"),
            (multiplied, "multiplied by ln 2"),
            (summed_lists, "one list for each text"),
            (added_lists, "one list for each text"),
            (divided_lists, "one list for each text"),
            (two_conditions, "`and`, not `or`"),
            (bits(unit=2.0), "not 2"),
            (multiplied_by_characters, "Divide by both"),
            (by_all_tokens, "number of tokens"),
            (sum_of_texts, "then divide once"),
            (bits(of=lambda text: 8 * len(text)), "measure the loss"),
            (bits(of=lambda text: sum(sign.isalpha() or sign == " " for sign in text)), "dots are characters"),
        ],
    },
    "21.4": {
        "accepted": [in_one_formula, in_cents_of_a_million, by_halving],
        "wrong": [
            (paying(prompt_of=lambda t, p: t[0] * p[0] + t[1] * p[1]), "took them for one token"),
            (paying(prompt_of=lambda t, p: (t[0] * p[0] + t[1] * p[1]) / 1000), "not for a thousand"),
            (paying(prompt_of=lambda t, p: t[0] * p[0] / 1e6), "output tokens are missing"),
            (paying(prompt_of=lambda t, p: t[1] * p[1] / 1e6), "input tokens are missing"),
            (paying(prompt_of=lambda t, p: sum(t) * p[0] / 1e6), "a price of their own"),
            (paying(prompt_of=lambda t, p: sum(t) * sum(p) / 1e6), "its own price"),
            (paying(prompt_of=lambda t, p: (t[0] * p[1] + t[1] * p[0]) / 1e6), "are swapped"),
            (paying(lambda hour, ms: hour * ms / 3600), "milliseconds for seconds"),
            (paying(lambda hour, ms: hour * ms / 1000), "took it for a second"),
            (paying(lambda hour, ms: hour * ms / 60_000), "took it for a minute"),
            (paying(lambda hour, ms: hour * ms), "3,600,000 milliseconds"),
            (paying(lambda hour, ms: hour), "3,600,000 milliseconds"),
            (paying(lambda hour, ms: 0.0), "core's time is missing"),
            (paying(lambda hour, ms: -hour * ms / 3.6e6), "You added them"),
            (paying(finish=math.floor), "Round up"),
            (paying(finish=lambda exact: exact), "a whole number"),
            (paying(finish=math.ceil), "but not cheaper"),
            (paying(lambda hour, ms: hour * ms // 3_600_000), "or nearly 0"),
            (paying(lambda hour, ms: hour * ms / 1e6), "not a million"),
            (paying(lambda hour, ms: hour / 3600), "milliseconds are missing"),
            (paying(lambda hour, ms: ms / 3.6e6), "multiply by `hour`"),
            (paying(lambda hour, ms: hour * ms / 1000 * 3600), "a million texts cost"),
            (paying(lambda hour, ms: ms / hour / 3.6e6), "a million texts cost"),
            (paying(prompt_of=lambda t, p: sum(t) * max(p) / 1e6), "the first one"),
            (paying(prompt_of=lambda t, p: (t[0] * p[0] + t[1] * p[1]) / 1e9), "six zeros"),
            (paying(prompt_of=lambda t, p: np.array(t) * np.array(p) / 1e6), "Add them"),
            (paying(prompt_of=lambda t, p: t * p[0] / 1e6), "are pairs"),
            (paying(prompt_of=lambda t, p: t["input"] * p["input"]), "are pairs"),
            (always_600, "Use `once`"),
            (paying(finish=round), "Round up"),
            (negative, "no number of texts pays"),
            (divided_by_zero, "never gets cheaper"),
            (infinity_rounded, "can't be rounded"),
            (none_at_all, "no number of texts pays"),
        ],
    },
}
