"""Metrics as pure functions: plain sequences in, plain numbers or small frozen results out.

Nothing here knows of lm-evaluation-harness or of `xling_tasks`; nothing downloads anything or
keeps state between calls. What cannot be scored is counted, never scored as zero: a metric over
nothing scorable is None.
"""
