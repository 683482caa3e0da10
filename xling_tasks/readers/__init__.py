"""Extract letters, Yes or No, refusals and reasoning from a model's responses."""

from xling_tasks.readers.choices import read_letters
from xling_tasks.readers.yes_no import read_verdict

__all__ = ["read_letters", "read_verdict"]
