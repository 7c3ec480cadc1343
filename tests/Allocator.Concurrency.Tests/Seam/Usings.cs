global using GC = Allocator.Concurrency.Seam.Collector;
global using Interlocked = Allocator.Concurrency.Interleaving.Atomics.Interlocked;
global using SpinWait = Allocator.Concurrency.Interleaving.Atomics.SpinWait;
global using ThreadPool = Allocator.Concurrency.Seam.WorkItems;
global using Volatile = Allocator.Concurrency.Interleaving.Atomics.Volatile;
