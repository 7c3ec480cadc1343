using System.Diagnostics;

namespace Allocator.Tests.Lifetime;

/// <summary>
/// One thread asks for spans while another disposes, and the memory is rented again at once: a span has the rent's own address and length,
/// or there is none.
/// </summary>
public class SpanRaceTests
{
    private const int LeastRounds = 20;

    private static readonly TimeSpan s_duration = TimeSpan.FromMilliseconds(300 * Races.Rounds);

    // Each second length is served by the same memory as the first. The pool has 16 blocks.
    [Theory]
    [InlineData("array of a small class", 200, 250)]
    [InlineData("array of a large class", 600_000, 1_000_000)]
    [InlineData("block", 3_000_000, 4_000_000)]
    [InlineData("run", 9_000_000, 12_000_000)]
    [InlineData("oversize", 70_000_000, 75_000_000)]
    public void Span_OfAnOwnerRacingDispose_ShowsItsOwnRentOrThrows(string tier, int length, int otherLength) =>
        Race("owner", tier, length, otherLength);

    [Theory]
    [InlineData("blocks", 30_000_000, 33_000_000)]
    [InlineData("blocks and segments", 130_000_000, 133_000_000)]
    public void Span_OfAMemberRacingDispose_ShowsItsOwnRentOrThrows(string tier, int length, int otherLength) =>
        Race("member", tier, length, otherLength);

    // Arrays as large as these are never moved by the garbage collector, so that addresses can be compared.
    [Theory]
    [InlineData("array", 150_000, 140_000)]
    [InlineData("block", 3_000_000, 2_900_000)]
    [InlineData("blocks", 30_000_000, 29_000_000)]
    public void RowSpan_RacingDispose_ShowsItsOwnRentOrThrows(string tier, int length, int otherLength) =>
        Race("row", tier, length, otherLength);

    private static void Race(string kind, string tier, int length, int otherLength) => RemoteExecutor.Invoke(
        static (kind, tier, lengths) =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 64 });
            string[] both = lengths.Split('/');
            Race(
                tier,
                allocator,
                int.Parse(both[0]),
                int.Parse(both[1]),
                kind switch { "owner" => MakeOwner, "member" => MakeMember, _ => MakeRow });
        },
        kind,
        tier,
        $"{length}/{otherLength}").Dispose();

    private static void Race(string tier, MemoryAllocator allocator, int length, int otherLength, Func<MemoryAllocator, int, Racer> make)
    {
        Racer? current = null;
        bool ended = false;
        string? failure = null;
        Thread reader = new(() =>
        {
            Racer? last = null;
            while (!Volatile.Read(ref ended))
            {
                if (Volatile.Read(ref current) is Racer racer && racer != last)
                {
                    last = racer;
                    failure ??= racer.Look();
                    Volatile.Write(ref current, null);
                }
            }
        });
        reader.Start();

        Random random = new(1);
        Stopwatch watch = Stopwatch.StartNew();
        int rounds = 0;
        while ((watch.Elapsed < s_duration || rounds < LeastRounds) && Volatile.Read(ref failure) is null)
        {
            Racer racer = make(allocator, length);
            Volatile.Write(ref current, racer);
            Thread.SpinWait(random.Next(200));
            racer.Dispose();
            for (int i = 0; i < 3; i++)
            {
                make(allocator, otherLength).Dispose();
            }

            // The reader looks until it is told that the rent is over.
            SpinWait.SpinUntil(() => Volatile.Read(ref current) is null);
            rounds++;
        }

        Volatile.Write(ref ended, true);
        reader.Join();
        Assert.True(failure is null, $"{tier}, round {rounds}: {failure}");
    }

    private static Racer MakeOwner(MemoryAllocator allocator, int length)
    {
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);
        return new Racer(owner, () => owner.Memory.Span, owner.Memory);
    }

    private static Racer MakeMember(MemoryAllocator allocator, int length)
    {
        MemoryGroup<byte> group = allocator.AllocateGroup<byte>(length);
        int last = group.Count - 1;
        return new Racer(group, () => group[last].Span, group[last]);
    }

    private static Racer MakeRow(MemoryAllocator allocator, int length)
    {
        const int Width = 1000;
        PixelBuffer<byte> pixels = allocator.AllocatePixels<byte>(Width, length / Width);
        return new Racer(pixels, () => pixels.DangerousGetRowSpan(length / Width - 1), default);
    }

    private delegate Span<byte> Getter();

    private sealed class Racer : IDisposable
    {
        private readonly IDisposable _owner;
        private readonly Getter _get;
        private readonly Memory<byte> _memory;
        private readonly byte[]? _array;
        private readonly unsafe byte* _address;
        private readonly int _length;

        public unsafe Racer(IDisposable owner, Getter get, Memory<byte> memory)
        {
            _owner = owner;
            _get = get;
            _memory = memory;
            Span<byte> span = get();
            _length = span.Length;
            if (!memory.IsEmpty && MemoryMarshal.TryGetArray<byte>(memory, out ArraySegment<byte> segment))
            {
                _array = segment.Array;
            }
            else
            {
                _address = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(span));
            }
        }

        public string? Look()
        {
            string? failure = null;
            try
            {
                while (failure is null)
                {
                    failure = Check(_get()) ?? (_memory.IsEmpty ? null : Check(_memory.Span));
                }
            }
            catch (ObjectDisposedException)
            {
            }
            catch (Exception exception)
            {
                failure = exception.ToString();
            }

            return failure;
        }

        public void Dispose() => _owner.Dispose();

        private unsafe string? Check(Span<byte> span)
        {
            ref byte first = ref MemoryMarshal.GetReference(span);
            bool isOwn = _array is null ? Unsafe.AreSame(ref first, ref *_address) : Unsafe.AreSame(ref first, ref _array[0]);
            return isOwn && span.Length == _length
                ? null
                : $"A span of {span.Length} bytes at 0x{(nuint)Unsafe.AsPointer(ref first):x}; the rent has {_length} bytes at "
                    + $"0x{(nuint)_address:x} ({(_array is null ? "unmanaged" : "array")}).";
        }
    }
}
