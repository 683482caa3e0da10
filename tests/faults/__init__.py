"""Real faults, injected: a server that fails in every way that services do."""
