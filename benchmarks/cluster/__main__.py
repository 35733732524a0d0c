"""`make bench-cluster`. Workers import this file again when they start, so it imports nothing."""

if __name__ == "__main__":
    from benchmarks.cluster.measure import main

    main()
