"""`bertedu serve`: a model as a service."""

from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, Number, say

EXAMPLES = """
\b
Examples:
  bertedu serve runs/classification-sentiment-onnx              a folder that `bertedu export` wrote
  bertedu serve runs/classification-sentiment                   a run: exported first, for this time
  bertedu serve service/model --port 0                          a free port, which is said
\b
Ask it, from another terminal:
  curl http://127.0.0.1:8000/answer -d '{"text": "The room was cold."}'
  curl http://127.0.0.1:8000/answer -d '{"texts": ["The room was cold.", "We loved it."]}'
  curl http://127.0.0.1:8000/answer -d '{"text": "It rained.", "pair": "The street is wet."}'    a model for pairs
  curl http://127.0.0.1:8000/answer -d '{"text": "Who sang?", "pair": "Ann sang."}'    a model that answers questions
  curl http://127.0.0.1:8000/metrics                            counts, p50 and p99, queue, drift
or open http://127.0.0.1:8000 in a browser.
\b
The answers, by the use of the model: classes {"label", "probability", "probabilities"}; tags {"words", "entities"} with
the positions of the words in the text; {"answer", "start", "end", "probability", "no_answer"}; a score; a vector; for
each [MASK] the likeliest words.
\b
What it says when it does not answer, always in one sentence of JSON: 400 not JSON or not HTTP, 403 a page of another
site, 408 too slow, 413 too large a body, 422 not a
request, or a text that is too long; 503 too many at once, with Retry-After; 500 its own failure, with a reference
that stands in the log. The log (standard error) has sizes, digests and times, and no texts.
\b
Texts that come within --wait of each other are computed together. Ctrl-C or SIGTERM finishes what has begun.
"""


@click.command(epilog=EXAMPLES)
@click.argument("folder", type=PATH, metavar="FOLDER")
@click.option("--host", type=NAME, default="127.0.0.1", show_default=True, help="Where to listen: this machine alone.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--threads", type=click.IntRange(1, 64), default=1, show_default=True, help="To compute a batch with.")
@click.option(
    "--batch-size", "batch", type=click.IntRange(1, 1024), default=32, show_default=True, help="Most texts of a batch."
)
@click.option("--wait", type=Number(0, 1000), default=2.0, show_default=True, help="Milliseconds to wait for others.")
@click.option("--queue", type=click.IntRange(1, 100_000), default=512, show_default=True, help="Most texts that wait.")
@click.option(
    "--cache", type=click.IntRange(0, 1_000_000), default=4096, show_default=True, help="Answers to keep; 0: none."
)
def serve(folder: Path, host: str, port: int, threads: int, batch: int, wait: float, queue: int, cache: int) -> None:
    """Answer requests with the model in FOLDER: JSON over HTTP, for this machine alone unless --host says otherwise.

    FOLDER is what `bertedu export` wrote, a run folder or a saved model. It is computed with ONNX Runtime.
    """
    from bertedu.production.batching import Batching
    from bertedu.production.running import LOOPBACK, is_loopback, listen, log_to_stderr, open_service, run, url_of
    from bertedu.production.service import Settings

    batching = Batching(most_rows=batch, wait=wait / 1000, most_waiting=queue)
    settings = Settings(batching=batching, cached=cache, hosts=LOOPBACK | {host} if is_loopback(host) else None)
    if not is_loopback(host):
        say(f"! {host} is not this machine alone: anybody who reaches it can ask, without a password and unencrypted.")
    with listen(host, port) as listening:  # before the model is opened, which takes seconds: the port may be taken
        service = open_service(folder, settings, threads, say)
        url = url_of(listening)
        say(f"{folder}: {service.engine.about.use}, at {url} (Ctrl-C stops)")
        say(f"""  curl {url}/answer -d '{{"text": "…"}}'""")
        log_to_stderr()
        finished = run(service, listening)
    say("stopped: all that had begun was finished." if finished else "stopped: some requests were cut off.")
