using System.Threading.Tasks;
using Xunit;

namespace Allocator.Analyzers.Tests.Recognition;

public sealed class OwnedBufferTests
{
    [Fact]
    public Task Factory_MarkedByUser_Reported() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = Make();
            Check({|ALLOC001:owner.Memory.Span[0]|});
        }

        [return: OwnedBuffer]
        private static IMemoryOwner<byte> Make() => A.Allocate<byte>(64);
        """);

    [Fact]
    public Task Factory_MarkedExtension_Reported() => Snippet.File(
        """
        public static class Extensions
        {
            [return: OwnedBuffer]
            public static PixelBuffer<byte> MakeSquare(this MemoryAllocator allocator, int size) =>
                allocator.AllocatePixels<byte>(size, size);
        }

        public static class Example
        {
            public static void Run()
            {
                var buffer = {|ALLOC004:A.MakeSquare(8)|};
                buffer.Clear();
            }
        }
        """);

    [Fact]
    public Task Factory_MarkedGeneric_Reported() => Snippet.Members(
        """
        public static void Run()
        {
            var owner = {|ALLOC004:Make<int>()|};
        }

        [return: OwnedBuffer]
        private static IMemoryOwner<T> Make<T>() where T : struct => A.Allocate<T>(64);
        """);

    [Fact]
    public Task Factory_MarkedOnInterface_ReportedOnInterfaceAndImplementation() => Snippet.File(
        """
        public interface ISource
        {
            [return: OwnedBuffer]
            IMemoryOwner<byte> Next();
        }

        public sealed class Source : ISource
        {
            public IMemoryOwner<byte> Next() => A.Allocate<byte>(64);
        }

        public static class Example
        {
            public static void Run(ISource promised, Source concrete)
            {
                {|ALLOC004:promised.Next()|};
                {|ALLOC004:concrete.Next()|};
            }
        }
        """);

    [Fact]
    public Task Factory_MarkedOnGenericInterface_ReportedOnImplementation() => Snippet.File(
        """
        public interface ISource<T> where T : struct
        {
            [return: OwnedBuffer]
            IMemoryOwner<T> Next();
        }

        public sealed class Source : ISource<byte>
        {
            public IMemoryOwner<byte> Next() => A.Allocate<byte>(64);
        }

        public static class Example
        {
            public static void Run(Source concrete) => {|ALLOC004:concrete.Next()|};
        }
        """);

    [Fact]
    public Task Factory_MarkedOnBase_ReportedOnOverride() => Snippet.File(
        """
        public abstract class Source
        {
            [return: OwnedBuffer]
            public abstract IMemoryOwner<byte> Next();
        }

        public sealed class Zeros : Source
        {
            public override IMemoryOwner<byte> Next() => A.Allocate<byte>(64);
        }

        public static class Example
        {
            public static void Run(Zeros zeros) => {|ALLOC004:zeros.Next()|};
        }
        """);

    [Fact]
    public Task Factory_Unmarked_Silent() => Snippet.Members(
        """
        public static void Run() => Make();

        private static IMemoryOwner<byte> Make() => A.Allocate<byte>(64);
        """);

    [Fact]
    public Task Factory_OfUsersType_OnlyLeakAndDisposal() => Snippet.File(
        """
        public sealed class Image : IDisposable
        {
            private readonly PixelBuffer<byte> _pixels = A.AllocatePixels<byte>(8, 8);
            public int Width => _pixels.Width;
            public ReadOnlySpan<byte> Name => "image"u8;
            public void Save() => Keep(_pixels);
            public void Dispose() => _pixels.Dispose();
            [return: OwnedBuffer]
            public static Image Load() => new Image();
        }

        public static class Example
        {
            public static void OnlyMeasured()
            {
                var image = {|ALLOC004:Image.Load()|};
                Number = image.Width;
            }

            // A member of a user's own type may keep the object, or give what does not depend on it.
            public static void Saved() => Image.Load().Save();

            public static void Named()
            {
                var image = Image.Load();
                Check(image.Name[0]);
            }
        }
        """);

    [Fact]
    public Task Factory_OfUsersMemoryOwner_Reported() => Snippet.File(
        """
        public sealed class Plane : IMemoryOwner<byte>
        {
            private readonly IMemoryOwner<byte> _owner = A.Allocate<byte>(64);
            public Memory<byte> Memory => _owner.Memory;
            public Span<byte> Span => _owner.Memory.Span;
            public void Dispose() => _owner.Dispose();
            [return: OwnedBuffer]
            public static Plane Make() => new Plane();
        }

        public static class Example
        {
            public static void ByMemory() => {|ALLOC001:Plane.Make().Memory.Span.Clear()|};

            public static void BySpan() => {|ALLOC001:Plane.Make().Span.Clear()|};
        }
        """);

    [Fact]
    public Task Factory_ThatMayGiveNull_Silent() => Snippet.Members(
        """
        public static void Run()
        {
            IMemoryOwner<byte>? owner = TryMake();
            if (owner is not null)
            {
                owner.Memory.Span.Clear();
                owner.Dispose();
            }
        }

        [return: OwnedBuffer]
        private static IMemoryOwner<byte>? TryMake() => Yes ? A.Allocate<byte>(64) : null;
        """);
}
