"""Everything that depends on the inside of lm_eval: its `evaluate`, backends and arguments."""
