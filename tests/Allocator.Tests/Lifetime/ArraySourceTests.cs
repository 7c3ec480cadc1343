using Allocator.Lifetime;

namespace Allocator.Tests.Lifetime;

public class ArraySourceTests
{
    [Fact]
    public void Find_OnTwoThreads_ReturnsTheCacheOfEach()
    {
        ArraySource source = Create();
        Assert.Null(ThreadCache.Find(source));
        ThreadCache mine = Use(source);
        ThreadCache? ofAnother = null;
        ThreadCache? before = mine;
        Thread thread = new(() =>
        {
            before = ThreadCache.Find(source);
            ofAnother = Use(source);
            Assert.Same(ofAnother, Use(source));
        });
        thread.Start();
        thread.Join();
        Assert.Null(before);
        Assert.NotSame(mine, ofAnother);
        Assert.Same(mine, ThreadCache.Find(source));
    }

    [Fact]
    public void Find_ManySources_ReturnsTheRightOne()
    {
        ArraySource[] sources = [.. Enumerable.Range(0, 20).Select(static _ => Create())];
        ThreadCache[] caches = [.. sources.Select(Use)];
        Assert.Equal(caches, sources.Select(ThreadCache.Find));
        Assert.Equal(Enumerable.Reverse(caches), Enumerable.Reverse(sources).Select(ThreadCache.Find));
    }

    [Fact]
    public void Find_AfterSourcesClosed_FindsTheOthers()
    {
        ArraySource[] sources = [.. Enumerable.Range(0, 20).Select(static _ => Create())];
        ThreadCache[] caches = [.. sources.Select(Use)];
        for (int i = 0; i < sources.Length; i += 2)
        {
            sources[i].Close();
        }

        for (int i = 0; i < sources.Length; i++)
        {
            Assert.Same(i % 2 == 0 ? null : caches[i], ThreadCache.Find(sources[i]));
        }
    }

    [Fact]
    public void Rent_AfterThreadsThatEnded_KeepsTheirCountsAndNotTheirCaches()
    {
        ArraySource source = Create();
        WeakReference[] ended = UseOnThreads(source, 3);
        Use(source);
        for (int i = 0; i < 20 && ended.Any(static cache => cache.IsAlive); i++)
        {
            QueuedWork.Collect();
        }

        Assert.DoesNotContain(ended, static cache => cache.IsAlive);
        Assert.Equal((4, 4), (source.Sum().Rents, source.Sum().Returns));
        Assert.Equal(source.Sum().RentedBytes, source.Sum().ReturnedBytes);
    }

    [Fact]
    public void Source_OfADroppedAllocatorWhoseThreadLivesOn_IsCollected()
    {
        WeakReference[] sources = [.. Enumerable.Range(0, 20).Select(static _ => UseAllocator())];
        for (int i = 0; i < 100 && sources.Any(static source => source.IsAlive); i++)
        {
            QueuedWork.Collect();
            QueuedWork.Wait();
        }

        Assert.DoesNotContain(sources, static source => source.IsAlive);
    }

    [Fact]
    public void Dispose_OnAnotherThread_MovesTheGuardToItsCache()
    {
        ArraySource source = Create();
        ArrayGuard guard = source.Rent(100, clean: false, out long generation);
        Thread thread = new(() =>
        {
            source.Rent(100, clean: false, out long first).EndLease(first);
            ArrayGuard held = source.Rent(100, clean: false, out first);
            Assert.True(guard.Dispose(generation));
            Assert.Same(guard, source.Rent(100, clean: false, out long second));
            held.EndLease(first);
            guard.EndLease(second);
        });
        thread.Start();
        thread.Join();
        Assert.Equal((4, 4), (source.Sum().Rents, source.Sum().Returns));
        Assert.Equal(source.Sum().RentedBytes, source.Sum().ReturnedBytes);
        Assert.NotSame(guard, source.Rent(100, clean: false, out _));
    }

    private static ArraySource Create() => new(new MemoryAllocatorOptions());

    private static ThreadCache Use(ArraySource source)
    {
        source.Rent(100, clean: false, out long generation).EndLease(generation);
        return ThreadCache.Find(source)!;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] UseOnThreads(ArraySource source, int count)
    {
        WeakReference[] caches = new WeakReference[count];
        for (int i = 0; i < count; i++)
        {
            Thread thread = new(() => caches[i] = new WeakReference(Use(source)));
            thread.Start();
            thread.Join();
        }

        return caches;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference UseAllocator()
    {
        MemoryAllocator allocator = MemoryAllocator.Create();
        LifetimeGuard guard = allocator.TryRentFast(null, 100, 1, AllocationOptions.None, ofGroup: false, out long generation)!;
        Assert.True(guard.Dispose(generation));
        return new WeakReference(((ArrayGuard)guard).Source);
    }
}
