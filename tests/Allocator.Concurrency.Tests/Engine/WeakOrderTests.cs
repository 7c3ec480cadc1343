using Allocator.Concurrency.Interleaving.Atomics;

namespace Allocator.Concurrency.Engine;

/// <summary>Small programs of which it is known what ARM64 and the .NET memory model allow.</summary>
public sealed class WeakOrderTests
{
    private static readonly Weakness s_unorderedWrite = new("WeakOrderTests.WriteFlag", "Write", WeaknessKind.OrdersNothing);

    [Fact]
    public void Stores_OfTwoThreadsThatThenReadTheOther_MayBothBeMissed() =>
        Assert.Contains((0, 0), Outcomes(true, null, static run => WriteThenRead(run, fence: false), ReadOtherWay(fence: false)));

    [Fact]
    public void Stores_WithAFenceBehindEach_AreNotBothMissed()
    {
        HashSet<(int, int)> seen = Outcomes(true, null, static run => WriteThenRead(run, fence: true), ReadOtherWay(fence: true));

        Assert.DoesNotContain((0, 0), seen);
        Assert.Equal(3, seen.Count);
    }

    [Fact]
    public void Stores_WithAFenceBehindOne_MayBothBeMissed() =>
        Assert.Contains((0, 0), Outcomes(true, null, static run => WriteThenRead(run, fence: true), ReadOtherWay(fence: false)));

    [Fact]
    public void Stores_ByExchange_AreNotBothMissed() =>
        Assert.DoesNotContain((0, 0), Outcomes(
            true, null,
            static run =>
            {
                Interlocked.Exchange(ref run.Shared.X, 1);
                run.Shared.SeenY = Volatile.Read(ref run.Shared.Y);
            },
            static run =>
            {
                Interlocked.Exchange(ref run.Shared.Y, 1);
                run.Shared.SeenX = Volatile.Read(ref run.Shared.X);
            }));

    [Fact]
    public void Stores_NotBuffered_AreNotBothMissed() =>
        Assert.DoesNotContain((0, 0), Outcomes(false, null, static run => WriteThenRead(run, fence: false), ReadOtherWay(fence: false)));

    [Fact]
    public void Stores_InOrder_AreSeenInOrder() => Assert.DoesNotContain((0, 1), Outcomes(true, null, WriteTwo, ReadTwo));

    [Fact]
    public void Stores_OfWhichTheSecondOrdersNothing_AreSeenOutOfOrder() =>
        Assert.Contains((0, 1), Outcomes(true, s_unorderedWrite, WriteTwo, ReadTwo));

    [Fact]
    public void Read_OfOnesOwnStore_FindsIt() =>
        Assert.DoesNotContain((0, 0), Outcomes(
            true, null,
            static run =>
            {
                Volatile.Write(ref run.Shared.X, 1);
                run.Shared.SeenX = Volatile.Read(ref run.Shared.X);
            },
            static run => Volatile.Write(ref run.Shared.Y, 1)));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void PlainData_BehindAFlag_IsOrderedByIt(bool buffers) => Assert.Null(Publish(buffers, null).Failure);

    [Theory]
    [InlineData("WeakOrderTests.WriteFlag", "Write")]
    [InlineData("WeakOrderTests.ReadFlag", "Read")]
    public void PlainData_BehindAFlagThatOrdersNothing_IsFound(string member, string operation) =>
        Assert.Contains(
            "Nothing orders",
            Publish(true, new Weakness(member, operation, WeaknessKind.OrdersNothing)).Failure,
            StringComparison.Ordinal);

    [Fact]
    public void PlainData_UnderALock_IsOrderedByIt()
    {
        static void Use(Inline run)
        {
            lock (run.Shared.First)
            {
                Plain.Write(AddressOf(ref run.Shared.Plain), sizeof(int), "writes");
            }
        }

        Assert.Null(Explore(true, null, static _ => { }, Use, Use).Failure);
    }

    private static Outcome Publish(bool buffers, Weakness? weakness) => Explore(
        buffers, weakness, static _ => { },
        static run =>
        {
            Plain.Write(AddressOf(ref run.Shared.Plain), sizeof(int), "writes");
            WriteFlag(run);
        },
        static run =>
        {
            if (ReadFlag(run) == 1)
            {
                Plain.Read(AddressOf(ref run.Shared.Plain), sizeof(int), "reads");
            }
        });

    private static void WriteFlag(Inline run) => Volatile.Write(ref run.Shared.Y, 1);

    private static int ReadFlag(Inline run) => Volatile.Read(ref run.Shared.Y);

    private static void WriteTwo(Inline run)
    {
        Volatile.Write(ref run.Shared.X, 1);
        WriteFlag(run);
    }

    private static void ReadTwo(Inline run)
    {
        run.Shared.SeenY = ReadFlag(run);
        run.Shared.SeenX = Volatile.Read(ref run.Shared.X);
    }

    private static void WriteThenRead(Inline run, bool fence)
    {
        Volatile.Write(ref run.Shared.X, 1);
        if (fence)
        {
            Interlocked.MemoryBarrier();
        }

        run.Shared.SeenY = Volatile.Read(ref run.Shared.Y);
    }

    private static Action<Inline> ReadOtherWay(bool fence) => run =>
    {
        WriteFlag(run);
        if (fence)
        {
            Interlocked.MemoryBarrier();
        }

        run.Shared.SeenX = Volatile.Read(ref run.Shared.X);
    };

    private static HashSet<(int SeenX, int SeenY)> Outcomes(bool buffers, Weakness? weakness, params Action<Inline>[] bodies)
    {
        HashSet<(int, int)> seen = [];
        Outcome outcome = Explore(buffers, weakness, run => seen.Add((run.Shared.SeenX, run.Shared.SeenY)), bodies);
        Assert.True(outcome.IsExhaustive && outcome.Failure is null, outcome.ToString());
        return seen;
    }

    private static Outcome Explore(bool buffers, Weakness? weakness, Action<Inline> check, params Action<Inline>[] bodies) =>
        new Interleaving.Explorer { BuffersStores = buffers, Weakness = weakness }.Explore(() => new Inline(check, bodies));

    private static unsafe nint AddressOf(ref int location) => (nint)Unsafe.AsPointer(ref location);
}
