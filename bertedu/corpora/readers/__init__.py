"""Files in the public formats: plain text to pre-train on, and labelled data of each task."""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.corpora.readers.columns import read_conll, read_conllu
    from bertedu.corpora.readers.folders import read_files_by_label, read_folders_by_label
    from bertedu.corpora.readers.json_lines import read_json_lines
    from bertedu.corpora.readers.labelled import Answer, Choices, LabelledText, Question, Summary, TaggedWords
    from bertedu.corpora.readers.plain_text import files_corpus, read_documents, text_documents
    from bertedu.corpora.readers.squad import read_squad
    from bertedu.corpora.readers.tables import read_table
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = [
    "Answer",
    "Choices",
    "LabelledText",
    "Question",
    "Summary",
    "TaggedWords",
    "files_corpus",
    "read_conll",
    "read_conllu",
    "read_documents",
    "read_files_by_label",
    "read_folders_by_label",
    "read_json_lines",
    "read_squad",
    "read_table",
    "text_documents",
]
