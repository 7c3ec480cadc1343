using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

public class OwningObjectTests
{
    public const string Head =
        """
        using System;
        using System.Buffers;
        using System.Threading.Tasks;
        using Allocator;

        public sealed class Plane : IDisposable
        {
            private readonly IMemoryOwner<float> _data;

            public Plane(MemoryAllocator allocator, int width) => _data = allocator.Allocate<float>(width);

            public Span<float> Samples => _data.Memory.Span;
            public int Width => 3;
            public static Plane operator +(Plane plane, int width) => new(MemoryAllocator.Default, plane.Width + width);
            public void Dispose() => _data.Dispose();
        }

        public sealed record Decoded(PixelBuffer<byte> Pixels, string Format) : IDisposable
        {
            public void Dispose() => Pixels.Dispose();
        }

        public sealed class Pair(PixelBuffer<byte> first, PixelBuffer<byte> second) : IDisposable
        {
            public int Width => first.Width + second.Width;

            public void Dispose()
            {
                first.Dispose();
                second.Dispose();
            }
        }

        public sealed class Bare(PixelBuffer<byte> pixels)
        {
            public int Width => pixels.Width;
            public void Dispose() => pixels.Dispose();
        }

        public sealed class Raw
        {
            private readonly PixelBuffer<byte> _pixels;

            public Raw(MemoryAllocator allocator) => _pixels = allocator.AllocatePixels<byte>(8, 8);

            public int Width => _pixels.Width;
            public void Dispose() => _pixels.Dispose();
        }

        public class Snippet
        {
            private readonly MemoryAllocator _allocator = MemoryAllocator.Default;

            private static int Measure(Plane plane) => plane.Width;

            private static void Run(Func<int> work) => work();


        """;

    [Fact]
    public async Task ConfiguredVar_OfAnObjectWithoutAType_IsNotUsed()
    {
        string source = Head + "    public int M() => Measure(new(_allocator, 64));\n}\n";
        FixedProject project = FixedProject.Of(source, new DeclareOwnerWithUsing())
            .WithConfig("root = true\n[*.cs]\ncsharp_style_var_elsewhere = true:silent\n");

        await project.FixFirst();

        Assert.Contains("using Plane owner = new(_allocator, 64);", await project.Text());
    }
}
