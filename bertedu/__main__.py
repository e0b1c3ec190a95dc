"""The program `bertedu`, which is also `python -m bertedu`.

Ctrl-C and SIGTERM end it in one line from its first moments on, in which the commands are still being loaded.
"""

import os

STOPPED = 130  # the exit code


def main() -> None:
    """Run the command that was typed, and end with its exit code."""
    try:
        import signal  # here, since nothing guards what stands above

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        from bertedu.cli import main as commands
    except KeyboardInterrupt:
        stop()
    try:
        commands(prog_name="bertedu")
    except SystemExit as end:
        if end.code == STOPPED:  # all is said and closed: what libraries do at the end is not waited for
            os._exit(STOPPED)
        raise


def stop(*_: object) -> None:
    """End at once: nothing has begun that could be lost, and a module that is half loaded raises whatever it likes."""
    try:
        os.write(2, b"bertedu: stopped.\n")
    finally:
        os._exit(STOPPED)


if __name__ == "__main__":
    main()
