namespace Allocator.Tests;

/// <summary>Messages of exceptions say what happened, the value, the limit, and what to do next.</summary>
public class MessageTests
{
    // By the call that throws: what the message, or the exception's type before it, has to name.
    private static readonly Dictionary<string, (Action<MemoryAllocator> Call, string[] Names)> s_calls = new()
    {
        ["Allocate, negative"] = (static a => a.Allocate<byte>(-5), ["length", "-5", "negative"]),
        ["Allocate, options"] = (
            static a => a.Allocate<byte>(5, (AllocationOptions)4), ["ArgumentOutOfRangeException", "'options'", "4", "defined flags"]),
        ["AllocatePixels, options"] = (
            static a => a.AllocatePixels<byte>(1, 1, (AllocationOptions)(-1)),
            ["ArgumentOutOfRangeException", "'options'", "-1", "defined flags"]),
        ["Allocate, references"] = (static a => a.Allocate<ArraySegment<byte>>(5), ["ArraySegment", "Use a type without"]),
        ["AllocateAligned"] = (static a => a.AllocateAligned<byte>(5, 3), ["alignmentInBytes", "3", "power of two", "2097152"]),
        ["AllocatePixels"] = (static a => a.AllocatePixels<int>(0, 5), ["width", "0", "at least 1"]),
        ["AllocatePixels, stride"] = (
            static _ => Large().AllocatePixels<int>(800_000_000, 1), ["width", "800000000", "3,200,000,000 bytes", "limit"]),
        ["AllocateGroup, limit"] = (
            static a => a.AllocateGroup<byte>(5L << 20), ["5,242,880", "1,048,576", "AllocationLimitMegabytes", "raise"]),
        ["Allocate, budget"] = (
            static a => a.Allocate<byte>(1 << 20), ["1,048,576", "65,536", "MemoryBudgetMegabytes", "never fit", "raise the budget"]),
        ["Allocate, no room"] = (static a => Keep(a, 40_000), ["65,536", "of the memory budget", "BudgetTimeout", "ReserveAsync"]),
        ["WrapPixels, memory"] = (static a => a.WrapPixels(new int[9].AsMemory(), 3, 4, 3), ["pixels", "9", "12"]),
        ["WrapPixels, stride"] = (static a => a.WrapPixels(new int[90].AsMemory(), 3, 4, 2), ["rowStride", "2", "at least 3"]),
        ["WrapPixels, address"] = (static a => a.WrapPixels<int>(1, 30, 4, 100), ["rowStrideInBytes", "100", "at least 120", "30 pixels"]),
        // The only int without a positive counterpart: it is at most -4, so the message must not stop there.
        ["WrapPixels, lowest int"] = (
            static a => a.WrapPixels<int>(64, 1, 2, int.MinValue),
            ["ArgumentOutOfRangeException", "'rowStrideInBytes'", $"from {-int.MaxValue} to -4"]),
        ["ReserveAsync"] = (static a => a.ReserveAsync(5, TimeSpan.FromSeconds(-2)).AsTask().Wait(), ["timeout", "-00:00:02", "Infinite"]),
        ["CreateStream"] = (static a => a.CreateStream(-1), ["ArgumentOutOfRangeException", "capacity", "-1", "negative"]),
        ["Stream, group full"] = (
            static a => a.AllocateGroup<byte>(9).AsStream().SetLength(10), ["9 bytes", "cannot grow", "CreateStream"]),
        ["Stream, memory"] = (static a => a.CreateStream().GetMemory(-1), ["ArgumentOutOfRangeException", "'sizeHint'", "-1", "negative"]),
        ["Stream, advance"] = (
            static a => a.CreateStream().Advance(3), ["InvalidOperationException", "3", "0", "GetMemory", "sizeHint"]),
        ["Stream, back"] = (static a => a.CreateStream().Advance(-1), ["ArgumentOutOfRangeException", "'count'", "-1", "negative"]),
        ["Stream, read"] = (static a => _ = a.CreateStream().Read(new byte[4], 3, 2) + 1, ["count", "2", "at most 1"]),
        ["Stream, seek"] = (static a => a.CreateStream().Seek(-3, SeekOrigin.Begin), ["-3", "before the beginning"]),
        ["Stream, end"] = (static a => End(a.CreateStream()), ["1 bytes", "9,223,372,036,854,775,807", "Position"]),
        ["Stream, copy"] = (static a => a.CreateStream().WriteTo(new MemoryStream([], false)), ["destination", "CanWrite"]),
        ["Memory pool"] = (static a => a.AsMemoryPool<byte>().Rent(-2), ["minBufferSize", "-2", "-1"]),
        ["Array pool"] = (static a => a.AsArrayPool().Return(new byte[9]), ["array", "9 bytes", "Return each array once"]),
        ["Rows"] = (static a => a.AllocatePixels<int>(3, 4).DangerousGetRowSpan(4), ["y", "4", "0 to 3"]),
        ["Rows, no action"] = (
            static a => a.AllocatePixels<int>(3, 4).ProcessPixelRows(null!), ["ArgumentNullException", "'action'"]),
        ["Rows, no other"] = (
            static a => a.AllocatePixels<int>(3, 4).ProcessPixelRows<byte>(null!, static (_, _) => { }),
            ["ArgumentNullException", "'other'"]),
        ["Slice"] = (static a => a.AllocatePixels<int>(3, 4).ProcessPixelRows(static r => r.Slice(1, 0, 3, 1)), ["width", "3", "0 to 2"]),
        ["Pin"] = (static a => Large().AllocatePixels<int>(5000, 5000).Pin(), ["pieces", "AllocationOptions.Contiguous"]),
        ["CopyTo"] = (static a => Copy(a), ["ArgumentException:", "'destination'", "3 x 4", "3 x 5"]),
        ["Allocator disposed"] = (static a => { a.Dispose(); a.Allocate<byte>(1); }, ["MemoryAllocator", "disposed", "another allocator"]),
        ["Stream disposed"] = (static a => Disposed(a.CreateStream()).WriteByte(1), ["PooledMemoryStream", "disposed", "ToArray"]),
        ["Memory pool disposed"] = (static a => Disposed(a.AsMemoryPool<byte>()).Rent(), ["disposed", "AsMemoryPool"]),
        ["Reservation disposed"] = (static a => Disposed(Reserved(a)).Allocate<byte>(1), ["MemoryReservation", "reserve again"]),
        ["Owner disposed"] = (static a => _ = Disposed(a.Allocate<byte>(1)).Memory, ["disposed"]),
    };

