"""Model files: estimators as plain data, in files that run no code."""
