"""A logged sample as people read it: the report shows a choice of this, the viewer all of it."""
