"""Users' own questions: one file, any languages."""
