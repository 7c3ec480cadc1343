using Allocator.Lifetime;

namespace Allocator.Tests.Lifetime;

public class ThreadCachesTests
{
    [Fact]
    public void Find_OnTwoThreads_GivesEachItsOwn()
    {
        ThreadCaches caches = Create();
        Assert.Null(caches.Find());
        ThreadCache mine = Add(caches);
        ThreadCache? ofAnother = null;
        ThreadCache? before = mine;
        Thread thread = new(() =>
        {
            before = caches.Find();
            ofAnother = Add(caches);
            Assert.Same(ofAnother, caches.Find());
        });
        thread.Start();
        thread.Join();
        Assert.Null(before);
        Assert.NotSame(mine, ofAnother);
        Assert.Same(mine, caches.Find());
        Assert.Equal(2, caches.All.Length);
    }

    [Fact]
    public void Find_ManyOwners_TellsThemApart()
    {
        ThreadCaches[] owners = [.. Enumerable.Range(0, 20).Select(static _ => Create())];
        ThreadCache[] caches = [.. owners.Select(Add)];
        Assert.Equal(caches, owners.Select(static owner => owner.Find()));
    }

    [Fact]
    public void FindOrAdd_ThreadsThatEnded_GoAndTheirCountsStay()
    {
        ArraySource source = new(new MemoryAllocatorOptions());
        ThreadCaches caches = new(source);
        AddOnThreads(caches, 3);
        bool Collected() => caches.All.All(static entry => !entry.Life.TryGetTarget(out _));
        for (int i = 0; i < 20 && !Collected(); i++)
        {
            QueuedWork.Collect();
        }

        Assert.True(Collected());
        ThreadCache mine = caches.FindOrAdd();
        Assert.Same(mine, Assert.Single(caches.All).Cache);
        Assert.Equal((3, 30), (source.Sum().Rents, source.Sum().RentedBytes));
    }

    [Fact]
    public void Source_OfADroppedAllocatorWhoseThreadLivesOn_IsCollected()
    {
        WeakReference[] caches = [.. Enumerable.Range(0, 20).Select(static _ => UseAllocator())];
        for (int i = 0; i < 100 && caches.Any(static cache => cache.IsAlive); i++)
        {
            QueuedWork.Collect();
            QueuedWork.Wait();
        }

        Assert.DoesNotContain(caches, static cache => cache.IsAlive);
    }

    [Fact]
    public void GiveBack_OnAnotherThread_MovesTheGuardToItsCache()
    {
        ArraySource source = new(new MemoryAllocatorOptions());
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

    private static ThreadCaches Create() => new(new ArraySource(new MemoryAllocatorOptions()));

    private static ThreadCache Add(ThreadCaches caches) => caches.FindOrAdd();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddOnThreads(ThreadCaches caches, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Thread thread = new(() => caches.FindOrAdd().CountRent(10));
            thread.Start();
            thread.Join();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference UseAllocator()
    {
        MemoryAllocator allocator = MemoryAllocator.Create();
        LifetimeGuard guard = allocator.TryRentFast(null, 100, 1, AllocationOptions.None, ofGroup: false, out long generation)!;
        Assert.True(guard.Dispose(generation));
        return new WeakReference(((ArrayGuard)guard).Cache.Source);
    }
}
