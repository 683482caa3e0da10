"""`xling check`: what a run needs, checked before it starts."""
