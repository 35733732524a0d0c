"""`python -m benchmarks.paper`: every table and figure of the paper, run again, on one page."""
