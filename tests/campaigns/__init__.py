"""Campaigns: long hostile runs that count what they tried and what was lost; see `make soak`."""
