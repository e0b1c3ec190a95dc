"""Principal components against scikit-learn, and on points whose answer is known."""

import pytest
import torch
from sklearn.decomposition import PCA

from bertedu.errors import UserError
from bertedu.interpretation.projection import principal_components


def test_points_are_centred_and_shares_are_of_the_whole():
    vectors = torch.randn(30, 8, generator=torch.Generator().manual_seed(0)) * torch.arange(1, 9) + 20
    reference = PCA(n_components=2).fit(vectors.double().numpy())
    expected = torch.tensor(reference.transform(vectors.double().numpy())).float()
    points, shares = principal_components(vectors)
    for column in range(2):  # a direction and its opposite are equally good
        same = min(
            (points[:, column] - expected[:, column]).abs().max(), (points[:, column] + expected[:, column]).abs().max()
        )
        assert same < 1e-3
    assert shares.tolist() == pytest.approx(reference.explained_variance_ratio_.tolist(), abs=1e-5)
    assert shares.sum() < 0.9


def test_the_map_has_the_same_sides_on_every_machine():
    line = torch.tensor([[0.0, 0.0, 1.0], [3.0, 0.5, 1.0], [6.0, 1.0, 1.0], [9.0, 1.0, 1.0]])
    points, shares = principal_components(line)
    assert points[:, 0].tolist() == sorted(points[:, 0].tolist()), (
        "the largest entry of the direction is to be positive"
    )
    mirrored, _ = principal_components(line * torch.tensor([-1.0, 1.0, 1.0]))
    assert mirrored[0, 0] > mirrored[-1, 0] and shares[0] > 0.99


@pytest.mark.parametrize(
    "vectors", [torch.ones(5, 3), torch.randn(2, 3), torch.randn(5, 1), torch.full((4, 3), torch.nan)]
)
def test_a_plane_through_nothing_is_refused(vectors):
    with pytest.raises(UserError, match=r"all alike or hold no numbers|2 principal components need"):
        principal_components(vectors)
