using System.Collections.Concurrent;
using CsCheck;

namespace Allocator.Tests;

/// <summary>
/// Writers, pixel buffers and budgets beside plain models: random operations in sequence, and of several threads at once. CsCheck finds
/// the shortest sequence that fails, and prints its seed.
/// </summary>
public class PropertyTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly Gen<int> s_bytes = Gen.OneOf(Gen.Int[0, 3], Gen.Int[0, 500], Gen.Int[0, 3 * Block]);

    [Fact]
    public void Writer_ComparedWithArrayBufferWriter_HasTheSameContent() =>
        Gen.Select(s_bytes, s_bytes, Gen.Byte).Array[1, 60].Sample(
            static steps =>
            {
                using TestSetup setup = new(maximumBlocks: 64);
                using PooledMemoryStream stream = setup.Allocator.CreateStream();
                ArrayBufferWriter<byte> model = new();
                foreach ((int hint, int count, byte value) in steps)
                {
                    Span<byte> span = value % 2 == 0 ? stream.GetSpan(hint) : stream.GetMemory(hint).Span;
                    Assert.True(span.Length >= Math.Max(1, hint), $"{span.Length} of {hint}");
                    int written = Math.Min(count, span.Length);
                    span.Slice(0, written).Fill(value);
                    stream.Advance(written);
                    model.GetSpan(written).Slice(0, written).Fill(value);
                    model.Advance(written);
                }

                Assert.Equal(model.WrittenCount, stream.Length);
                Assert.True(model.WrittenSpan.SequenceEqual(stream.AsReadOnlySequence().ToArray()));
            });

    [Fact]
    public void Pixels_ComparedWithAnArray_AreTheSame() =>
        Gen.Select(
            Gen.OneOf(Gen.Int[1, 20], Gen.Int[1, 6000]),
            Gen.Int[1, 40],
            Gen.Int[0, 7],
            Gen.Select(Gen.Int[0, 6], Gen.Int[0, 39], Gen.Int[1, 1 << 20]).Array[1, 30]).Sample(
            static (width, height, shape, steps) =>
            {
                using TestSetup setup = new(maximumBlocks: 64);
                AllocationOptions options =
                    AllocationOptions.Clean | ((shape & 1) == 0 ? AllocationOptions.None : AllocationOptions.Contiguous);
                PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(width, height, options, 1 << shape);
                int[] model = new int[width * height];
                foreach ((int operation, int row, int value) in steps)
                {
                    pixels = Change(pixels, model, operation, row % height, value);
                    int[] copy = new int[model.Length];
                    pixels.CopyTo(copy, width);
                    Assert.True(model.AsSpan().SequenceEqual(copy), $"{pixels}: operation {operation}");
                }

                pixels.Dispose();
                Assert.Equal((0L, 0L), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
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

    private static PixelBuffer<int> Change(PixelBuffer<int> pixels, int[] model, int operation, int row, int value)
    {
        int width = pixels.Width;
        switch (operation)
        {
            case 0:
                pixels.Fill(value);
                model.AsSpan().Fill(value);
                break;
            case 1:
                pixels.Clear();
                Array.Clear(model);
                break;
            case 2:
                pixels.ProcessPixelRows(static (rows, at) => rows.GetRowSpan(at.Row).Fill(at.Value), (Row: row, Value: value));
                model.AsSpan(row * width, width).Fill(value);
                break;
            case 3:
                pixels.DangerousGetRowSpan(row)[^1] = value;
                model[((row + 1) * width) - 1] = value;
                break;
            case 4:
                pixels.ProcessPixelRowsInParallel(static rows =>
                {
                    for (int y = 0; y < rows.Height; y++)
                    {
                        rows.GetRowSpan(y)[0]++;
                    }
                });
                for (int y = 0; y < pixels.Height; y++)
                {
                    model[y * width]++;
                }

                break;
            case 5:
                for (int i = 0; i < model.Length; i++)
                {
                    model[i] = i ^ value;
                }

                int stride = width + (value % 5);
                int[] source = new int[((pixels.Height - 1) * stride) + width];
                for (int y = 0; y < pixels.Height; y++)
                {
                    model.AsSpan(y * width, width).CopyTo(source.AsSpan(y * stride));
                }

                pixels.CopyFrom(source, stride);
                break;
            default:
                PixelBuffer<int> clone = pixels.Clone();
                pixels.Dispose();
                return clone;
        }

        return pixels;
    }

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
