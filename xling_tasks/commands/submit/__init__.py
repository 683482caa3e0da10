"""`xling submit`: files for leaderboards and the Hub."""
