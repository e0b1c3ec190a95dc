"""The command line: `bertedu pretrain` and its companions. Each command calls one function of the package.

Torch is slow to load, so the commands import what they need when they run: `--help` stays quick.
"""

import click

from bertedu.cli.assignment import assignment
from bertedu.cli.build import build
from bertedu.cli.course import course
from bertedu.cli.doctor import doctor
from bertedu.cli.export import export
from bertedu.cli.finetune import finetune
from bertedu.cli.grade import grade
from bertedu.cli.inference import answer, attention, fill_mask_command, newest_run
from bertedu.cli.interview import interview
from bertedu.cli.mine import mine
from bertedu.cli.mistakes import Commands
from bertedu.cli.playground import playground
from bertedu.cli.pretrain import pretrain
from bertedu.cli.serve import serve
from bertedu.cli.slides import handout, slides
from bertedu.cli.start import lab, start

__all__ = ["main", "newest_run"]

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group("bertedu", cls=Commands, context_settings=HELP)
@click.version_option(package_name="bertedu")
def main() -> None:
    """Build BERT yourself: pre-train a small BERT on this machine and look at what it has learned.

    \b
    Start here:
      bertedu start my-course                             the notebooks of the course, in a folder of yours
      bertedu doctor                                      what this machine can do
      bertedu pretrain --minutes 5                        learn from the documentation on this machine
      bertedu fill-mask "The [MASK] of the list."         ask the newest model, or the one of the course
      bertedu attention "The cat sat down." --html a.html see what it attends to
      bertedu finetune classification --data train.csv    teach it a task
    """


COMMANDS: tuple[click.Command, ...] = (
    *(start, lab, pretrain, finetune, fill_mask_command, answer, attention, playground, export, serve, interview, mine),
    *(course, assignment, grade, slides, handout, doctor, build),
)
for command in COMMANDS:
    main.add_command(command)
