"""Trains an encoder that finds the passage for a question, with in-batch negatives, and measures it."""

import torch
from torch import nn
from torch.nn import functional as F

TOPICS, WORDS_OF_A_TOPIC = 24, 6  # the words of topic n are the ids from 6 n to 6 n + 5
PAD = TOPICS * WORDS_OF_A_TOPIC
TEMPERATURE = 0.1


class Encoder(nn.Module):
    """The sum of the embeddings of a text's words, padding left out: [B, T] -> [B, D]."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.EmbeddingBag(PAD + 1, 32, mode="sum", padding_idx=PAD)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embeddings(ids)


def texts_about(topics: torch.Tensor, length: int, seed: int) -> torch.Tensor:
    """A text of random words for each topic: [B, length]."""
    words = torch.randint(0, WORDS_OF_A_TOPIC, (len(topics), length), generator=torch.Generator().manual_seed(seed))
    return topics.unsqueeze(-1) * WORDS_OF_A_TOPIC + words


def contrastive_loss(questions: torch.Tensor, passages: torch.Tensor, passage_ids: torch.Tensor) -> torch.Tensor:
    """Row n of the questions belongs to row n of the passages, both [B, D]; the other passages are the negatives.

    passage_ids [B] says which passage a row is: several questions may have the same one.
    """
    if len(passage_ids) != len(passages):
        raise ValueError("one id for each passage")
    similarity = F.normalize(questions, dim=-1) @ F.normalize(passages, dim=-1).T
    return F.cross_entropy(similarity / TEMPERATURE, torch.arange(len(questions)))


def search(questions: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
    """For each question the indices of all passages, the most similar first: [Q, P]."""
    return (questions @ passages.T).argsort(dim=-1, descending=True)


def mean_reciprocal_rank(found: torch.Tensor, right: torch.Tensor) -> float:
    """found [Q, P] as `search` gives it, right [Q] the passage that answers: the mean of 1 / rank."""
    ranks = (found == right.unsqueeze(-1)).float().argmax(dim=-1) + 1
    return (1 / (ranks + 1)).mean().item()


def train(encoder: Encoder, steps: int) -> float:
    """The mean loss of the last ten steps. A batch has 32 questions about 24 passages."""
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.02)
    passages = passages_of_all_topics()
    losses = []
    for step in range(steps):
        topics = torch.randint(0, TOPICS, (32,), generator=torch.Generator().manual_seed(step))
        questions = texts_about(topics, 4, seed=1000 + step)
        loss = contrastive_loss(encoder(questions), encoder(passages[topics]), topics)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses[-10:]) / 10


def passages_of_all_topics() -> torch.Tensor:
    """One passage for each topic. Every third one goes on, at length, about the topic after its own."""
    topics = torch.arange(TOPICS)
    more = torch.cat([texts_about(topics, 18, seed=2), texts_about((topics + 1) % TOPICS, 36, seed=3)], dim=-1)
    more[topics % 3 > 0] = PAD
    return torch.cat([texts_about(topics, 6, seed=1), more], dim=-1)


def main() -> dict[str, float]:
    """Train, then search the passages for a question about each topic."""
    torch.manual_seed(0)
    encoder = Encoder()
    loss = train(encoder, steps=60)
    with torch.no_grad():
        topics = torch.arange(TOPICS)
        found = search(encoder(texts_about(topics, 4, seed=4)), encoder(passages_of_all_topics()))
    first = (found[:, 0] == topics).float().mean().item()
    return {"training loss": loss, "right passage first": first, "MRR": mean_reciprocal_rank(found, topics)}


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.3f}")
