"""What the playground shows first, fit for what its model has read."""

from typing import Any

HIDDEN = "*"  # stands before the word that is hidden at first
WORLD: dict[str, Any] = {
    "about": "This one is very small: it has read only about countries, languages, animals, metals and a few other "
    "things. Ask it about these.",
    "samples": (
        "The people of Brazil speak *Portuguese.",
        "*Paris is the capital of France.",
        "A young cow is called a *calf.",
        "She sat on the *bank of the river.",
    ),
    "changed": "The people of France speak Portuguese.",
    "other": "The people of Portugal speak Portuguese.",
    "second": "The capital of Brazil is Brasilia.",
    "word": "bank",
    "head": (1, 1),  # to which the answer about Brazil listens
    "sentences": (
        "She sat on the bank of the river.",
        "He brought his money to the bank.",
        "They walked along the bank of the river.",
        "The bank lends money.",
    ),
}
ANY: dict[str, Any] = {
    "about": "This one is small and has read little: what it says of the world is often wrong.",
    "samples": (
        "He looked at the *door and said nothing.",
        "The keys near the old lamp *were wet.",
        "She went to the *house in the morning.",
    ),
    "changed": "He looked at the sea and said nothing.",
    "other": "She saw the window and did not speak.",
    "second": "Then he opened it and went out.",
    "word": "light",
    "sentences": (
        "The light of the lamp fell on the table.",
        "The box was light enough to carry.",
        "There was no light in the room.",
        "She had a light heart that day.",
    ),
}
DOCUMENTATION: dict[str, Any] = {
    "about": "This one has read the documentation of Python packages: ask it about functions, files and lists.",
    "samples": (
        "The function *returns a list of strings.",
        "If the file does not *exist, an error is raised.",
        "The default value is *None.",
    ),
    "changed": "The method returns a list of strings.",
    "other": "The method gives a tuple of strings.",
    "second": "The list is empty if no file was found.",
    "word": "key",
    "sentences": (
        "The key of the dictionary is a string.",
        "Each key has one value.",
        "Press a key to stop the program.",
        "The key was pressed twice.",
    ),
}
OF = {"world": WORLD, "documentation": DOCUMENTATION}


def start_for(corpus: str) -> dict[str, Any]:
    """What the model has read, in a sentence; the samples, each a text and the numbers of its hidden words; and the
    state in which the page begins.
    """
    found = OF.get(corpus, ANY)
    samples = [sample(marked) for marked in found["samples"]]
    layer, head = found.get("head", (0, 0))
    return {
        "about": found["about"],
        "samples": samples,
        "start": {
            **samples[0],
            "view": "attention",
            "layer": layer,
            "head": head,
            "token": None,
            "changed": found["changed"],
            "ablated": [],
            "hidden": [],
            "swapped": None,
            "temperature": 1,
            "other": found["other"],
            "depth": 2,
            "second": found["second"],
            "word": found["word"],
            "sentences": "\n".join(found["sentences"]),
            "step": "embeddings.token",
        },
    }


def sample(marked: str) -> dict[str, Any]:
    """The text of a sample, and the number of the word that it hides. Words are counted at spaces: no punctuation
    stands before the hidden one.
    """
    before = marked.partition(HIDDEN)[0]
    return {"text": marked.replace(HIDDEN, ""), "masks": [len(before.split())]}
