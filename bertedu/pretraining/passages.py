"""Passages of one text for masked words alone: whole sentences of one document, as many as fit.

As DOC-SENTENCES in Liu et al. 2019 (RoBERTa), section 4.2, which found that pairs are not needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bertedu.pretraining.sentence_pairs import Stretch, TokenizedText


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch (start, stop) of the tokens of a text."""

    first: Stretch
    second: None = None

    def __len__(self) -> int:
        """Its tokens, without special tokens."""
        return self.first[1] - self.first[0]


class PassageMaker:
    """Cuts a text into passages of at most max_length tokens, special tokens included."""

    def __init__(self, text: TokenizedText, max_length: int, special_tokens: int = 2):
        self.text, self.most = text, max_length - special_tokens

    def passages(self) -> list[Passage]:
        """All of the text, document by document."""
        return [passage for document in range(len(self.text.sources)) for passage in self._from_document(document)]

    def _from_document(self, document: int) -> Iterator[Passage]:
        """Sentences are added as long as they fit; one that is too long for a passage is cut into several."""
        text = self.text
        marks = text.sentences[text.documents[document] : text.documents[document + 1] + 1]
        start = stop = marks[0]
        for end in marks[1:]:
            if end - start > self.most and stop > start:
                yield Passage((start, stop))
                start = stop
            while end - start > self.most:
                yield Passage((start, start + self.most))
                start += self.most
            stop = end
        if stop > start:
            yield Passage((start, stop))
