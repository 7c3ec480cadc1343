namespace Allocator.Tests;

public class ShortLockTests
{
    [Fact]
    public void Enter_InterruptedWhileWaiting_RunsTheSectionAndIsInterruptedAfterIt()
    {
        ShortLock shortLock = new(mayAllocate: true);
        int sections = 0;
        bool wasInterrupted = false;
        Thread waiter = new(() =>
        {
            using (shortLock.Enter())
            {
                sections++;
            }

            try
            {
                Thread.Sleep(Timeout.Infinite);
            }
            catch (ThreadInterruptedException)
            {
                wasInterrupted = true;
            }
        })
        {
            IsBackground = true,
        };

        using (shortLock.Enter())
        {
            waiter.Start();
            SpinWait.SpinUntil(() => (waiter.ThreadState & ThreadState.WaitSleepJoin) != 0);
            Assert.Equal(0, Volatile.Read(ref sections));
            waiter.Interrupt();
            SpinWait.SpinUntil(() => (waiter.ThreadState & (ThreadState.WaitSleepJoin | ThreadState.Stopped)) != 0);
            Assert.Equal(0, Volatile.Read(ref sections));
        }

        Assert.True(waiter.Join(TimeSpan.FromMinutes(1)));
        Assert.Equal(1, sections);
        Assert.True(wasInterrupted);
    }

    [Fact]
    public void Enter_WithinItsOwnSection_IsHeldUntilTheFirstSectionEnds()
    {
        ShortLock shortLock = new(mayAllocate: true);
        bool wasEntered = false;
        Thread other = new(() =>
        {
            using (shortLock.Enter())
            {
                Volatile.Write(ref wasEntered, true);
            }
        });
        using (shortLock.Enter())
        {
            using (shortLock.Enter())
            {
                Assert.True(shortLock.IsHeld);
            }

            Assert.True(shortLock.IsHeld);
            other.Start();
            SpinWait.SpinUntil(() => (other.ThreadState & ThreadState.WaitSleepJoin) != 0);
            Assert.False(Volatile.Read(ref wasEntered));
        }

        Assert.True(other.Join(TimeSpan.FromMinutes(1)));
        Assert.True(wasEntered);
        Assert.False(shortLock.IsHeld);
    }

    [Fact]
    public void Enter_FromTwoThreads_ExcludesOneAnother()
    {
        ShortLock shortLock = new(mayAllocate: true);
        int count = 0;
        TestThreads.Run(2, _ =>
        {
            for (int i = 0; i < 100_000; i++)
            {
                using (shortLock.Enter())
                {
                    count++;
                }
            }
        });
        Assert.Equal(200_000, count);
    }

#if DEBUG && NET
    [Fact]
    public void AssertNoneHeld_InASection_FailsAnAssertion()
    {
        ShortLock shortLock = new();
        Exception failure = Assert.ThrowsAny<Exception>(() =>
        {
            using (shortLock.Enter())
            {
                ShortLock.AssertNoneHeld();
            }
        });
        Assert.Contains("No call to the system is made in a short section.", failure.Message, StringComparison.Ordinal);
        ShortLock.AssertNoneHeld();
        using (new ShortLock(mayCallSystem: true).Enter())
        {
            ShortLock.AssertNoneHeld();
        }
    }

    [Fact]
    public void Section_AllocatesRepeatedly_FailsAnAssertionAndExits()
    {
        ShortLock shortLock = new();
        Exception? failure = null;

        // Counted by thread, beside all its sections: on one that has had none.
        Thread thread = new(() => failure = Record.Exception(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                using (shortLock.Enter())
                {
                    GC.KeepAlive(new object());
                }
            }
        }));
        thread.Start();
        thread.Join();
        Assert.Contains("A short section takes no managed memory.", failure?.Message, StringComparison.Ordinal);
        Assert.False(shortLock.IsHeld);
        using (new ShortLock(mayAllocate: true).Enter())
        {
            GC.KeepAlive(new object());
        }
    }
#endif
}
