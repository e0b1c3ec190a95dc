"""A tag for each word, such as parts of speech. Notebook 11."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bertedu.corpora.readers import TaggedWords
from bertedu.corpora.task_data import read_tagged
from bertedu.errors import UserError
from bertedu.finetuning.explaining import Mistake
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.spans import Span, are_entities, tag_spans
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import CrfTagger, Tagger, TaggingTask, tags_of
from bertedu.finetuning.tagging_baselines import tagging_baselines
from bertedu.finetuning.task import TAGS, Pictures
from bertedu.segmentation import joined
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures, Measure

HELP = """
tagging: a tag for each word, such as parts of speech                        .conllu, .conll, .jsonl
    bertedu finetune tagging --data train.conllu --validation dev.conllu --test test.conllu
"""
OF_ENTITIES = (
    "Entities by type. Other boundaries: something was found that shares a word with the right entity, but has "
    "other ends. Missed: nothing was. Invented: the model found one where there is none."
)


class Tagging(TaggingTask):
    """Tags of any form; where they are those of entities, whole entities count."""

    scheme: str | None = None
    networks = (Tagger, CrfTagger)
    options = ("crf",)
    use = TAGS
    pipeline = "token-classification"
    row_types = MappingProxyType(
        {
            **{"words": list[str], "tags": list[str], "prediction": list[str]},
            **{"probability": list[float], "mistake": float},
        }
    )

    @classmethod
    def read_rows(cls, path: str, split: str = "train", train: Sequence[TaggedWords] = ()) -> list[TaggedWords]:
        """Sentences with a tag for each word, of which there must be two."""
        rows = read_tagged(path, scheme=cls.scheme, labels=tags_of(train) if train else None, split=split)
        if not train and len(found := tags_of(rows)) < 2:
            raise UserError(f"{path}: every word has the tag {found[0]!r}: add sentences with others.")
        return rows

    @classmethod
    def make(cls, train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):  # type: ignore
        """A tagger for the tags of the data."""
        labels = tags_of([*train, *validation])
        network = with_new_head(CrfTagger if settings.crf else Tagger, model, settings, labels=labels)
        return network, cls(train, validation, tokenizer, settings, labels)

    @classmethod
    def baselines(cls, train: Sequence[TaggedWords], test: Sequence[TaggedWords]) -> Figures:
        """The word's most frequent tag, and a linear model over words and neighbours."""
        return tagging_baselines(train, test)

    @classmethod
    def measure(cls, name: str) -> Measure | None:
        """ "f1_person" is the F1 of person."""
        named = {"f1": "F1", "macro_f1": "macro F1"}.get(name, name.replace("_", " "))
        return Measure(f"F1 of {name[3:]}" if name.startswith("f1_") else named, form=".3f")

    @classmethod
    def check_row(cls, row: Mapping[str, Any], place: str) -> None:
        """Each word has all of its values."""
        super().check_row(row, place)
        if len({len(row[name]) for name in ("words", "tags", "prediction", "probability")}) > 1:
            raise UserError(
                f"{place}: there are not as many tags, predictions and probabilities as words: run it again."
            )

    @classmethod
    def in_words(cls, row: Mapping[str, Any]) -> Mistake:
        """The entities that were missed and those that were found instead, or the words whose tags are wrong."""
        words, tags, prediction, sure = row["words"], row["tags"], row["prediction"], row["probability"]
        if are_entities((*tags, *prediction)):
            right, found = tag_spans(tags), tag_spans(prediction)
            missed = [entity(words, span) for span in right if span not in found]
            # As sure as it is of the least sure word.
            wrong = [f"{entity(words, one)} ({min(sure[one[1] : one[2]]):.0%})" for one in found if one not in right]
            return Mistake(joined(words), ", ".join(missed) or "no entity", ", ".join(wrong) or "no entity")
        places = [i for i, (a, b) in enumerate(zip(tags, prediction, strict=True)) if a != b]
        return Mistake(
            joined(words),
            ", ".join(f"{words[i]} {tags[i]}" for i in places),
            ", ".join(f"{words[i]} {prediction[i]} ({sure[i]:.0%})" for i in places),
        )

    @classmethod
    def sure_and_right(cls, rows: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[bool]]:
        """Word by word."""
        sure = [share for row in rows for share in row["probability"]]
        return sure, [a == b for row in rows for a, b in zip(row["tags"], row["prediction"], strict=True)]

    @classmethod
    def pictures(cls, rows: Sequence[Mapping[str, Any]], draw: Any, **decided: float) -> Pictures:
        """Entities by type, or which tag is taken for which; and how sure the model is."""
        right, found = [row["tags"] for row in rows], [row["prediction"] for row in rows]
        words = [[tag for tags in of_rows for tag in tags] for of_rows in (right, found)]
        if are_entities([*words[0], *words[1]]):
            said = (draw.entity_confusion(right, found), OF_ENTITIES)
        else:
            picture = draw.confusion_matrix(*words, "words")
            said = (picture, "Which tag is taken for which. What is right is on the diagonal.")
        return {"confusion": said, **super().pictures(rows, draw)}


def entity(words: Sequence[str], span: Span) -> str:
    """An entity of a sentence as "John Smith [person]"."""
    kind, start, end = span
    return f"{joined(words[start:end])} [{kind}]"


TASK = Tagging
