"""The compiled loops: everything that runs over edges, comparisons or pairs of rows.

Each works on a part given by bounds and releases the interpreter, so that `threads.over` can run
several at once; none of them knows what a metric is. Sums may be reordered by the compiler within
one pair of rows or one block, never across them, so results do not depend on the number of threads.
"""
