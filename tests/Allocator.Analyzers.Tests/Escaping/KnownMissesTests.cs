namespace Allocator.Analyzers.Tests.Escaping;

public sealed class KnownMissesTests
{
    [Fact]
    public Task Closure_ThatDiesEarly_Missed() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Memory<byte> m = owner.Memory;
        Func<int> length = () => m.Length;
        Number = length();
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Parameter_ThatIsTheLastReference_Missed() => Snippet.Members(
        """
        public static void Run() => Use(A.Allocate<byte>(64));

        private static void Use(IMemoryOwner<byte> owner)
        {
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        """);

    [Fact]
    public Task Field_OfDeadThis_Missed() => Snippet.File(
        """
        public sealed class Holder
        {
            private readonly IMemoryOwner<byte> _owner = A.Allocate<byte>(64);
            public void Work()
            {
                Span<byte> s = _owner.Memory.Span;
                Gc();
                Check(s[0]);
            }
        }
        """);

    [Fact]
    public Task Owner_PassedToMethodThatKeepsNothing_Missed() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = A.Allocate<byte>(64);
            Look(owner);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }

        private static void Look(IMemoryOwner<byte> owner) => Number = owner.Memory.Length;
        """);

    [Fact]
    public Task Span_ReturnedByOwnHelper_Missed() => Snippet.Members(
        """
        public static void Run()
        {
            using var owner = A.Allocate<byte>(64);
            Span<byte> s = Tail(owner.Memory.Span);
            owner.Dispose();
            Check(s[0]);
        }

        private static Span<byte> Tail(Span<byte> span) => span.Slice(1);
        """);

    [Fact]
    public Task Span_InFieldOfRefStruct_Missed() => Snippet.File(
        """
        public ref struct Writer
        {
            public Span<byte> Span;
            public Writer(Span<byte> span) => Span = span;
        }

        public static class Example
        {
            public static void Run()
            {
                var owner = A.Allocate<byte>(64);
                var writer = new Writer { Span = owner.Memory.Span };
                owner.Dispose();
                Check(writer.Span[0]);
            }
        }
        """);

    [Fact]
    public Task Factory_Unmarked_Missed() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = Make();
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }

        private static IMemoryOwner<byte> Make() => A.Allocate<byte>(64);
        """);

    [Fact]
    public Task Pointer_AsInteger_Missed() => Snippet.Body(
        """
        using (var owner = A.Allocate<byte>(64))
        {
            fixed (byte* p = owner.Memory.Span)
            {
                Number = (int)(nint)p;
            }
        }

        Check(*(byte*)(nint)Number);
        """);

    [Fact]
    public Task Field_ClearedInBetween_Missed() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Field = owner;
        Span<byte> s = owner.Memory.Span;
        Field = null;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Body_WithMoreAllocationsThanBits_Missed() => Snippet.Members(
        """
        public static void Run()
        {
            Many(
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1),
                A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1), A.Allocate<byte>(1));
            var owner = A.Allocate<byte>(64);
            Check(owner.Memory.Span[0]);
        }

        private static void Many(params IMemoryOwner<byte>[] owners) => Keep(owners);
        """);

    [Fact]
    public Task Variable_ReachedByReference_Missed() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        ref IMemoryOwner<byte> alias = ref owner;
        Check(owner.Memory.Span[0]);
        """);
}
