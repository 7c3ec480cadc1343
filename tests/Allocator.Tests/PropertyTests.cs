using System.Collections.Concurrent;
using CsCheck;

namespace Allocator.Tests;

/// <summary>
/// Writers and budgets beside plain models: random operations in sequence, and of several threads at once. CsCheck finds the shortest
/// sequence that fails, and prints its seed.
/// </summary>
public class PropertyTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly Gen<int> s_bytes = Gen.OneOf(Gen.Int[0, 3], Gen.Int[0, 500], Gen.Int[0, 3 * Block]);

    // From any of its first 256 bytes on: what a step writes.
    private static readonly byte[] s_data = PooledMemoryStreamTests.Bytes(256 + 3 * Block);

    [Fact]
    public void Writer_ComparedWithArrayBufferWriter_HasTheSameContent() =>
        Gen.Select(s_bytes, s_bytes.Array[0, 3], Gen.Byte).Array[1, 60].Sample(
            static steps =>
            {
                using TestSetup setup = new(maximumBlocks: 64);
                using PooledMemoryStream stream = setup.Allocator.CreateStream();
                ArrayBufferWriter<byte> model = new();
                foreach ((int hint, int[] counts, byte value) in steps)
                {
                    Span<byte> span = value % 2 == 0 ? stream.GetSpan(hint) : stream.GetMemory(hint).Span;
                    Assert.True(span.Length >= Math.Max(1, hint), $"{span.Length} of {hint}");
                    ReadOnlySpan<byte> data = s_data.AsSpan(value, Math.Min(span.Length, 3 * Block));
                    data.CopyTo(span);
                    foreach (int count in counts)
                    {
                        int written = Math.Min(count, data.Length);
                        stream.Advance(written);
                        model.Write(data.Slice(0, written));
                        data = data.Slice(written);
                    }

                    if (value % 16 == 0)
                    {
                        stream.WriteByte(value);
                        model.Write<byte>([value]);
                    }
                }

                Assert.Equal(model.WrittenCount, stream.Length);
                Assert.True(model.WrittenSpan.SequenceEqual(stream.AsReadOnlySequence().ToArray()));
                stream.Dispose();
                Assert.Equal(0, setup.Statistics.OutstandingAllocations);
            });

    /// <summary>
    /// Whatever threads do at once to a budget, the outcome is that of some order of the same calls: none is lost, none counts twice, and
    /// a request that fits in every order is not refused.
    /// </summary>
    [Fact]
    public void Budget_SeveralThreadsAtOnce_IsLinearizable() =>
        Gen.Int[4, 12].Select(static blocks => (new SharedBudget(blocks), new BudgetModel(blocks))).SampleParallel(
            [
                Gen.Int[1, 6].Operation<SharedBudget, BudgetModel>(
                    static (actual, blocks) => actual.Reserve(blocks), static (model, blocks) => model.Take(blocks)),
                Gen.Int[0, SharedBudget.Held - 1].Operation<SharedBudget, BudgetModel>(
                    static (actual, index) => actual.Reservations[index].Dispose(), static (model, index) => model.End(index)),
                Gen.Int[1, 3].Operation<SharedBudget, BudgetModel>(
                    static (actual, blocks) => actual.Allocate(blocks), static (model, blocks) => model.Take(blocks)),
                Gen.Const(0).Operation<SharedBudget, BudgetModel>(
                    static (actual, _) => actual.Setup.Allocator.ReleaseRetainedResources(), static (_, _) => { }),
            ],
            static (actual, model) => actual.Setup.Statistics.BudgetUsedBytes == model.Used * (long)Block && actual.Taken == model.Taken,
            threads: 4);

    [Fact]
    public void Budget_LosesAnUpdate_IsDetected() =>
        Assert.Throws<CsCheckException>(static () => Gen.Const(static () => (new StrongBox<int>(), new BudgetModel(100))).SampleParallel(
            Gen.Int[1, 6].Operation<StrongBox<int>, BudgetModel>(
                static (actual, blocks) =>
                {
                    int read = actual.Value;
                    Thread.Yield();
                    actual.Value = read + blocks;
                },
                static (model, blocks) => model.Take(blocks)),
            static (actual, model) => actual.Value == model.Used - SharedBudget.Held,
            iter: 10_000,
            threads: 4));

    /// <summary>A budget of some blocks, of which reservations hold a block each; what is taken later stays.</summary>
    private sealed class SharedBudget
    {
        public const int Held = 3;

        // Those that were dropped would come back with a collection.
        private readonly ConcurrentBag<IDisposable> _taken = [];

        public SharedBudget(int blocks)
        {
            Setup = new TestSetup(maximumBlocks: 16, budget: blocks * (long)Block);
            Reservations = [.. Enumerable.Range(0, Held).Select(_ => Reserved())];
        }

        public TestSetup Setup { get; }

        public MemoryReservation[] Reservations { get; }

        public int Taken => _taken.Count;

        public void Reserve(int blocks)
        {
            if (Setup.Allocator.TryReserve(blocks * (long)Block, out MemoryReservation? reservation))
            {
                _taken.Add(reservation!);
            }
        }

        public void Allocate(int blocks)
        {
            try
            {
                _taken.Add(Setup.Allocator.AllocateGroup<byte>(blocks * (long)Block));
            }
            catch (MemoryLimitExceededException)
            {
            }
        }

        private MemoryReservation Reserved()
        {
            Assert.True(Setup.Allocator.TryReserve(Block, out MemoryReservation? reservation));
            return reservation!;
        }
    }

    private sealed class BudgetModel(int blocks)
    {
        private readonly bool[] _ended = new bool[SharedBudget.Held];

        public int Used { get; private set; } = SharedBudget.Held;

        public int Taken { get; private set; }

        public void Take(int count)
        {
            if (Used + count <= blocks)
            {
                Used += count;
                Taken++;
            }
        }

        public void End(int index)
        {
            Used -= _ended[index] ? 0 : 1;
            _ended[index] = true;
        }
    }
}
