"""A tag for every word: named entities and parts of speech. Notebook 11.

Devlin et al. 2019, section 5.3: a word's tag is read off its first piece. With a CRF (`crf.py`) the tags of a
sentence are chosen together. Shapes: B batch, T tokens, W words, C tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.config import TaskConfig
from bertedu.corpora.readers import TaggedWords
from bertedu.errors import UserError
from bertedu.finetuning.crf import ConditionalRandomField, are_closed, refuse_forbidden
from bertedu.finetuning.examples import Example, example_of
from bertedu.finetuning.explaining import mistake, rounded
from bertedu.finetuning.head import HeadOutput, TaskModel
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.spans import are_entities, split_tag, tagging_figures
from bertedu.finetuning.task import Batch, FinetuningTask
from bertedu.model.architecture import Backbone
from bertedu.model.heads import IGNORED
from bertedu.tokenization import Tokenizer


@dataclass
class TaggerOutput(HeadOutput):
    """logits [B, T, C]; the loss when labels were given; when first_pieces were given, the numbers of the tags of each
    sentence's words and how likely the model holds each.
    """

    logits: Tensor
    tags: list[list[int]] | None = None
    probabilities: list[list[float]] | None = None


@dataclass(frozen=True, slots=True)
class Tagged:
    """The tags of a sentence's words, and how likely the model holds each for itself."""

    tags: list[str]
    probabilities: list[float]


