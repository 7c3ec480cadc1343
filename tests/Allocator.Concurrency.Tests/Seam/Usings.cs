global using GC = Allocator.Concurrency.Seam.Collector;
global using Interlocked = Interleaving.Atomics.Interlocked;
global using SpinWait = Interleaving.Atomics.SpinWait;
global using ThreadPool = Allocator.Concurrency.Seam.WorkItems;
global using Volatile = Interleaving.Atomics.Volatile;
