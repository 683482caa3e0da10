"""What a reply says: verdicts, letters, thinking, fences."""
