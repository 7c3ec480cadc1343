namespace Allocator.Analyzers.Tests.Recognition;

/// <summary>Owners that a method hands out by a parameter.</summary>
public sealed class OwnedParameterTests
{
    private const string TryMake =
        """

        private static bool TryMake([OwnedBuffer] out IMemoryOwner<byte> owner)
        {
            owner = A.Allocate<byte>(64);
            return true;
        }
        """;

    [Fact]
    public Task TryReserve_NeverDisposed_Reported() => Snippet.Body(
        """
        if (A.TryReserve(100, {|ALLOC004:out MemoryReservation? reservation|}))
        {
            Number = (int)reservation.RemainingBytes;
        }
        """);

    [Fact]
    public Task TryReserve_Discarded_Reported() => Snippet.Body("A.TryReserve(100, {|ALLOC004:out _|});");

    [Fact]
    public Task TryReserve_VariableOfBefore_Reported() => Snippet.Body(
        """
        MemoryReservation? reservation;
        bool isThere = A.TryReserve(100, {|ALLOC004:out reservation|});
        """);

    [Fact]
    public Task TryReserve_DisposedWhereItIsThere_Silent() => Snippet.Body(
        """
        if (!A.TryReserve(100, out MemoryReservation? reservation))
        {
            return;
        }

        using (reservation)
        {
            Number = (int)reservation.RemainingBytes;
        }
        """);

    [Fact]
    public Task TryReserve_UsingOfAnotherVariable_Silent() => Snippet.Body(
        """
        if (A.TryReserve(100, out MemoryReservation? reservation))
        {
            using MemoryReservation job = reservation;
            using var owner = job.Allocate<byte>(64);
            Check(owner.Memory.Span[0]);
        }
        """);

    [Fact]
    public Task TryReserve_HandedOn_Silent() => Snippet.Members(
        """
        private MemoryReservation? _job;

        public bool Begin() => A.TryReserve(100, out _job);

        public static MemoryReservation? Begin(MemoryAllocator allocator) =>
            allocator.TryReserve(100, out var reservation) ? reservation : null;

        public static bool TryBegin([OwnedBuffer] out MemoryReservation? reservation) => A.TryReserve(100, out reservation);
        """);

    [Fact]
    public Task Parameter_MarkedByUser_UseAfterDisposeIsReported() => Snippet.Members(
        """
        public static void Run()
        {
            TryMake(out var owner);
            owner.Dispose();
            Check({|ALLOC002:owner.Memory.Span|}[0]);
        }
        """ + TryMake);

    [Fact]
    public Task Parameter_MarkedByUser_SpanThatOutlivesItIsReported() => Snippet.Members(
        """
        public static void Run()
        {
            if (TryMake(out var owner))
            {
                Check({|ALLOC001:owner.Memory.Span[0]|});
            }
        }
        """ + TryMake);

    [Fact]
    public Task Parameter_ReadAfterItWasDisposedOnOneWay_Silent() => Snippet.Members(
        """
        public static void Run()
        {
            if (TryMake(out var owner))
            {
                owner.Dispose();
            }

            TryMake(out owner);
            Check(owner.Memory.Span[0]);
            owner.Dispose();
        }
        """ + TryMake);

    [Fact]
    public Task Parameter_MarkedInAnExtensionOrOverride_Reported() => Snippet.File(
        """
        public static class Extensions
        {
            public static bool TryRent(this MemoryAllocator allocator, int length, [OwnedBuffer] out IMemoryOwner<byte> owner)
            {
                owner = allocator.Allocate<byte>(length);
                return true;
            }
        }

        public abstract class Source
        {
            public abstract bool TryNext([OwnedBuffer] out IMemoryOwner<byte> owner);
        }

        public sealed class Pages : Source
        {
            public override bool TryNext(out IMemoryOwner<byte> owner) => A.TryRent(64, out owner);
        }

        public static class Example
        {
            public static void Run(Pages pages)
            {
                A.TryRent(64, {|ALLOC004:out var first|});
                Extensions.TryRent(A, 64, {|ALLOC004:out var second|});
                pages.TryNext({|ALLOC004:out var third|});
            }
        }
        """);

    [Fact]
    public Task Parameter_NotMarked_IsInferred() => Snippet.Members(
        """
        public static void Run()
        {
            TryMake({|ALLOC004:out var owner|});
            using var other = A.Allocate<byte>(1);
        }

        private static bool TryMake(out IMemoryOwner<byte> owner)
        {
            owner = A.Allocate<byte>(64);
            return true;
        }
        """);
}
