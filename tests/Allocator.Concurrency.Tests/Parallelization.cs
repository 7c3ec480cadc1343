// One search at a time: its threads hand a baton to each other, and would wait for a processor otherwise.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
