"""Masked pairs made on the device that trains on them, so that no processor has to keep up with a GPU.

As in `bertedu/pretraining/sentence_pairs.py`: a first segment ends where a sentence ends, and what follows is either
what stands there in the document or begins with a sentence of another document. Two things differ, and both are for
speed. Every row is exactly full, so nothing is padded, attention needs no mask, and all rows have the same number of
masked tokens; a step has long rows or short ones instead. And rows are drawn with replacement, each token of the text
being about equally likely to be read, instead of in passes.

The masks are those of `bertedu/pretraining/masking.py`; with the same random numbers a test finds the same tokens.
Shapes: R rows, T tokens of a row, K masked tokens of a row, S sentences, N tokens of the text.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.pretraining.masking import Draws
from bertedu.pretraining.sentence_pairs import IS_NEXT, NOT_NEXT, TokenizedText
from bertedu.tokenization import BertTokenizer

SPECIAL = 3  # [CLS] A [SEP] B [SEP]


@dataclass(frozen=True)
class Rows:
    """A batch: input_ids and token_type_ids [R, T]; places [R · K], where words are masked in all rows one after the
    other; words [R · K], which they were; is_not_next [R].
    """

    input_ids: Tensor
    token_type_ids: Tensor
    places: Tensor
    words: Tensor
    is_not_next: Tensor


class RowMaker:
    """A text on a device, and the rows that are drawn from it. longest: tokens of the longest row."""

    def __init__(self, text: TokenizedText, tokenizer: BertTokenizer, longest: int, device: torch.device | str):
        self.tokenizer, self.device = tokenizer, torch.device(device)
        marks, documents = torch.tensor(text.sentences), torch.tensor(text.documents)
        sizes = documents.diff()
        of_sentence = torch.arange(len(sizes)).repeat_interleave(sizes)  # [S]
        left = marks[documents[1:]][of_sentence] - marks[:-1]  # tokens from a sentence on to its document's end
        if not len(left) or int(left.max()) < longest - SPECIAL or len(sizes) < 2:
            raise UserError(
                f"no document of the text fills a row of {longest} tokens, or there is only one document: give more "
                "text, or shorter rows."
            )
        order = left.argsort(stable=True)
        # The sentences with enough left are the last ones in this order, and a number below the sum of their lengths
        # chooses one of them: a long one more often, so that tokens are about equally likely.
        lengths = torch.cat([torch.zeros(1, dtype=torch.long), marks.diff()[order].cumsum(0)])
        tensors = (torch.from_numpy(text.tokens), marks, of_sentence, order, left[order], lengths)
        moved = [tensor.to(self.device) for tensor in tensors]
        self.tokens, self.marks, self.document, self.order, self.left, self.lengths = moved

    def draw(self, rows: int, length: int, masked: int, generator: torch.Generator) -> Rows:
        """So many rows of `length` tokens, `masked` of each hidden."""
        ids, first, is_not_next = self.pairs(rows, length, generator)
        shape = ids.shape
        order, fate = (torch.rand(shape, generator=generator, device=self.device) for _ in range(2))
        words = torch.randint(len(self.tokenizer), shape, generator=generator, device=self.device)
        return self.masked(ids, first, is_not_next, masked, Draws(order, fate, words))

    def pairs(self, rows: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Pairs [R, T] with their special tokens, how many tokens the first segment of each has [R], and whether the
        second does not follow [R].
        """
        text = length - SPECIAL
        sentence = self.sentences(torch.full((rows,), text, device=self.device), generator)
        start = self.marks[sentence]
        middle, whole = self.middles(start, text, generator)
        first = middle - start
        # Two other beginnings: where the one lies in the same document, the other is taken; where both do, none.
        others = [self.sentences(text - first, generator) for _ in range(2)]
        one, two = (self.document[other] != self.document[sentence] for other in others)
        wanted = (self.uniform(rows, generator) < 0.5) | ~whole
        is_not_next = wanted & (one | two)
        elsewhere = self.marks[torch.where(one, *others)]
        second = torch.where(is_not_next, elsewhere, middle)
        place = torch.arange(text, device=self.device)[None]  # [1, T - 3]
        begin, split = start[:, None], first[:, None]
        words = self.tokens[torch.where(place < split, begin + place, second[:, None] + place - split)].long()
        labels = torch.where(is_not_next, NOT_NEXT, IS_NEXT)
        return self.with_special_tokens(words, first), first, labels

    def middles(self, start: Tensor, text: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Where the first segment of `text` tokens from `start` on ends, and whether a sentence ends there: [R] each.

        A token is drawn, and the sentence that holds it begins there, or ends there if it is the first one. A sentence
        that goes on to the end of the row is cut: what follows its first part is then from elsewhere, as in a document
        of one sentence.
        """
        spot = start + 1 + (self.uniform(len(start), generator) * (text - 1)).long()
        inside = torch.searchsorted(self.marks, spot, right=True) - 1
        before, after = self.marks[inside], self.marks[inside + 1]
        middle = torch.where(before > start, before, torch.where(after < start + text, after, spot))
        return middle, middle == torch.where(before > start, before, after)

    def sentences(self, needed: Tensor, generator: torch.Generator) -> Tensor:
        """A sentence for each row after whose beginning its document has at least as many tokens as are needed [R]."""
        low = self.lengths[torch.searchsorted(self.left, needed)]
        drawn = low + (self.uniform(len(needed), generator) * (self.lengths[-1] - low)).long()
        return self.order[torch.searchsorted(self.lengths, drawn, right=True) - 1]

    def uniform(self, rows: int, generator: torch.Generator) -> Tensor:
        """Numbers from 0 up to 1 [R]; in float32 not every one of many millions of tokens could be drawn."""
        return torch.rand(rows, generator=generator, device=self.device, dtype=torch.float64)

    def with_special_tokens(self, words: Tensor, first: Tensor) -> Tensor:
        """[CLS] A [SEP] B [SEP] from the words of both segments [R, T - 3]: [R, T]."""
        place = torch.arange(words.size(1) + SPECIAL, device=self.device)[None]
        inside = (place - 1 - (place > first[:, None] + 1).long()).clamp(0, words.size(1) - 1)
        ids = words.gather(1, inside)
        ids[:, 0] = self.tokenizer.cls_token_id
        return torch.where(self.separators(place, first), self.tokenizer.sep_token_id, ids)

    def separators(self, place: Tensor, first: Tensor) -> Tensor:
        """Where the two [SEP] stand: places [1, T] and lengths of first segments [R] to booleans [R, T]."""
        return (place == first[:, None] + 1) | (place == place.size(1) - 1)

    def masked(self, ids: Tensor, first: Tensor, is_not_next: Tensor, masked: int, draws: Draws) -> Rows:
        """The rows with K tokens hidden: 80 % become [MASK], 10 % a random word, 10 % stay."""
        place = torch.arange(ids.size(1), device=self.device)[None]
        special = self.separators(place, first) | (place == 0)
        places = draws.mask_order.masked_fill(special, 2.0).topk(masked, dim=1, largest=False).indices  # [R, K]
        words, fate, random = (tensor.gather(1, places) for tensor in (ids, draws.mask_fate, draws.mask_words))
        seen = torch.where(fate < 0.8, self.tokenizer.mask_token_id, torch.where(fate >= 0.9, random, words))
        offsets = ids.size(1) * torch.arange(len(ids), device=self.device)[:, None]
        types = (place > first[:, None] + 1).long()
        return Rows(ids.scatter(1, places, seen), types, (places + offsets).flatten(), words.flatten(), is_not_next)
