"""From a fine-tuned folder to a service that somebody can rely on. Chapter 23.

Export to ONNX (`onnx_export.py`, `int8.py`), an engine that answers with it (`engine.py`), the service around that
(`protocol.py`, `batching.py`, `service.py`, `app.py`, `running.py`), and what is measured and decided beside it
(`load.py`, `monitor.py`, `pruning.py`, `distilling.py`). Nothing here needs a network.
"""
