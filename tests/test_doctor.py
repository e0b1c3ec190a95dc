"""What the doctor says: about this machine, in words, in seconds."""

import pytest
import torch

from bertedu import doctor


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTEDU_CACHE", str(tmp_path))


def test_the_doctor_tells_every_group_and_measures_only_when_asked(monkeypatch):
    measured = []
    for name in ("matrix_rate", "training_speed"):
        monkeypatch.setattr(doctor, name, lambda *_, **__: measured.append(1))
    rows = doctor.examine(measure=False)
    assert not measured
    assert list(dict.fromkeys(group for group, _, _ in rows)) == ["versions", "devices", "room", "text"]
    found = {name: text for _, name, text in rows}
    assert found["torch"] == torch.__version__
    assert f"{torch.get_num_threads()} threads" in found["CPU"]


def test_documentation_that_is_there_is_not_harvested_again(tmp_path):
    assert "not harvested" in doctor.text_at_hand()[2] and str(tmp_path) in doctor.text_at_hand()[2]
    (tmp_path / "documentation-0123.jsonl.gz").touch()
    assert doctor.text_at_hand()[2].startswith("harvested")


def test_a_rate_counts_only_the_time_on_the_clock():
    assert 1e8 < doctor.matrix_rate("cpu", "fp32", seconds=0.05) < 1e14


def test_the_speed_of_a_training_step_leaves_the_callers_random_numbers():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    assert doctor.training_speed("cpu", "fp32", seconds=0.05) > 10
    assert torch.rand(1) == expected


def test_a_larger_model_is_said_to_run_slower():
    speeds = [doctor.estimate(preset, tiny=30_000) for preset in ("mini", "small", "base")]
    assert speeds == sorted(speeds, reverse=True)
    # On the two cores where tiny ran at 30,000 tokens a second, mini ran at 8,300 and small at 2,900.
    assert speeds[0] == pytest.approx(8_300, rel=0.5) and speeds[1] == pytest.approx(2_900, rel=0.5)


def test_an_estimate_is_called_one(monkeypatch):
    monkeypatch.setattr(doctor, "training_speed", lambda *_, **__: 20_000.0)
    outlook = doctor.outlook("cpu", "fp32")
    rows = {name: found for _, name, found in outlook}
    assert rows["tiny"] == "20,000 tokens a second (measured)"
    assert all(rows[name].endswith("(estimate)") for name in ("mini", "small", "base", "make bert"))
    assert "6.0 million tokens" in " ".join(found for _, name, found in outlook if not name)


def test_a_full_disk_or_memory_is_mentioned(monkeypatch):
    class Little:
        available = free = 5e8

    monkeypatch.setattr(doctor.psutil, "virtual_memory", lambda: Little)
    monkeypatch.setattr(doctor.psutil, "disk_usage", lambda folder: Little)
    told = " ".join(doctor.warnings_for())
    assert "3 GB of memory" in told and "1 GB of disk" in told


def test_a_multiplication_with_its_addition_counts_as_two_operations(monkeypatch):
    """One product in half a second: 1024 cubed multiplications and as many additions."""
    times = iter([0.0, 0.25, 0.5])
    monkeypatch.setattr(doctor, "clock", lambda device: next(times))
    assert doctor.matrix_rate("cpu", "fp32", seconds=0.5) == 2 * 1024**3 / 0.5
