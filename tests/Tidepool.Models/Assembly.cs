// The tiers, the scheduler and the clock are of the process, and the machine has few cores.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
