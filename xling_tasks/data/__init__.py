"""Data sets, prompts and published figures: found, read and checked.

What is wrong with a file is a `DataError`, with prompts a `PromptError`, with settings a
`SettingError`: one line that names file, row and column of the first thing wrong, and what to do.
"""
