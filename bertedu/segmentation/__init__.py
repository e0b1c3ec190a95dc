"""Words and sentences of any script, by the rules of Unicode (UAX 29); the one place that knows where they end."""

from bertedu.segmentation.joining import joined
from bertedu.segmentation.sentences import split_sentences
from bertedu.segmentation.words import segments, spaced_words, terms, words

__all__ = ["joined", "segments", "spaced_words", "split_sentences", "terms", "words"]
