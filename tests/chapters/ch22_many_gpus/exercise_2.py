"""Answers to exercise 22.2: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.chapters.ch22_many_gpus.exercises.exercise_2 import rule


def scaled(scale, clean_steps, finite, interval):
    if finite:
        clean_steps += 1
        grow = clean_steps == interval
        return True, scale * (2 if grow else 1), 0 if grow else clean_steps
    return [False, scale * 0.5, 0]


def scaled_by_remainder(scale, clean_steps, finite, interval):
    count = (clean_steps + 1) % interval if finite else 0
    return finite, scale / 2 if not finite else scale * 2 if count == 0 else scale, count


def takes_it_anyway(scale, clean_steps, finite, interval):
    return True, *rule(scale, clean_steps, finite, interval)[1:]


def grows_on_overflow(scale, clean_steps, finite, interval):
    return (False, scale * 2, 0) if not finite else rule(scale, clean_steps, finite, interval)


def one_late(scale, clean_steps, finite, interval):
    if not finite:
        return False, scale / 2, 0
    return (True, scale * 2, 0) if clean_steps == interval else (True, scale, clean_steps + 1)


def never_resets(scale, clean_steps, finite, interval):
    taken, following, _ = rule(scale, clean_steps, finite, interval)
    return taken, following, clean_steps + 1


def keeps_the_count(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count if finite else clean_steps


def grows_each_time(scale, clean_steps, finite, interval):
    return (True, scale * 2, 0) if finite else (False, scale / 2, 0)


def scaled_by_tensors(scale, clean_steps, finite, interval):
    clean = torch.tensor(clean_steps + 1) * finite
    full = clean == interval
    factor = torch.where(torch.tensor(finite), torch.where(full, 2.0, 1.0), 0.5)
    return torch.tensor(finite), scale * factor, torch.where(full, 0, clean)


def count_by_and(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, finite and count


def scale_first(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return following, count, taken


def count_second(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, count, following


def in_words(scale, clean_steps, finite, interval):
    return "take it" if finite else "skip it", *rule(scale, clean_steps, finite, interval)[1:]


def skips_instead(scale, clean_steps, finite, interval):
    return not finite, *rule(scale, clean_steps, finite, interval)[1:]


def always_two_thousand(scale, clean_steps, finite, interval):
    return rule(scale, clean_steps, finite, 2000)


def halved_downwards(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following if finite else scale // 2, count


def never_below_one(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, max(following, 1.0), count


def never_above(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, min(following, 65536.0), count


def shrinks_when_complete(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, scale / 2 if following > scale else following, count


def counts_the_bad_step(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count if finite else 1


def never_counts(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, min(count, clean_steps)


def starts_at_one(scale, clean_steps, finite, interval):
    taken, following, count = rule(scale, clean_steps, finite, interval)
    return taken, following, count or int(finite)


def only_two(scale, clean_steps, finite, interval):
    return rule(scale, clean_steps, finite, interval)[1:]


ANSWERS = {
    "22.2": {
        "accepted": [scaled, scaled_by_remainder, scaled_by_tensors, count_by_and],
        "wrong": [
            (takes_it_anyway, "every weight infinite or nan"),
            (grows_on_overflow, "Should S grow"),
            (one_late, "the next S is 1,024 and should be 2,048. This step counts, too"),
            (never_resets, "starts again at zero"),
            (keeps_the_count, "end here: zero"),
            (grows_each_time, "in a row, not after each one"),
            (scale_first, "Return three things in this order"),
            (count_second, "should be the next S, and 1 is the count"),
            (in_words, "should be True or False"),
            (skips_instead, "so the optimizer can use them"),
            (always_two_thousand, "not a fixed number"),
            (halved_downwards, "`//` rounds down"),
            (never_below_one, "has no smallest S"),
            (never_above, "has no largest S"),
            (shrinks_when_complete, "S does not get smaller"),
            (counts_the_bad_step, "not a clean one"),
            (never_counts, "has not been counted"),
            (starts_at_one, "does not count for the new S"),
            (only_two, "returned 2 things"),
        ],
    }
}
