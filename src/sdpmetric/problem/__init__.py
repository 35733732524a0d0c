"""The paper's section 2: losses, comparisons, margin, objective, prior, units and results."""
