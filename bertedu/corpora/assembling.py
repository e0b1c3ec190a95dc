"""From documents to a corpus: split them, count them, and say what a reader of the numbers must know."""

from collections.abc import Sequence

from bertedu.corpora.documents import Corpus, Document, shared_ngrams, split_documents
from bertedu.segmentation import spaced_words


def corpus_from_documents(name: str, documents: list[Document], origin: str) -> Corpus:
    """A corpus with 1 % of the documents for validation and 2 % held out; origin begins the note on its size.

    The split is by a hash of the text. Of a handful of documents none may fall to validation: a note says so.
    """
    train, validation, heldout = split_documents(documents)
    if not train:  # one or two documents, and the hash put them elsewhere
        train, validation, heldout = documents, [], []
    sentences = sum(len(document.sentences) for document in documents)
    words = sum(len(spaced_words(sentence)) for document in documents for sentence in document.sentences)
    notes = [f"{origin}: {len(documents):,} documents, {sentences:,} sentences, {words:,} words."]
    for part, name_of_part in ((validation, "validation"), (heldout, "held-out")):
        if not part:
            notes.append(f"With so few documents the {name_of_part} set is empty.")
    if heldout:
        overlap = shared_ngrams(train, heldout)
        notes.append(f"{overlap:.1%} of the runs of 8 words in the held-out documents also stand in the training text.")
    return Corpus(name, train, validation, {"held-out documents": heldout}, notes=notes)


def joined_corpora(corpora: Sequence[Corpus]) -> Corpus:
    """One corpus to train on from several; each keeps held-out sets of its own, so that its numbers stand apart."""
    return Corpus(
        name=" and ".join(corpus.name for corpus in corpora),
        train=[document for corpus in corpora for document in corpus.train],
        validation=[document for corpus in corpora for document in corpus.validation],
        heldout={
            f"{name} of {corpus.name}": documents for corpus in corpora for name, documents in corpus.heldout.items()
        },
        fact_probes=[probe for corpus in corpora for probe in corpus.fact_probes],
        sense_reference=[example for corpus in corpora for example in corpus.sense_reference],
        sense_heldout=[example for corpus in corpora for example in corpus.sense_heldout],
        notes=[note for corpus in corpora for note in corpus.notes],
    )
