"""Fits on a Dask cluster against fits in memory, and a model of what they cost."""
