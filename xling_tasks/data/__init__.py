"""Data sets, prompts and published figures: found, read and checked."""
