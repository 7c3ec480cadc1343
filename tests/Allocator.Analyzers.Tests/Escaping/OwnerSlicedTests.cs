namespace Allocator.Analyzers.Tests.Escaping;

/// <summary>A user's own owner types with a <c>Slice</c> or an indexer, reached by <c>[..]</c> and <c>[^1]</c>.</summary>
public sealed class OwnerSlicedTests
{
    private const string Types =
        """
        public sealed class Rented : IMemoryOwner<byte>
        {
            private readonly byte[] _bytes = new byte[64];

            public Memory<byte> Memory => _bytes;

            public int Length => _bytes.Length;

            public Span<byte> Span => _bytes;

            public byte this[int index] => _bytes[index];

            [return: OwnedBuffer]
            public static Rented Rent() => new();

            public Rented Slice(int start, int length) => new();

            public void Dispose()
            {
            }
        }
        """;

    [Fact]
    public Task Slice_Returned_Silent() => Check(
        """
        public static Rented Run()
        {
            Rented owner = Rented.Rent();
            owner.Span.Clear();
            return owner[..8];
        }
        """);

    [Fact]
    public Task Slice_Stored_Silent() => Check(
        """
        public static void Run()
        {
            Rented owner = Rented.Rent();
            Field = owner[8..16];
        }
        """);

    [Fact]
    public Task Slice_KeptAndFilled_Silent() => Check(
        """
        public static Rented Run()
        {
            Rented owner = Rented.Rent();
            Span<byte> bytes = owner.Span;
            Rented slice = owner[..8];
            bytes.Clear();
            return slice;
        }
        """);

    [Fact]
    public Task Element_Read_ReportedAsUndisposed() => Check(
        """
        public static byte Run()
        {
            Rented owner = {|ALLOC004:Rented.Rent()|};
            return owner[^1];
        }
        """);

    private static Task Check(string members) => Snippet.File(Types + "\n\npublic static class Example\n{\n" + members + "\n}\n");
}
