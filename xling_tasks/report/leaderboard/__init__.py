"""`xling leaderboard`: many models by many languages, with ranks that are intervals."""
