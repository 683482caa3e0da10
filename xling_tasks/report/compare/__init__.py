"""`xling compare`: what a second model changes."""
