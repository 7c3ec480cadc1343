using System.Threading.Tasks;
using Xunit;

namespace Allocator.Analyzers.Tests.Outliving;

public sealed class ReturnTests
{
    [Fact]
    public Task Span_Returned_Reported() => Snippet.Members(
        """
        public static Span<byte> Run()
        {
            var owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            return {|ALLOC003:s|};
        }
        """);

    [Fact]
    public Task Span_ReturnedByExpression_Reported() => Snippet.Members(
        """
        public static Span<byte> Run() => {|ALLOC003:A.Allocate<byte>(64).Memory.Span|};
        """);

    [Fact]
    public Task Reference_Returned_Reported() => Snippet.Members(
        """
        public static ref byte Run()
        {
            var owner = A.Allocate<byte>(64);
            return ref {|ALLOC003:owner.Memory.Span[0]|};
        }
        """);

    [Fact]
    public Task Memory_OfUsingReturned_Reported() => Snippet.Members(
        """
        public static Memory<byte> Run()
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC003:owner.Memory|};
        }
        """);

    [Fact]
    public Task Memory_SlicedOfUsingReturned_Reported() => Snippet.Members(
        """
        public static ReadOnlyMemory<byte> Run()
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC003:owner.Memory.Slice(4)|};
        }
        """);

    [Fact]
    public Task Memory_OfFinallyReturned_Reported() => Snippet.Members(
        """
        public static Memory<byte> Run()
        {
            var owner = A.Allocate<byte>(64);
            try
            {
                return {|ALLOC003:owner.Memory|};
            }
            finally
            {
                owner.Dispose();
            }
        }
        """);

    [Fact]
    public Task Owner_OfUsingReturned_Reported() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            using var owner = A.Allocate<byte>(64);
            owner.Memory.Span.Clear();
            return {|ALLOC003:owner|};
        }
        """);

    [Fact]
    public Task Owner_OfOuterUsingReturned_Reported() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            using var owner = A.Allocate<byte>(64);
            using var other = A.Allocate<byte>(64);
            return {|ALLOC003:owner|};
        }
        """);

    [Fact]
    public Task PixelBuffer_OfUsingReturned_Reported() => Snippet.Members(
        """
        public static PixelBuffer<int> Run()
        {
            using PixelBuffer<int> buffer = A.AllocatePixels<int>(8, 8);
            return {|ALLOC003:buffer|};
        }
        """);

    [Fact]
    public Task Memory_OfUsingReturnedFromLambda_Reported() => Snippet.Body(
        """
        Func<Memory<byte>> f = static () =>
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC003:owner.Memory|};
        };
        f();
        """);

    [Fact]
    public Task Owner_Returned_Silent() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run() => A.Allocate<byte>(64);
        """);

    [Fact]
    public Task Owner_ReturnedAfterSuccess_Silent() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            IMemoryOwner<byte>? owner = A.Allocate<byte>(64);
            try
            {
                Gc();
                IMemoryOwner<byte> result = owner;
                owner = null;
                return result;
            }
            finally
            {
                owner?.Dispose();
            }
        }
        """);

    [Fact]
    public Task Owner_ReturnedUnlessFailed_Silent() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            bool done = false;
            IMemoryOwner<byte> owner = A.Allocate<byte>(64);
            try
            {
                Gc();
                done = true;
                return owner;
            }
            finally
            {
                if (!done)
                {
                    owner.Dispose();
                }
            }
        }
        """);

    [Fact]
    public Task Owner_ReturnedUnlessCaught_Silent() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            IMemoryOwner<byte> owner = A.Allocate<byte>(64);
            try
            {
                Gc();
                return owner;
            }
            catch
            {
                owner.Dispose();
                throw;
            }
        }
        """);

    [Fact]
    public Task Owner_OtherThanUsingReturned_Silent() => Snippet.Members(
        """
        public static IMemoryOwner<byte> Run()
        {
            using var scratch = A.Allocate<byte>(64);
            var owner = A.Allocate<byte>(64);
            scratch.Memory.Span.CopyTo(owner.Memory.Span);
            return owner;
        }
        """);

    [Fact]
    public Task Memory_ReturnedWithOwner_Silent() => Snippet.Members(
        """
        public static (IMemoryOwner<byte>, Memory<byte>) Run()
        {
            var owner = A.Allocate<byte>(64);
            return (owner, owner.Memory.Slice(1));
        }
        """);

    // The memory keeps its owner reachable; it cannot be disposed, but nothing breaks.
    [Fact]
    public Task Memory_OfOwnerThatStays_Silent() => Snippet.Members(
        """
        public static Memory<byte> Run()
        {
            var owner = A.Allocate<byte>(64);
            return owner.Memory;
        }
        """);

    [Fact]
    public Task Number_OfUsingReturned_Silent() => Snippet.Members(
        """
        public static int Run()
        {
            using var owner = A.Allocate<byte>(64);
            return owner.Memory.Span[0] + owner.Memory.Length;
        }
        """);

    [Fact]
    public Task Copy_OfUsingReturned_Silent() => Snippet.Members(
        """
        public static byte[] Run()
        {
            using var owner = A.Allocate<byte>(64);
            return owner.Memory.ToArray();
        }
        """);

    [Fact]
    public Task Span_OfParameterReturned_Silent() => Snippet.Members(
        """
        public static Span<byte> Run(IMemoryOwner<byte> owner)
        {
            using var scratch = A.Allocate<byte>(64);
            return owner.Memory.Span;
        }
        """);
}
