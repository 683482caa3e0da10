"""`xling report` and `xling compare`: from lm_eval's files to tables and pictures."""
