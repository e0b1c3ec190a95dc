"""ONNX Runtime's session: arrays in, one array out."""

from pathlib import Path

import numpy as np

from bertedu.errors import UserError
from bertedu.extras import needs_extra


class Session:
    """A graph that is ready to run. Several threads may run it at once; each run computes on `threads` threads."""

    def __init__(self, path: Path, threads: int = 1):
        with needs_extra("production"):
            import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3  # errors
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the processor
        try:
            self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library raises kinds of its own, one for each cause
            raise UserError(
                f"{path} is no graph that ONNX Runtime can run ({cause(error)}): export it again."
            ) from error
        self.names = [given.name for given in self.session.get_inputs()]

    def run(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """The graph's output for a batch. An input that the graph has no use for (segments) is left out."""
        return self.session.run(None, {name: arrays[name] for name in self.names})[0]


def cause(error: Exception) -> str:
    """The first line of what the library says."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
