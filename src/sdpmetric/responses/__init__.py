"""Comparisons from people and logs: reading them, judging a metric by them, asking for more."""
