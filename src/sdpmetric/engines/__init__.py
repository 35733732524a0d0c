"""How work is spread over parts: by threads, processes or a cluster, all behind one interface."""
