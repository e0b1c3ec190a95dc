"""The environment in which answers run: what Python and its libraries need, and nothing else of the teacher's."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

# Everything else may hold what is nobody's business: keys and tokens, the names of machines and people.
KEPT = (
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("LANG", "LC_ALL", "LC_CTYPE", "TZ", "BERTEDU_DATA", "CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS"),
)


@contextmanager
def cleared_environment() -> Iterator[dict[str, str]]:
    """Inside the block: an environment for the warm process, with an empty folder for home and temporary files."""
    with tempfile.TemporaryDirectory(prefix="bertedu-grade-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)  # so that an answer's own user reaches the answer's folder in it
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        yield {**kept, "HOME": folder, "TMPDIR": folder, "OMP_NUM_THREADS": "1", "BERTEDU_PROGRESS": "off"}
