"""What a run leaves on disk: results, samples, answers."""
