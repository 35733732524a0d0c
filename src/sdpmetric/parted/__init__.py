"""Data in parts: objectives, statistics and searches for neighbours as maps and reductions."""
