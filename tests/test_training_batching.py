"""Batches by length: each thing once, and neighbours of about one length."""

from bertedu.training.batching import bucketed


def test_a_thing_is_lost_or_meets_others_of_another_length():
    words = ["aaaa", "b", "ccc", "dd", "e", "ffffff", "g"]
    assert bucketed(words, len, 2, pool=4) == [["b", "dd"], ["ccc", "aaaa"], ["e", "g"], ["ffffff"]]
    assert bucketed(words, len, 3, pool=7) == [["b", "e", "g"], ["dd", "ccc", "aaaa"], ["ffffff"]]
    assert bucketed([], len, 3, pool=7) == []
