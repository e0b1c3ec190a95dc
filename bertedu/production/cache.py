"""Answers kept by the digest of what was asked: an equal text is answered without the model.

The digest is keyed with a secret of this process. A plain SHA-256 of a short text in a log can be found by trying all
likely texts; with the key it says only that two texts of one run were equal.
"""

import hashlib
import secrets
from collections import OrderedDict

from bertedu.production.protocol import Asked

DIGEST_BYTES = 16
LARGEST = 16_384  # bytes of an answer that is kept


class Digests:
    """Digests of texts, the same for equal ones as long as the process lives."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)

    def of(self, asked: Asked) -> str:
        """The digest of a text or pair. A text with a pair is never equal to one without, or split elsewhere."""
        first = asked.text.encode()
        found = hashlib.blake2b(len(first).to_bytes(8), digest_size=DIGEST_BYTES, key=self.key)
        found.update(first)
        if asked.pair is not None:
            found.update(b"\x01" + asked.pair.encode())
        return found.hexdigest()


class Cache:
    """At most `most` answers, written out as bytes of JSON; the one that was longest not asked for makes room."""

    def __init__(self, most: int):
        self.most = most
        self.answers: OrderedDict[str, bytes] = OrderedDict()

    def get(self, digest: str) -> bytes | None:
        """The answer, or None."""
        found = self.answers.get(digest)
        if found is not None:
            self.answers.move_to_end(digest)
        return found

    def put(self, digest: str, answer: bytes) -> None:
        """Keep an answer, unless it is a large one."""
        if not self.most or len(answer) > LARGEST:
            return
        self.answers[digest] = answer
        self.answers.move_to_end(digest)
        while len(self.answers) > self.most:
            self.answers.popitem(last=False)

    def __len__(self) -> int:
        return len(self.answers)
