"""Text to learn from: documents in, documents out, whatever they come from."""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.corpora.documents import Corpus, Document
    from bertedu.corpora.loading import load_corpus
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = ["Corpus", "Document", "load_corpus"]
