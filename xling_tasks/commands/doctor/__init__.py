"""`xling doctor`: what a run needs, checked before it starts."""
