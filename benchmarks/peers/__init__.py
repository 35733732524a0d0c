"""`python -m benchmarks.peers`: this library against every peer, each fit in its own process."""
