"""Answers to exercise 20.4: right ones, and mistakes with the words that they must hear."""

import torch

# 20.4 ------------------------------------------------------------------------------------------------------------

ENGLISH, TARGET, TEST = "english validation", "target validation", "target test"


def by_max(candidates):
    def best(key):
        return max(candidates, key=lambda one: one[key])[TEST]

    return {"zero-shot": best(ENGLISH), "oracle": best(TARGET)}


def in_tensors(candidates):
    return {name: torch.tensor(number) for name, number in by_max(candidates).items()}


def by_sorting(candidates):
    honest = sorted(candidates, key=lambda one: -one[ENGLISH])[0]
    oracle = sorted(candidates, key=lambda one: one[TARGET], reverse=True)[0]
    return {"oracle": oracle[TEST], "zero-shot": honest[TEST]}


def by_a_loop(candidates):
    honest = oracle = candidates[0]
    for one in candidates[1:]:
        honest = one if one[ENGLISH] > honest[ENGLISH] else honest
        oracle = one if one[TARGET] > oracle[TARGET] else oracle
    return {"zero-shot": honest[TEST], "oracle": oracle[TEST]}


def chosen(honest_key, oracle_key, honest_report=TEST, oracle_report=TEST):
    def answer(candidates):
        honest = max(candidates, key=lambda one: one[honest_key])
        oracle = max(candidates, key=lambda one: one[oracle_key])
        return {"zero-shot": honest[honest_report], "oracle": oracle[oracle_report]}

    return answer


def the_last_of_equals(candidates):
    return by_max(candidates[::-1])


def ties_by_the_target(candidates):
    honest = max(candidates, key=lambda one: (one[ENGLISH], one[TARGET]))
    return {"zero-shot": honest[TEST], "oracle": by_max(candidates)["oracle"]}


def ties_by_the_test(candidates):
    oracle = max(candidates, key=lambda one: (one[TARGET], one[TEST]))
    return {"zero-shot": by_max(candidates)["zero-shot"], "oracle": oracle[TEST]}


def the_mean(candidates):
    mean = sum(one[TEST] for one in candidates) / len(candidates)
    return {"zero-shot": mean, "oracle": by_max(candidates)["oracle"]}


def the_first(candidates):
    return {"zero-shot": candidates[0][TEST], "oracle": by_max(candidates)["oracle"]}


def whole_candidates(candidates):
    honest = max(candidates, key=lambda one: one[ENGLISH])
    return {"zero-shot": honest, "oracle": honest}


def a_pair(candidates):
    return tuple(by_max(candidates).values())


def without_a_key(candidates):
    return max(candidates)


def other_keys(candidates):
    return {"english": 0.58, "target": 0.66}


def wrong_names(candidates):
    return {"zero-shot": max(candidates, key=lambda one: one["english"])["test"], "oracle": 0}


ANSWERS = {
    "20.4": {
        "accepted": [by_max, by_sorting, by_a_loop, in_tensors],
        "wrong": [
            (chosen(TEST, TARGET), "worst leak of all"),
            (chosen(TARGET, TARGET), "that is the oracle, not zero-shot"),
            (chosen(ENGLISH, TEST), "oracle chooses by validation data"),
            (chosen(ENGLISH, ENGLISH), "That is the zero-shot candidate"),
            (chosen(ENGLISH, TARGET, ENGLISH), "reported its English accuracy"),
            (chosen(ENGLISH, TARGET, TARGET), "reported its *validation* accuracy"),
            (chosen(ENGLISH, TARGET, TEST, TARGET), "Report its target test accuracy"),
            (the_last_of_equals, "the first one is to be taken"),
            (ties_by_the_target, "the first one is to be taken"),
            (ties_by_the_test, "take the first of them"),
            (the_mean, "mean over all candidates"),
            (the_first, "first candidate"),
            (whole_candidates, "a whole candidate"),
            (a_pair, "should be a dictionary"),
            (without_a_key, "give it a key"),
            (other_keys, "But its keys are"),
            (wrong_names, "The keys of a candidate are"),
        ],
    }
}
