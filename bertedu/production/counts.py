"""What a service counts about itself: answers by status, how long they took, how full its batches were."""

from collections import Counter, deque
from typing import Any

import numpy as np

KEPT = 4_096  # of the newest answers' times


def quantile_ms(seconds: "deque[float] | list[float]", share: float) -> float | None:
    """The time within which a share of the answers came, in milliseconds; None without any."""
    return round(1000 * float(np.quantile(list(seconds), share)), 2) if seconds else None


class Counts:
    """Counters since the start, and the times of the newest answers. Memory does not grow with the requests."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.seconds: deque[float] = deque(maxlen=KEPT)
        self.texts = self.from_cache = 0
        self.batches = self.rows = self.tokens = self.padded = 0

    def batch(self, rows: int, tokens: int, padded: int) -> None:
        """Note a batch: its rows, its tokens without padding and with it."""
        self.batches += 1
        self.rows += rows
        self.tokens += tokens
        self.padded += padded

    def request(self, status: int, seconds: float, is_answer: bool) -> None:
        """Note a request. Times are those of answers alone: refusing is quick and would flatter them."""
        self.statuses[status] += 1
        if is_answer and status == 200:
            self.seconds.append(seconds)

    def report(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "requests": sum(self.statuses.values()),
            "by_status": {str(status): count for status, count in sorted(self.statuses.items())},
            "texts": self.texts,
            "from_cache": self.from_cache,
            "latency_ms": {"p50": quantile_ms(self.seconds, 0.5), "p99": quantile_ms(self.seconds, 0.99)},
            "batches": self.batches,
            "rows_per_batch": round(self.rows / self.batches, 2) if self.batches else None,
            "padding_share": round(1 - self.tokens / self.padded, 4) if self.padded else None,
        }
