"""Real faults, injected: kills beside a server that fails in every way that services do."""
