"""A tag for every word: named entities and parts of speech. Notebook 11.

Devlin et al. 2019, section 5.3: a word's tag is read off its first piece. With a CRF (`crf.py`) the tags of a
sentence are chosen together. Shapes: B batch, T tokens, W words, C tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import accuracy_score, f1_score
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig
from bertedu.corpora.readers import TaggedWords
from bertedu.errors import UserError
from bertedu.finetuning.crf import ConditionalRandomField, are_closed, refuse_forbidden
from bertedu.finetuning.examples import Example
from bertedu.finetuning.explaining import mistake, rounded
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.spans import are_entities, entity_figures, split_tag
from bertedu.finetuning.task import Batch, FinetuningTask
from bertedu.model.bert import BertModel
from bertedu.model.heads import IGNORED
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import BertTokenizer


@dataclass
class TaggerOutput:
    """logits [B, T, C], and the loss when labels were given."""

    logits: Tensor
    loss: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Tagged:
    """The tags of a sentence's words, and how likely the model holds each for itself."""

    tags: list[str]
    probabilities: list[float]


class BertForTokenClassification(PretrainedModel):
    """BERT, dropout, and a linear layer from each token's vector to the tags. The same as in `transformers`."""

    def __init__(self, config: BertConfig):
        super().__init__(config)
        if not config.labels:
            raise UserError('the config has no labels: give the tags, labels=("O", "B-person", "I-person").')
        self.bert = BertModel(config, add_pooling_layer=False)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, len(config.labels))
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> TaggerOutput:
        """labels [B, T]: the tag's number at tokens that are learned, -100 elsewhere; the loss is their mean."""
        vectors = self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state
        logits = self.classifier(self.dropout(vectors))
        loss = None
        if labels is not None:
            loss = cross_entropy(logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
        return TaggerOutput(logits, loss)


class BertCrfForTokenClassification(BertForTokenClassification):
    """The same with a CRF above it. Labels stand at the first piece of each word; the CRF sees these pieces alone."""

    def __init__(self, config: BertConfig):
        super().__init__(config)
        self.crf = ConditionalRandomField(config.labels)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> TaggerOutput:
        """The loss is -log p of all tags of a sentence, divided by the words of the batch: a figure for a word, as
        the loss without a CRF.
        """
        output = super().forward(input_ids, attention_mask, token_type_ids)
        if labels is not None:
            emissions, tags, words = pack_words(output.logits.float(), labels, labels != IGNORED)
            output.loss = -self.crf.log_likelihood(emissions, tags, words).sum() / words.sum()
        return output


def pack_words(logits: Tensor, labels: Tensor, first: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What stands at the first pieces, moved to the front: logits [B, W, C], labels [B, W], and where words are [B, W].

    first [B, T] is true at the first piece of each word. W is the number of words of the longest sentence.
    """
    words = int(first.sum(dim=1).max())
    order = (~first).long().argsort(dim=1, stable=True)[:, :words]  # first pieces before all else, in their order
    packed = logits.gather(1, order.unsqueeze(-1).expand(-1, -1, logits.size(-1)))
    return packed, labels.gather(1, order), first.gather(1, order)


class TaggingTask(FinetuningTask[TaggedWords]):
    """Learning the tags of words. Scored by entities where tags are BIO or BIOES, else by words.

    labels are the tags in the order of their numbers. label_pieces: "first" labels a word's first piece alone, "all"
    every piece (those that follow a B- with I-). Words behind max_length tokens are not learned; when scored they
    count as "O" or as missed. With settings.crf, raises UserError for tags that the CRF's rules forbid.
    """

    def __init__(
        self,
        train: Sequence[TaggedWords],
        validation: Sequence[TaggedWords],
        tokenizer: BertTokenizer,
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
        tokenizer, room = self.tokenizer, self.settings.max_length - 2
        ids, labels, first = [], [], []
        for word, tag in zip(words, tags, strict=True):
            if tag not in self.number:
                raise UserError(f"the tag {tag!r} of the word {word!r} is none of {', '.join(self.labels)}.")
            pieces = tokenizer.encode(word) or [tokenizer.unk_token_id]
            ids += pieces
            labels += [self.number[tag], *self.rest_labels(tag, len(pieces) - 1)]
            first += [1] + [0] * (len(pieces) - 1)
        ids, labels, first = ids[:room], labels[:room], first[:room]
        return {
            "input_ids": [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id],
            "token_type_ids": [0] * (len(ids) + 2),
            "attention_mask": [1] * (len(ids) + 2),
            "labels": [IGNORED, *labels, IGNORED],
            "first_pieces": [0, *first, 0],
        }

    def rest_labels(self, tag: str, pieces: int) -> list[int]:
        """The labels of the pieces behind the first of a word."""
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
        labels = batch["labels"]
        output = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"], labels=labels)
        return {"word_loss": output.loss * (labels != IGNORED).sum()}

    def read(self, model: nn.Module, batch: Batch) -> list[Tagged]:
        """The tags of each sentence's words, as far as they were not cut off."""
        logits = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"]).logits.float()
        first = batch["first_pieces"].bool()
        emissions, _, words = pack_words(logits, first.long(), first)
        if isinstance(model, BertCrfForTokenClassification):
            shares, numbers = model.crf.marginals(emissions, words), model.crf.decode(emissions, words)
        else:
            shares, chosen = emissions.softmax(dim=-1), emissions.argmax(dim=-1)
            numbers = [row[here].tolist() for row, here in zip(chosen, words, strict=True)]
        return [
            Tagged([self.labels[number] for number in row], [float(of[word, n]) for word, n in enumerate(row)])
            for row, of in zip(numbers, shares.cpu(), strict=True)
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


def tagging_figures(right: Sequence[Sequence[str]], found: Sequence[Sequence[str]], entities: bool) -> dict[str, float]:
    """What is reported for tags: by entities (see `spans.py`) or by words."""
    true_words, found_words = [tag for row in right for tag in row], [tag for row in found for tag in row]
    accuracy = float(accuracy_score(true_words, found_words))
    if entities:
        return {**entity_figures(right, found), "accuracy": accuracy}
    return {
        "accuracy": accuracy,
        "macro_f1": float(f1_score(true_words, found_words, average="macro", zero_division=0)),
    }


def tags_of(rows: Sequence[TaggedWords]) -> tuple[str, ...]:
    """All tags of some sentences: "O" first, the others by name."""
    tags = {tag for row in rows for tag in row.tags}
    return tuple(sorted(tags, key=lambda tag: (tag != "O", *reversed(split_tag(tag)))))
