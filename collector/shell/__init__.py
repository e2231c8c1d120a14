"""Shell commands: what a command line does to tests, git, pull requests and files (`hangar.shell.ops`).

`ops_of` takes the text of a command line apart with a real parser of bash and names its operations. It says None
where nobody can tell from the text alone: it does not parse, or what it runs is only known while it runs.
"""

from collector.shell.ops import ops_of, ops_of_words

__all__ = ["ops_of", "ops_of_words"]
