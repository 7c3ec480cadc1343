namespace Allocator.Analyzers.Tests.Finalizable;

public sealed class SpanTests
{
    [Fact]
    public Task Span_OwnerNotUsedAfterwards_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check({|ALLOC001:s[0]|});
        s[0] = 1;
        """);

    [Fact]
    public Task Span_OfTemporary_Reported() => Snippet.Body(
        """
        Span<byte> s = A.Allocate<byte>(64).Memory.Span;
        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_OfMemoryThatIsNotUsedAfterwards_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Memory<byte> m = owner.Memory;
        Span<byte> s = m.Span;
        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_SlicedAndCast_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        var s = MemoryMarshal.Cast<byte, int>(owner.Memory.Span.Slice(4, 16));
        Gc();
        Check((byte){|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_PassedAsArgument_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        {|ALLOC001:Read(owner.Memory.Span)|};
        """);

    [Fact]
    public Task Span_PassedToBaseLibrary_Reported() => Snippet.Members(
        """
        public static void Run(Stream stream)
        {
            var owner = A.Allocate<byte>(64);
            {|ALLOC001:stream.ReadExactly(owner.Memory.Span)|};
        }
        """);

    [Fact]
    public Task Span_EnumeratedByForeach_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        foreach (byte b in {|ALLOC001:owner.Memory.Span|})
        {
            Check(b);
            Gc();
        }
        """);

    [Fact]
    public Task Span_OwnerDisposedOnOtherPathOnly_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        if (!Yes)
        {
            s[0] = 2;
            owner.Dispose();
            return;
        }

        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_OwnerVariableOverwritten_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        owner = A.Allocate<byte>(8);
        try
        {
            Gc();
            Check({|ALLOC001:s[0]|});
        }
        finally
        {
            owner.Dispose();
        }
        """);

    [Fact]
    public Task Span_InLoopWithoutDispose_Reported() => Snippet.Body(
        """
        for (int i = 0; i < 3; i++)
        {
            var owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            {|ALLOC001:s[0]|} = 1;
            Gc();
            Check(s[0]);
        }
        """);

    [Fact]
    public Task Span_KeepAliveTooEarly_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        s[0] = 3;
        GC.KeepAlive(owner);
        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_OfStackOrPool_Reported() => Snippet.Body(
        """
        int n = Yes ? 64 : 8;
        Span<byte> s = stackalloc byte[16];
        if (n > 16)
        {
            IMemoryOwner<byte> owner = A.Allocate<byte>(n);
            s = owner.Memory.Span;
        }

        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_OfEitherOfTwoOwners_ReportedForBoth() => Snippet.Body(
        """
        var owner = Yes ? A.Allocate<byte>(64) : A.Allocate<byte>(32);
        Span<byte> s = owner.Memory.Span[1..];
        Gc();
        Check({|ALLOC001:{|ALLOC001:s[0]|}|});
        """);

    [Fact]
    public Task Span_InLambda_Reported() => Snippet.Body(
        """
        Action a = static () =>
        {
            var owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check({|ALLOC001:s[0]|});
        };
        a();
        """);

    // The handlers around a lambda are not its own: this threw, many blocks being before the handler and few in the lambda.
    [Fact]
    public Task Span_InLambdaInsideTry_Reported() => Snippet.Body(
        """
        using var outer = A.Allocate<byte>(64);
        for (int i = 0; i < 3; i++)
        {
            Check(Yes ? outer.Memory.Span[i] : (byte)i);
        }

        try
        {
            Action a = static () => {|ALLOC001:Read(A.Allocate<byte>(64).Memory.Span)|};
            a();
        }
        catch (InvalidOperationException)
        {
            Gc();
        }
        """);

    [Fact]
    public Task Span_InLocalFunction_Reported() => Snippet.Body(
        """
        Work();
        static void Work()
        {
            var owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check({|ALLOC001:s[0]|});
        }
        """);

    [Fact]
    public Task Span_DisposedOnlyInCatch_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        try
        {
            Yes.ToString();
        }
        catch
        {
            owner.Dispose();
            throw;
        }

        Span<byte> s = owner.Memory.Span;
        Gc();
        Check({|ALLOC001:s[0]|});
        """);

    [Fact]
    public Task Span_AllocatedAfterLastAwait_Reported() => Snippet.Members(
        """
        public static async Task Run()
        {
            await Task.Yield();
            var owner = A.Allocate<byte>(64);
            {|ALLOC001:Read(owner.Memory.Span)|};
        }
        """);

    [Fact]
    public Task Span_OfAligned_Reported() => Snippet.Body(
        """
        var owner = A.AllocateAligned<byte>(64, 4096);
        {|ALLOC001:owner.Memory.Span.Clear()|};
        """);

    [Fact]
    public Task Span_OfRefStructBuiltOverIt_Reported() => Snippet.File(
        """
        public ref struct Writer
        {
            private Span<byte> _span;
            public Writer(Span<byte> span) => _span = span;
            public void Write(byte value) => _span[0] = value;
        }

        public static class Example
        {
            public static void Run()
            {
                var owner = A.Allocate<byte>(64);
                var writer = {|ALLOC001:new Writer(owner.Memory.Span)|};
                writer.Write(1);
            }
        }
        """);

    [Fact]
    public Task Span_InIteratorThatNeverYieldsInBetween_Reported() => Snippet.Members(
        """
        public static IEnumerable<int> Run()
        {
            yield return 1;
            var owner = A.Allocate<byte>(64);
            {|ALLOC001:Read(owner.Memory.Span)|};
        }
        """);

    [Fact]
    public Task Span_UsedInSameStatementAfterOwner_Reported() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        Number = owner.Memory.Length + {|ALLOC001:s[0]|};
        """);

    [Fact]
    public Task Constructor_GivenSpan_Reported() => Snippet.Members(
        """
        public static string Run()
        {
            var owner = A.Allocate<char>(64);
            return {|ALLOC001:new string(owner.Memory.Span)|};
        }
        """);

    [Fact]
    public Task Constructor_GivenSpanAndOwner_Silent() => Snippet.File(
        """
        public sealed class Page
        {
            public Page(ReadOnlySpan<byte> header, IMemoryOwner<byte>? owner) => (Header, Owner) = (header[0], owner);

            public byte Header { get; }

            public IMemoryOwner<byte>? Owner { get; set; }
        }

        public static class Example
        {
            public static Page Given()
            {
                var owner = A.Allocate<byte>(64);
                return new Page(owner.Memory.Span, owner);
            }

            public static Page Initialized()
            {
                var owner = A.Allocate<byte>(64);
                return new Page(owner.Memory.Span, null) { Owner = owner };
            }
        }
        """);

    [Fact]
    public Task Constructor_OfAddress_SilentAboutMemory() => Snippet.Members(
        """
        public static unsafe bool Run()
        {
            var owner = A.Allocate<byte>(64);
            byte* pointer = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(owner.Memory.Span));
            owner.Memory.Span.Clear();
            owner.Dispose();
            return new IntPtr(pointer) == IntPtr.Zero;
        }
        """);
}
