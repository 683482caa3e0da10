"""`xling rank`: rationales of several models, ranked by a judge."""
