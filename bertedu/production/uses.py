"""What a saved model can be used for in a service: classes, scores, tags, answers, masked words, vectors.

The name in a folder's config.json decides, for every member of the family.
"""

from pathlib import Path

from bertedu.checkpoints.folder import find_folder
from bertedu.config import TaskConfig, architecture_of
from bertedu.errors import UserError
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.question_answering import SpanFinder
from bertedu.finetuning.similarity import SentenceEncoder
from bertedu.finetuning.tagging import CrfTagger, Tagger
from bertedu.inference import check_fills, open_filler
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import architecture, architecture_in
from bertedu.model.heads import MaskedLM
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import Tokenizer

CLASSES, SEVERAL, SCORE, TAGS = "classes", "several classes", "score", "tags"
ANSWERS, VECTORS, WORDS = "answers", "vectors", "words"
OF_PROBLEM = {
    "single_label_classification": CLASSES,
    "multi_label_classification": SEVERAL,
    "regression": SCORE,
}
FINE_TUNED = (TextClassifier, Tagger, CrfTagger, SpanFinder, SentenceEncoder)
FILLERS = (MaskedLM.kind, BertForPreTraining.kind)


def use_of(folder: Path) -> str:
    """What the model in a folder is used for. Raises UserError for one that is not exported here."""
    member, name = architecture_in(folder), architecture_of(folder)
    if name == member.class_name(TextClassifier.kind):
        return OF_PROBLEM[TaskConfig.load(folder).problem_type]
    if name in (member.class_name(Tagger.kind), member.class_name(CrfTagger.kind)):
        return TAGS
    if name == member.class_name(SpanFinder.kind):
        return ANSWERS
    if name == member.class_name(SentenceEncoder.kind):
        return VECTORS
    if name in map(member.class_name, FILLERS) and member.for_masked_lm is None:
        return WORDS
    raise UserError(
        f"{folder} holds a {name or 'model without a name'}, which is not exported: give a model for classes, scores, "
        "tags, answers, similarity or masked words (of a member that reads all tokens at once)."
    )


def open_to_export(name: str | Path) -> tuple[PretrainedModel, Tokenizer, str]:
    """The model, its tokenizer and its use. Raises UserError for a model that is not exported."""
    folder = find_folder(name)
    use = use_of(folder)
    if use == WORDS:
        filler, tokenizer = open_filler(folder)
        check_fills(filler)
        return filler, tokenizer, use
    member = architecture_in(folder)
    of_name = {member.class_name(kind.kind): kind for kind in FINE_TUNED}
    model = of_name[architecture_of(folder)].from_pretrained(folder)
    return model, member.tokenizer.from_pretrained(folder), use


def use_of_model(model: PretrainedModel) -> str:
    """The same of a model in memory."""
    if isinstance(model, TextClassifier):
        return OF_PROBLEM[model.task_config.problem_type]
    if isinstance(model, Tagger):
        return TAGS
    if isinstance(model, SpanFinder):
        return ANSWERS
    if isinstance(model, SentenceEncoder):
        return VECTORS
    if hasattr(model, "masked_lm") and architecture(model.config.model_type).for_masked_lm is None:
        return WORDS
    raise UserError(
        f"a {type(model).__name__} is not exported: give a model for classes, scores, tags, answers, vectors or words."
    )
