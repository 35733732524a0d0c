"""The compiled loops: everything that runs over edges, comparisons or pairs of rows.

Each works on a part given by bounds and releases the interpreter, so that `map_parts` can run
several at once; none of them uses a metric. Sums may be reordered by the compiler within
one pair of rows or one block, never across them, so results do not depend on the number of threads.
"""
