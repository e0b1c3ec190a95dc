"""One kind of error for everything that a person can put right."""


class UserError(ValueError):
    """Something given from outside cannot be used: a file, a value, an option.

    Its message is one sentence for people that names the file (and line), the value and the remedy.
    The command line prints it without a traceback and exits with code 2.
    """
