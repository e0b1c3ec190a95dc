"""What this machine has, and how fast a BERT will learn on it."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
import torch

from bertedu.config import PRESETS
from bertedu.files import cache_folder
from bertedu.pretraining.forecast import forecast
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.pretraining.speed import clock, training_speed
from bertedu.training.devices import choose_device, choose_precision, computes_bf16

Row = tuple[str, str, str]  # group, name, what was found
GIGABYTE = 1e9
# Larger matrices keep a processor busier: how much better than tiny the others use it, seen on two CPU cores.
GAIN = {"mini": 1.6, "small": 2.1, "base": 2.5}


def examine(measure: bool = True) -> list[Row]:
    """Rows for people: versions, devices, free room, the text at hand, and, measured in about 4 s, the speed."""
    device = choose_device("auto")
    precision = choose_precision("auto", device)
    rows = [*versions(), *devices(), *room(), text_at_hand()]
    if measure:
        rate = matrix_rate(device, precision)
        rows.append(("speed", f"matrix products, {precision} on {device}", f"{rate / 1e9:,.0f} GFLOP/s (measured)"))
        rows += outlook(device, precision)
    return rows


def versions() -> list[Row]:
    """Python and the packages that the results depend on."""
    found: list[Row] = [("versions", "python", f"{platform.python_version()} on {platform.platform(terse=True)}")]
    for name in ("bertedu", "torch", "transformers", "tokenizers"):
        try:
            found.append(("versions", name, version(name)))
        except PackageNotFoundError:
            found.append(("versions", name, "not installed: run `pip install -e .` in the course's folder"))
    return found


def devices() -> list[Row]:
    """The processor and what else can compute."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count()
    bf16 = "faster than fp32" if computes_bf16("cpu") else "not faster, so fp32 is used"
    rows: list[Row] = [
        ("devices", "CPU", f"{processor_name()}, {cores} cores, {torch.get_num_threads()} threads; bf16 {bf16}")
    ]
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            about = torch.cuda.get_device_properties(index)
            rows.append(("devices", f"CUDA {index}", f"{about.name}, {about.total_memory / GIGABYTE:.0f} GB"))
    else:
        rows.append(("devices", "CUDA", "none that this torch can use"))
    rows.append(("devices", "MPS", "there" if torch.backends.mps.is_available() else "none"))
    return rows


def processor_name() -> str:
    """The processor's name as its maker writes it, where the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def room() -> list[Row]:
    """Free memory, and free room on the disk where runs are written."""
    memory, disk = psutil.virtual_memory(), psutil.disk_usage(os.getcwd())
    return [
        ("room", "memory", f"{memory.available / GIGABYTE:.1f} of {memory.total / GIGABYTE:.1f} GB free"),
        ("room", "disk", f"{disk.free / GIGABYTE:.1f} GB free in this folder"),
    ]


def is_harvested() -> bool:
    """Whether the documentation of the packages has been read before."""
    folder = cache_folder()
    return folder.is_dir() and any(folder.glob("documentation-*.jsonl.gz"))


def text_at_hand() -> Row:
    """Whether the documentation has been read already, and where it is kept."""
    state = "harvested" if is_harvested() else "not harvested yet: the first `bertedu pretrain` does it, in a minute"
    return ("text", "documentation", f"{state} ({cache_folder()})")


def matrix_rate(device: str, precision: str, seconds: float = 0.5) -> float:
    """Floating-point operations a second in products of two [1024, 1024] matrices."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    matrix = torch.randn(1024, 1024, device=device).to(dtype)
    _ = matrix @ matrix
    products, start = 0, clock(device)
    while (passed := clock(device) - start) < seconds:
        _ = matrix @ matrix
        products += 1
    return 2 * 1024**3 * products / passed


def work(preset: str) -> float:
    """Multiplications for one token, up to a factor: projections, attention, and the head at 15 % of the tokens."""
    settings = PretrainingSettings.for_preset(preset)
    layers, hidden_size, _ = PRESETS[preset]
    encoder = layers * (12 * hidden_size**2 + 2 * settings.max_length * hidden_size)
    return encoder + 0.15 * settings.vocab_size * hidden_size


def estimate(preset: str, tiny: float) -> float:
    """Tokens a second of another size, from the speed of tiny, rounded to two digits."""
    return float(f"{tiny * work('tiny') / work(preset) * GAIN[preset]:.2g}")


def outlook(device: str, precision: str) -> list[Row]:
    """What will run at which speed: tiny measured, on a GPU the others too; elsewhere estimated from it."""
    tiny = training_speed(device, precision)
    rows: list[Row] = [("speed", "tiny", f"{tiny:,.0f} tokens a second (measured)")]
    for preset in GAIN:
        if device == "cuda":
            found = f"{training_speed(device, precision, preset, seconds=0.5):,.0f} tokens a second (measured)"
        else:
            found = f"about {estimate(preset, tiny):,.0f} tokens a second (estimate)"
        rows.append(("speed", preset, found))
    around = "a minute more" if is_harvested() else "two minutes more, to read the documentation"
    rows.append(("speed", "make bert", f"5 minutes of training, and {around} (estimate)"))
    return rows + [("speed", "", sentence) for sentence in forecast(tiny, minutes=5)]


def warnings_for() -> list[str]:
    """Sentences about what would get in the way here."""
    found = []
    if psutil.virtual_memory().available < 3 * GIGABYTE:
        found.append("Less than 3 GB of memory is free: close other programs before pre-training.")
    if psutil.disk_usage(os.getcwd()).free < 1 * GIGABYTE:
        found.append("Less than 1 GB of disk is free in this folder: choose another --output, or make room.")
    return found
