"""Which of many vectors are nearest to a question's? A matrix product, or FAISS from a size on that was measured.

FAISS: Johnson, Douze & Jégou 2019; the inverted file of cells: Sivic & Zisserman 2003.
Shapes: Q questions, P passages, D hidden size.
"""

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.search.hits import Hits, check_k

# Measured by benchmarks/search.py --index, one query at a time: at 30,000 vectors of 256 numbers the product takes
# 4 ms, nearly as long as reading the question, and the cells 0.1 ms; at 3,000 both take about 0.1 ms.
FAISS_FROM = 30_000
CELLS_LOOKED_AT = 16
PASSAGES_A_CELL = 64


class VectorIndex:
    """The vectors of some passages, [P, D], all of length 1: their products with a question's vector are cosines.

    Up to `faiss_from` passages a search is one matrix product, and exact. From there on FAISS sorts the vectors into
    cells around k-means centres and compares a question with the passages of the nearest cells only: quicker, and now
    and then it misses one.
    """

    def __init__(self, vectors: Tensor, faiss_from: int = FAISS_FROM):
        if vectors.dim() != 2 or not len(vectors):
            raise UserError(f"vectors of the shape {list(vectors.shape)}: give one vector for each passage, [P, D].")
        self.vectors = vectors.float().contiguous()
        self.cells = in_cells(self.vectors) if len(vectors) >= faiss_from else None

    def search(self, questions: Tensor, k: int = 10) -> list[Hits]:
        """The k nearest passages to each question's vector, [Q, D], with their cosines, best first."""
        check_k(k)
        k = min(k, len(self.vectors))
        if self.cells is None:
            best = (questions.float() @ self.vectors.T).topk(k)
            scores, numbers = best.values.tolist(), best.indices.tolist()
        else:
            found = self.cells.search(questions.float().contiguous().numpy(), k)
            scores, numbers = (array.tolist() for array in found)
        return [  # FAISS says -1 where the cells hold fewer than k passages
            [(number, score) for number, score in zip(*row, strict=True) if number >= 0]
            for row in zip(numbers, scores, strict=True)
        ]


def in_cells(vectors: Tensor):
    """FAISS's index of vectors [P, D] in cells of PASSAGES_A_CELL on average. The centres come from its k-means, which
    begins from a fixed seed.
    """
    with needs_extra("production"):
        import faiss
    cells = max(1, len(vectors) // PASSAGES_A_CELL)
    index = faiss.index_factory(vectors.size(1), f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
    sample = torch.randperm(len(vectors), generator=torch.Generator().manual_seed(0))[: PASSAGES_A_CELL * cells]
    index.train(vectors[sample].numpy())
    index.add(vectors.numpy())
    faiss.extract_index_ivf(index).nprobe = CELLS_LOOKED_AT
    return index