class Tagger(TaskModel):
    """An encoder, dropout, and a linear layer from each token's vector to the tags. Of BERT:
    BertForTokenClassification, the same as in `transformers`.
    """

    kind = "ForTokenClassification"

    def __init__(self, encoder: Backbone, task_config: TaskConfig):
        super().__init__(encoder, task_config)
        if not task_config.labels:
            raise UserError('there are no labels: give the tags, labels=("O", "B-person", "I-person").')
        self.dropout = nn.Dropout(self.config.head_dropout_prob)
        self.classifier = nn.Linear(self.config.hidden_size, len(task_config.labels))
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        first_pieces: Tensor | None = None,
    ) -> TaggerOutput:
        """labels [B, T]: the tag's number at tokens that are learned, -100 elsewhere. first_pieces [B, T]: 1 at the
        first piece of each word that is to be tagged. The model decodes itself: in whatever it is wrapped (for several
        processes, compiled), the output has the tags.
        """
        vectors = self.token_vectors(input_ids, attention_mask, token_type_ids)
        output = TaggerOutput(self.classifier(self.dropout(vectors)))
        if labels is not None:
            output.summed_loss, output.counted = self.summed_loss(output.logits, labels), (labels != IGNORED).sum()
        if first_pieces is not None:
            first = first_pieces.bool()
            emissions, _, words = pack_words(output.logits.float(), first.long(), first)
            output.tags, shares = self.decode(emissions, words)
            rows = zip(output.tags, shares.tolist(), strict=True)
            output.probabilities = [[of[word][tag] for word, tag in enumerate(tags)] for tags, of in rows]
        return output

    def summed_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """-log p of the right tags, summed over the labelled tokens."""
        return cross_entropy(logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum")

    def decode(self, emissions: Tensor, words: Tensor) -> tuple[list[list[int]], Tensor]:
        """The best tag of each word, as numbers, and how likely each word has each tag, [B, W, C]. emissions
        [B, W, C]; words [B, W] is true where a word is.
        """
        chosen = emissions.argmax(dim=-1)
        return [row[here].tolist() for row, here in zip(chosen, words, strict=True)], emissions.softmax(dim=-1)


class CrfTagger(Tagger):
    """The same with a CRF above it. Labels stand at the first piece of each word; the CRF sees these pieces alone."""

    kind = "CrfForTokenClassification"

    def __init__(self, encoder: Backbone, task_config: TaskConfig):
        super().__init__(encoder, task_config)
        self.crf = ConditionalRandomField(task_config.labels)

    def summed_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """-log p of all tags of a sentence, summed over the sentences: divided by the words it is a figure for a word,
        as the loss without a CRF.
        """
        some = (labels != IGNORED).any(dim=1)  # a sentence without a label has no tags to be likely
        emissions, tags, words = pack_words(logits.float()[some], labels[some], labels[some] != IGNORED)
        return -self.crf.log_likelihood(emissions, tags, words).sum()

    def decode(self, emissions: Tensor, words: Tensor) -> tuple[list[list[int]], Tensor]:
        """The best tags of each sentence together, and how likely each word has each tag over all tag sequences."""
        return self.crf.decode(emissions, words), self.crf.marginals(emissions, words)


BertForTokenClassification, BertCrfForTokenClassification = Tagger, CrfTagger


def pack_words(logits: Tensor, labels: Tensor, first: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What stands at the first pieces, moved to the front: logits [B, W, C], labels [B, W], and where words are [B, W].

    first [B, T] is true at the first piece of each word. W is the number of words of the longest sentence, at least 1.
    """
    words = max([1, *first.sum(dim=1).tolist()])
    order = (~first).long().argsort(dim=1, stable=True)[:, :words]  # first pieces before all else, in their order
    packed = logits.gather(1, order.unsqueeze(-1).expand(-1, -1, logits.size(-1)))
    return packed, labels.gather(1, order), first.gather(1, order)


class TaggingTask(FinetuningTask[TaggedWords]):
    """Learning the tags of words. Scored by entities where tags are BIO or BIOES, else by words.

    labels are the tags in the order of their numbers. label_pieces: "first" labels a word's first piece alone, "all"
    every piece (those that follow a B- with I-). Words after max_length tokens are not learned; when scored they
    count as "O" or as missed. With settings.crf, raises UserError for tags that the CRF's rules forbid.
    """

    def __init__(
        self,
        train: Sequence[TaggedWords],
        validation: Sequence[TaggedWords],
        tokenizer: Tokenizer,
        settings: FinetuningSettings,
        labels: Sequence[str],
        label_pieces: str = "first",
    ):
        if label_pieces not in ("first", "all"):
            raise UserError(f'label_pieces is {label_pieces!r}: choose "first" or "all".')
        if settings.crf and label_pieces == "all":
            raise UserError('a CRF reads one tag for each word: choose label_pieces="first" with it.')
        if settings.crf:
            closes = are_closed(labels)
            for row in (*train, *validation):
                refuse_forbidden(row.words, row.tags, closes)
        self.labels, self.label_pieces = tuple(labels), label_pieces
        self.number = {label: number for number, label in enumerate(self.labels)}
        self.entities = are_entities(self.labels)
        super().__init__(train, validation, tokenizer, settings)

    @property
    def best_by(self) -> str:  # type: ignore[override]
        """F1 of whole entities, or the accuracy over words."""
        return "f1" if self.entities else "accuracy"

    def encode(self, rows: Sequence[TaggedWords]) -> list[Example]:
        """Sentences word by word; first_pieces is 1 at the first piece of each word."""
        return [self.encode_words(row.words, row.tags) for row in rows]

    def encode_words(self, words: Sequence[str], tags: Sequence[str]) -> Example:
        """One sentence as numbers. A word without a piece (a control character) becomes [UNK], so that none is lost.

        Raises UserError for a tag that is none of the labels.
        """
        tokenizer, layout = self.tokenizer, self.tokenizer.layout
        room = self.settings.max_length - layout.special_tokens(pair=False)
        ids, labels, first = [], [], []
        for word, tag in zip(words, tags, strict=True):
            if tag not in self.number:
                raise UserError(f"the tag {tag!r} of the word {word!r} is none of {', '.join(self.labels)}.")
            pieces = tokenizer.encode_after_space(word) or [tokenizer.unk_token_id]
            ids += pieces
            labels += [self.number[tag], *self.rest_labels(tag, len(pieces) - 1)]
            first += [1] + [0] * (len(pieces) - 1)
        ids, labels, first = ids[:room], labels[:room], first[:room]
        beside = {"labels": layout.beside(IGNORED, labels), "first_pieces": layout.beside(0, first)}
        return {**example_of(*layout.sequence(ids)), **beside}

    def rest_labels(self, tag: str, pieces: int) -> list[int]:
        """The labels of the pieces after the first of a word."""
        if self.label_pieces == "first":
            return [IGNORED] * pieces
        position, kind = split_tag(tag)
        inside = f"I-{kind}" if position == "B" else tag
        return [self.number.get(inside, self.number[tag])] * pieces

    def counts(self, batch: Batch) -> dict[str, int]:
        """Labelled tokens."""
        return {"word": int((batch["labels"] != IGNORED).sum())}

    def sums(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """The summed loss of the labelled tokens."""
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"], labels=batch["labels"])
        return {"word_loss": output.summed_loss}

    def read(self, model: nn.Module, batch: Batch) -> list[Tagged]:
        """The tags of each sentence's words, as far as they were not cut off."""
        inputs = [batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")]
        output = model(*inputs, first_pieces=batch["first_pieces"])
        return [
            Tagged([self.labels[number] for number in numbers], shares)
            for numbers, shares in zip(output.tags, output.probabilities, strict=True)
        ]

    def predictions(self, model: nn.Module, rows: Sequence[TaggedWords]) -> list[Tagged]:
        """A tag for every word of each sentence; "O" (or the first label), with probability 0, for words cut off."""
        filler = "O" if "O" in self.number else self.labels[0]
        found = []
        for row, tagged in zip(rows, self.outputs(model, self.encode(rows)), strict=True):
            missing = len(row.words) - len(tagged.tags)
            found.append(Tagged(tagged.tags + [filler] * missing, tagged.probabilities + [0.0] * missing))
        return found

    def predict(self, model: nn.Module, rows: Sequence[TaggedWords]) -> list[list[str]]:
        """The tags alone."""
        return [tagged.tags for tagged in self.predictions(model, rows)]

    def figures(self, rows: Sequence[TaggedWords], predictions: Sequence[Tagged]) -> dict[str, float]:
        """Entity figures, or accuracy and macro F1 over words."""
        return tagging_figures([row.tags for row in rows], [tagged.tags for tagged in predictions], self.entities)

    def explain(self, rows: Sequence[TaggedWords], predictions: Sequence[Tagged]) -> list[dict[str, Any]]:
        """Words, right tags, predicted tags and their probabilities; the mistake is the surest wrong tag's."""
        found = []
        for row, tagged in zip(rows, predictions, strict=True):
            sure = [rounded(share) for share in tagged.probabilities]
            wrong = [share for share, a, b in zip(sure, row.tags, tagged.tags, strict=True) if a != b]
            said = {"words": list(row.words), "tags": list(row.tags), "prediction": tagged.tags, "probability": sure}
            found.append({**said, "mistake": mistake(max(wrong, default=0.0), bool(wrong))})
        return found


def tags_of(rows: Sequence[TaggedWords]) -> tuple[str, ...]:
    """All tags of some sentences: "O" first, the others by name."""
    tags = {tag for row in rows for tag in row.tags}
    return tuple(sorted(tags, key=lambda tag: (tag != "O", *reversed(split_tag(tag)))))
