namespace Allocator.Analyzers.Tests.Recognition;

public sealed class BorrowedTests
{
    [Fact]
    public Task Owner_Borrowed_DoesNotEscape() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = A.Allocate<byte>(64);
            Fill(owner);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check({|ALLOC001:s[0]|});
        }

        private static void Fill([Borrowed] IMemoryOwner<byte> owner) => owner.Memory.Span.Fill(1);
        """);

    [Fact]
    public Task Owner_OnlyBorrowed_Leaks() => Snippet.Members(
        """
        public static void Run() => Fill({|ALLOC004:A.Allocate<byte>(64)|});

        private static void Fill([Borrowed] IMemoryOwner<byte> owner) => owner.Memory.Span.Fill(1);
        """);

    [Fact]
    public Task Memory_Borrowed_DoesNotEscape() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = {|ALLOC004:A.Allocate<byte>(64)|};
            Fill(owner.Memory);
        }

        private static void Fill([Borrowed] Memory<byte> memory) => memory.Span.Fill(1);
        """);

    [Fact]
    public Task Owner_BorrowedAfterDispose_Reported() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = A.Allocate<byte>(64);
            owner.Dispose();
            {|ALLOC002:Fill(owner)|};
        }

        private static void Fill([Borrowed] IMemoryOwner<byte> owner) => owner.Memory.Span.Fill(1);
        """);

    // The callee may keep it alive for as long as it uses the span.
    [Fact]
    public Task Owner_BorrowedTogetherWithItsSpan_OnlyLeak() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = {|ALLOC004:A.Allocate<byte>(64)|};
            Fill(owner.Memory.Span, owner);
        }

        private static void Fill(Span<byte> span, [Borrowed] IMemoryOwner<byte> owner)
        {
            span.Fill(1);
            GC.KeepAlive(owner);
        }
        """);

    [Fact]
    public Task Owner_BorrowedByInterface_DoesNotEscape() => Snippet.File(
        """
        public interface IFilter
        {
            void Apply([Borrowed] PixelBuffer<byte> buffer);
        }

        public static class Example
        {
            public static void Run(IFilter filter)
            {
                var buffer = {|ALLOC004:A.AllocatePixels<byte>(8, 8)|};
                filter.Apply(buffer);
            }
        }
        """);

    [Fact]
    public Task Owner_BorrowedByBase_DoesNotEscapeFromOverride() => Snippet.File(
        """
        public abstract class Filter
        {
            public abstract void Apply([Borrowed] PixelBuffer<byte> buffer);
        }

        public sealed class Blur : Filter
        {
            public override void Apply(PixelBuffer<byte> buffer) => buffer.Clear();
        }

        public static class Example
        {
            public static void Run(Blur blur)
            {
                var buffer = {|ALLOC004:A.AllocatePixels<byte>(8, 8)|};
                blur.Apply(buffer);
            }
        }
        """);

    [Fact]
    public Task Owner_NotBorrowed_Escapes() => Snippet.Members(
        """
        public static void Run() => Fill(A.Allocate<byte>(64));

        private static void Fill(IMemoryOwner<byte> owner) => owner.Memory.Span.Fill(1);
        """);

    [Fact]
    public Task Owner_BorrowedByUsing_Silent() => Snippet.Members(
        """
        public static void Run()
        {
            using var owner = A.Allocate<byte>(64);
            Fill(owner);
            owner.Memory.Span.Clear();
        }

        private static void Fill([Borrowed] IMemoryOwner<byte> owner) => owner.Memory.Span.Fill(1);
        """);
}
