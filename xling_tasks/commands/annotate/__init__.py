"""`xling annotate` and `xling agreement`: people check the judge."""
