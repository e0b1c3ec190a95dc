"""The lot that decides which templates training never shows."""

import re
from collections import Counter

from bertedu.corpora.world.facts import kinds
from bertedu.corpora.world.unseen_templates import KNOWN_IN_RELATION, KNOWN_RELATIONS, draw_unseen, word_distance, words


def plain(template: str) -> str:
    """A template without articles and punctuation, in small letters, a space around each word."""
    found = re.findall(r"\{[^}]*\}|\w+", template.lower().replace("{a ", "{"))
    return f" {' '.join(word for word in found if word not in ('a', 'an', 'the'))} "


def test_no_unseen_template_is_a_training_template_in_other_clothes():
    """Such as "Books say that the capital of {country} is {capital}." beside the same without "Books say that"."""
    for kind in kinds():
        for relation in kind.relations:
            for unseen in map(plain, relation.unseen):
                for train in map(plain, relation.train):
                    assert train not in unseen and unseen not in train, (unseen, train)
                    assert word_distance(unseen.split(), train.split()) >= 3, (unseen, train)


def test_word_distance_counts_changes_insertions_and_losses():
    assert word_distance("kitten", "sitting") == 3  # letters in place of words
    assert word_distance([], ["so", "far"]) == word_distance(["so", "far"], []) == 2
    assert word_distance("abc", "bca") == 2


def test_lot_leaves_each_word_of_a_drawn_template_in_training():
    templates = ["{x} now lies near {y} at noon.", "At noon near {y} now lies {x}."]
    others = [f"{{x}} now lies near {{y}} at noon and it is {n} times so." for n in range(KNOWN_IN_RELATION - 1)]
    drawn = draw_unseen({"relation": templates + others})["relation"]
    assert len(drawn) == 1  # with both gone, too few of the templates that training keeps would say "noon"


def test_a_word_of_another_relation_alone_does_not_make_a_template_known():
    """Else an unseen template would ask what a word means: how should one know that "home" is where an animal lives?"""
    told = ["{x} lives in {y}.", "In {y} lives {x}.", "{y} is where {x} lives.", "The home of {x} is called {y} here."]
    homes = [f"The home {n} is called {{x}} here and the home {n} of {{y}}." for n in range(9)]
    assert "The home of {x} is called {y} here." not in draw_unseen({"lives": told, "homes": homes})["lives"]


def test_every_word_of_an_unseen_template_is_known_from_training():
    """By its own relation, or by so many relations that it belongs to none of them."""
    relations = [relation for kind in kinds() for relation in kind.relations]
    counts = {id(r): Counter(word for text in r.train for word in set(words(text))) for r in relations}
    for relation in relations:
        for word in {word for text in relation.unseen for word in words(text)}:
            widely = sum(count[word] > 1 for count in counts.values())
            # Drawing goes on after a template is taken: its words may lose one relation that used them.
            assert counts[id(relation)][word] >= KNOWN_IN_RELATION or widely >= KNOWN_RELATIONS - 1, (word, relation)
