using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Lifetime;
using Xunit;

namespace Allocator.Tests.Lifetime;

public class ThreadSharesTests
{
    [Fact]
    public void Find_OnTwoThreads_GivesEachItsOwn()
    {
        ThreadShares shares = new();
        Assert.Null(shares.Find());
        ThreadShare mine = Add(shares);
        ThreadShare? ofAnother = null;
        ThreadShare? before = mine;
        Thread thread = new(() =>
        {
            before = shares.Find();
            ofAnother = Add(shares);
            Assert.Same(ofAnother, shares.Find());
        });
        thread.Start();
        thread.Join();
        Assert.Null(before);
        Assert.NotSame(mine, ofAnother);
        Assert.Same(mine, shares.Find());
        Assert.Equal(2, shares.All.Length);
    }

    [Fact]
    public void Find_ManyOwners_TellsThemApart()
    {
        ThreadShares[] owners = [.. Enumerable.Range(0, 20).Select(static _ => new ThreadShares())];
        ThreadShare[] shares = [.. owners.Select(Add)];
        Assert.Equal(shares, owners.Select(static owner => owner.Find()));
    }

    [Fact]
    public void FindOrAdd_ThreadsThatEnded_AreAskedWhetherTheyMayGo()
    {
        ThreadShares shares = new();
        AddOnThreads(shares, 3);
        bool Collected() => shares.All.All(static entry => !entry.Life.TryGetTarget(out _));
        for (int i = 0; i < 20 && !Collected(); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.True(Collected());
        ThreadShare kept = shares.All[1].Share;
        shares.FindOrAdd(static owner => new ArrayShare(owner), share => share != kept);
        Assert.Equal(2, shares.All.Length);
        Assert.Same(kept, shares.All[0].Share);
    }

    [Fact]
    public void ArrayRenter_ThreadThatUsedItLivesOn_IsCollected()
    {
        WeakReference[] renters = [.. Enumerable.Range(0, 20).Select(static _ => UseRenter())];
        for (int i = 0; i < 20 && renters.Any(static renter => renter.IsAlive); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.DoesNotContain(renters, static renter => renter.IsAlive);
    }

    private static ThreadShare Add(ThreadShares shares) => shares.FindOrAdd(static owner => new ArrayShare(owner), static _ => true);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddOnThreads(ThreadShares shares, int count)
    {
        for (int i = 0; i < count; i++)
        {
            // None goes while they are added.
            Thread thread = new(() => shares.FindOrAdd(static owner => new ArrayShare(owner), static _ => false));
            thread.Start();
            thread.Join();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference UseRenter()
    {
        ArraySource renter = new(new MemoryAllocatorOptions());
        ArrayGuard guard = renter.Rent(100, clean: false, out long generation);
        Assert.True(guard.Dispose(generation));
        Assert.Equal((1, 1), (renter.Sum().Rents, renter.Sum().Returns));
        return new WeakReference(renter);
    }
}
