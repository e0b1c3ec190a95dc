"""What answers: an exported folder opened, texts in, answers out. One engine for every member and every use."""

from collections.abc import Sequence
from pathlib import Path

from bertedu.checkpoints.folder import find_folder
from bertedu.config import CONFIG, TaskConfig, architecture_of
from bertedu.errors import UserError, shown
from bertedu.files import read_json_object
from bertedu.finetuning.tagging import CrfTagger
from bertedu.finetuning.task import ANSWERS, VECTORS
from bertedu.model.architecture import architecture_in
from bertedu.production.answers import Answer, reader_of
from bertedu.production.checking import with_mask
from bertedu.production.exported import EXPORT, Export
from bertedu.production.questions import Question, ask, batch_of, rows_of
from bertedu.production.sessions import Session, cause
from bertedu.production.uses import use_of


def check_use(folder: Path, about: Export) -> None:
    """Raise UserError where export.json says something else about the model than its config.json."""
    config = architecture_in(folder).config.load(folder)
    right = {
        "use": use_of(folder),
        "labels": TaskConfig.load(folder).labels,
        "max_tokens": config.max_tokens,
        "crf": architecture_of(folder) == architecture_in(folder).class_name(CrfTagger.kind),
    }
    for name, value in right.items():
        if (said := getattr(about, name)) != value:
            place = f"{folder / EXPORT}: {name} is {shown(said)}"
            raise UserError(f"{place}, and the model's config.json says {shown(value)}: export the model again.")


class Engine:
    """A folder that `bertedu export` wrote, ready to answer. threads: on how many a batch is computed.

    Everything is read at the start: the folder may go away afterwards. Raises UserError for a folder that is damaged,
    or whose tokenizer has more tokens than the model.
    """

    def __init__(self, folder: str | Path, threads: int = 1):
        folder = Path(folder)
        self.about = Export.load(folder)
        find_folder(folder)
        self.tokenizer = architecture_in(folder).tokenizer.from_pretrained(folder)
        size = read_json_object(folder / CONFIG, {"vocab_size": int}).get("vocab_size", 0)
        if len(self.tokenizer) > size:
            raise UserError(
                f"{folder}: the tokenizer has {len(self.tokenizer)} tokens and the model knows {size}: "
                "use the tokenizer that was exported with the model."
            )
        check_use(folder, self.about)
        self.session = Session(folder / self.about.graph, threads)
        self.read = reader_of(self.about, self.tokenizer, folder)
        try:
            self.answer([self.ask(*self.example())])
        except UserError:
            raise
        except Exception as error:  # a graph of other inputs or of another output
            raise UserError(f"{folder} does not answer ({cause(error)}): export the model again.") from error

    def example(self) -> tuple[str, str | None]:
        """A text, or a pair, that any model of this use can answer."""
        return with_mask("a", self.about.use), "a" if self.about.use == ANSWERS else None

    def ask(self, text: str, pair: str | None = None) -> Question:
        """A text or pair as numbers. Raises UserError for one that this model cannot answer, with the reason."""
        if self.about.use == VECTORS and pair is not None:
            raise UserError("this model makes a vector of each text: send both as texts and compare their vectors.")
        return ask(self.tokenizer, self.about.use, self.about.max_tokens, text, pair)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers to a batch of questions, computed together."""
        use = self.about.use
        output = self.session.run(batch_of(questions, self.tokenizer, use))
        answers = []
        for row, question in zip(rows_of(output, questions, self.tokenizer, use), questions, strict=True):
            value, confidence = self.read(row, question)
            answers.append(Answer(value, None if confidence is None else float(confidence), question.ids))
        return answers
