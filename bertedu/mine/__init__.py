"""The reader's own BERT: the accepted answers put together into one file, shown at work beside the package's."""

from bertedu.mine.showing import mine

__all__ = ["mine"]
