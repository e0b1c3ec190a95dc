"""What makes a tokenizer of SentencePiece: its pieces, its special tokens and where they stand, its switches, and the
table of characters that came with a checkpoint.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bertedu.errors import UserError, shown
from bertedu.tokenization.charsmap import CharsMap
from bertedu.tokenization.layout import Layout, Template
from bertedu.tokenization.rewriting import Precompiled, Step
from bertedu.tokenization.tokenizer import Tokenizer
from bertedu.tokenization.unigram import Piece, Unigram

Places = tuple[tuple[str, int], ...]


class SentencePieceParts(Tokenizer):
    """The parts of a tokenizer with a Unigram model. `SentencePieceTokenizer` says how they make ids of a text.

    pieces are the model's, with their log probabilities, in the order of their ids; added are tokens with the ids
    after them, of which the model knows nothing. charsmap is the table of characters that came with a checkpoint, if
    any. switches are those of the member. Raises UserError for pieces that are none, and where a special token is
    missing.
    """

    begin_token: ClassVar[str]  # what `transformers` calls bos and eos: beginning and end of a sequence
    end_token: ClassVar[str]
    first_tokens: ClassVar[tuple[str, ...]]  # the special tokens as they are numbered in training, from 0 on
    last_tokens: ClassVar[tuple[str, ...]] = ()  # and those with the last ids
    single: ClassVar[Places]  # the parts of a sequence, "$A" the text, each with its segment
    pair: ClassVar[Places]  # the same for a pair, "$A" and "$B"
    defaults: ClassVar[Mapping[str, bool]] = {}  # the switches and their values, named as in tokenizer_config.json
    spiece_name: ClassVar[str] = "spiece.model"
    splits_at_white_space: ClassVar[bool] = True  # or at plain spaces only, so that others may be part of a piece

    def __init__(
        self,
        pieces: Sequence[Piece],
        added: Sequence[str] = (),
        charsmap: bytes | None = None,
        mask_takes_space_before: bool | None = None,
        **switches: Any,
    ):
        check_pieces(pieces, added, type(self), "pieces")
        if mask_takes_space_before is not None:
            self.mask_takes_space_before = mask_takes_space_before
        super().__init__({token: index for index, token in enumerate((*(piece for piece, _ in pieces), *added))})
        if unknown := set(switches) - set(self.defaults):
            raise UserError(f"{type(self).__name__} has no switch {', '.join(sorted(unknown))}: leave it out.")
        self.switches = {**self.defaults, **switches}
        self.model = Unigram(pieces, self.unk_token_id)
        self.added = list(added)
        self.charsmap = None if charsmap is None else CharsMap(charsmap)
        self.steps = self.rewriting()
        self.layout = Layout(self._template(self.single), self._template(self.pair))

    @classmethod
    def special_tokens(cls) -> list[str]:
        """All special tokens, in the order in which `transformers` adds those that a model lacks."""
        roles = (cls.begin_token, cls.end_token, cls.unk_token, cls.sep_token, cls.pad_token, cls.cls_token)
        return list(dict.fromkeys((*roles, cls.mask_token, *cls.other_special_tokens)))

    @classmethod
    def renumbered(cls, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces of SentencePiece's own file in the order of their ids here."""
        return list(pieces)

    @abstractmethod
    def rewriting(self) -> list[Step]:
        """What is done to the text before it is split, in order."""

    def _template(self, parts: Places) -> Template:
        texts = {"$A": -1, "$B": -2}
        return tuple([(texts[token] if token in texts else self.vocab[token], segment) for token, segment in parts])

    def charsmap_steps(self) -> list[Step]:
        """The table of characters as a step, where there is one."""
        return [] if self.charsmap is None else [Precompiled(self.charsmap)]


def check_pieces(
    pieces: Sequence[Piece], added: Sequence[str], kind: type[SentencePieceParts], source: str | Path
) -> None:
    """Raise UserError for pieces that cannot be the vocabulary of a kind of tokenizer; source: where they are from."""
    seen: dict[str, int] = {}
    for index, token in enumerate((*(piece for piece, _ in pieces), *added)):
        if not isinstance(token, str) or not token:
            raise UserError(f"{source}: the token with id {index} is {shown(token)}: give it a text that is not empty.")
        if token in seen:
            raise UserError(f"{source}: {shown(token)} has the ids {seen[token]} and {index}: remove one of the two.")
        seen[token] = index
    if missing := [token for token in kind.special_tokens() if token not in seen]:
        raise UserError(
            f"{source} lacks {', '.join(missing)}: {kind.__name__} needs {', '.join(kind.special_tokens())}, so add "
            "what is missing or choose the folder of such a tokenizer."
        )
