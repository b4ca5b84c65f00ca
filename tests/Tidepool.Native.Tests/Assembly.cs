// The library's counters and the collector's pressure are of the process, so tests that read them run one at a time.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
