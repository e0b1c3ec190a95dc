"""`python -m bertedu.corpora.tasks FOLDER` writes all task data into the folder."""

import sys

from bertedu.corpora.tasks.files import write_tasks

if len(sys.argv) != 2:
    sys.exit("say where to: python -m bertedu.corpora.tasks data/tasks")
for path in write_tasks(sys.argv[1]):
    print(path)
