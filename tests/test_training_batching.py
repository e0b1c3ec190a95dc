"""Batches by length: each thing once, and neighbours of about one length."""

from bertedu.training.batching import bucketed


def test_nothing_is_lost_and_things_of_one_length_meet():
    words = ["aaaa", "b", "ccc", "dd", "e", "ffffff", "g"]
    assert bucketed(words, len, 2, pool=4) == [["b", "dd"], ["ccc", "aaaa"], ["e", "g"], ["ffffff"]]
    assert bucketed(words, len, 3, pool=7) == [["b", "e", "g"], ["dd", "ccc", "aaaa"], ["ffffff"]]
    assert bucketed([], len, 3, pool=7) == []
