"""Other right repairs of the lab `retrieval`, and wrong ones: changes of the repaired program."""

SAME = "(passage_ids.unsqueeze(0) == passage_ids.unsqueeze(1)).fill_diagonal_(False)"
SEARCH = "(F.normalize(questions, dim=-1) @ F.normalize(passages, dim=-1).T)"
FILL = "    similarity = similarity.masked_fill(same, -torch.inf)\n"
LOSS = "    return F.cross_entropy(similarity / TEMPERATURE, torch.arange(len(questions)))\n"

ACCEPTED = {
    "several targets, ranks of a sorted search, cosine": [
        (".fill_diagonal_(False)", ""),
        (FILL + LOSS, "    return F.cross_entropy(similarity / TEMPERATURE, same / same.sum(dim=-1, keepdim=True))\n"),
        (SEARCH, "F.cosine_similarity(questions.unsqueeze(1), passages.unsqueeze(0), dim=-1)"),
        (".float().argmax(dim=-1) + 1", ".nonzero()[:, 1] + 1.0"),
    ],
    "each passage once, normalized in the encoder": [
        (
            f"    same = {SAME}\n{FILL}{LOSS}",
            "    ids, targets = passage_ids.unique(return_inverse=True)\n"
            "    first = (passage_ids == ids.unsqueeze(-1)).float().argmax(dim=-1)\n"
            "    return F.cross_entropy(similarity[:, first] / TEMPERATURE, targets)\n",
        ),
        (SEARCH, "(questions @ passages.T)"),
        ("return self.embeddings(ids)", "return F.normalize(self.embeddings(ids), dim=-1)"),
    ],
}
WRONG = {
    "the positive masked too": ([(".fill_diagonal_(False)", "")], "five different passages"),
    "no negatives": ([(SAME, "~torch.eye(len(questions), dtype=torch.bool)")], "five different passages"),
    "ranks from 0": ([("argmax(dim=-1) + 1", "argmax(dim=-1)")], "has an MRR of inf"),
    "only the first": ([("(1 / ranks)", "(ranks == 1).float()")], "the ranks 1, 2 and 4"),
    "the mean rank": ([("(1 / ranks).mean()", "1 / ranks.float().mean()")], "the ranks 1, 2 and 4"),
    "mean in place of sum": (
        [(SEARCH, "(questions @ passages.T)"), ('mode="sum"', 'mode="mean"')],
        "after a long one",
    ),
    "only the questions": ([(SEARCH, "(F.normalize(questions, dim=-1) @ passages.T)")], "after a long one"),
    "distances, the wrong way": ([(SEARCH, "torch.cdist(questions, passages)")], "after a long one"),
}