    public static TheoryData<string> Calls => [.. s_calls.Keys];

    [Theory]
    [MemberData(nameof(Calls))]
    public void Message_OfACallThatFails_NamesValueLimitAndNextStep(string call)
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 }, budget: 65_536);
        Exception e = Assert.ThrowsAny<Exception>(() => s_calls[call].Call(setup.Allocator));
        e = e is AggregateException all ? all.InnerException! : e;
        string text = $"{e.GetType().Name}: {e.Message}";
        Assert.All(s_calls[call].Names, name => Assert.Contains(name, text, StringComparison.Ordinal));
        Assert.Contains(".", e.Message, StringComparison.Ordinal);
    }

    private static void Keep(MemoryAllocator allocator, int length)
    {
        using IMemoryOwner<byte> first = allocator.Allocate<byte>(length);
        allocator.Allocate<byte>(65_536).Dispose();
    }

    private static void End(PooledMemoryStream stream)
    {
        stream.Position = long.MaxValue;
        stream.WriteByte(1);
    }

    private static void Copy(MemoryAllocator allocator)
    {
        using PixelBuffer<byte> pixels = allocator.AllocatePixels<byte>(3, 5);
        using PixelBuffer<byte> other = allocator.AllocatePixels<byte>(3, 4);
        pixels.CopyTo(other);
    }

    private static MemoryAllocator Large() => MemoryAllocator.Create();

    private static MemoryReservation Reserved(MemoryAllocator allocator) =>
        allocator.TryReserve(100, out MemoryReservation? reservation) ? reservation : throw new InvalidOperationException();

    private static T Disposed<T>(T disposable)
        where T : IDisposable
    {
        disposable.Dispose();
        return disposable;
    }
}
