using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Lifetime;
using Xunit;

namespace Allocator.Tests.Lifetime;

public class ThreadCachesTests
{
    [Fact]
    public void Find_OnTwoThreads_GivesEachItsOwn()
    {
        ThreadCaches caches = new();
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
        ThreadCaches[] owners = [.. Enumerable.Range(0, 20).Select(static _ => new ThreadCaches())];
        ThreadCache[] caches = [.. owners.Select(Add)];
        Assert.Equal(caches, owners.Select(static owner => owner.Find()));
    }

    [Fact]
    public void FindOrAdd_ThreadsThatEnded_AreAskedWhetherTheyMayGo()
    {
        ThreadCaches caches = new();
        AddOnThreads(caches, 3);
        bool Collected() => caches.All.All(static entry => !entry.Life.TryGetTarget(out _));
        for (int i = 0; i < 20 && !Collected(); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.True(Collected());
        ThreadCache kept = caches.All[1].Cache;
        caches.FindOrAdd(cache => cache != kept);
        Assert.Equal(2, caches.All.Length);
        Assert.Same(kept, caches.All[0].Cache);
    }

    [Fact]
    public void ArraySource_ThreadThatUsedItLivesOn_IsCollected()
    {
        WeakReference[] sources = [.. Enumerable.Range(0, 20).Select(static _ => UseSource())];
        for (int i = 0; i < 20 && sources.Any(static source => source.IsAlive); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.DoesNotContain(sources, static source => source.IsAlive);
    }

    private static ThreadCache Add(ThreadCaches caches) => caches.FindOrAdd(static _ => true);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddOnThreads(ThreadCaches caches, int count)
    {
        for (int i = 0; i < count; i++)
        {
            // None goes while they are added.
            Thread thread = new(() => caches.FindOrAdd(static _ => false));
            thread.Start();
            thread.Join();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference UseSource()
    {
        ArraySource source = new(new MemoryAllocatorOptions());
        ArrayGuard guard = source.Rent(100, clean: false, out long generation);
        Assert.True(guard.Dispose(generation));
        Assert.Equal((1, 1), (source.Sum().Rents, source.Sum().Returns));
        return new WeakReference(source);
    }
}
