using System.Linq;
using Allocator.Tests.Documentation;
using Xunit;

namespace Allocator.PackageTests;

/// <summary>New projects that know the library by its package only.</summary>
[Collection(nameof(PackedLibrary))]
public class ConsumerTests(PackedLibrary library)
{
    private const string LibraryCode =
        """
        using System;
        using System.Buffers;
        using Allocator;

        namespace Consumer
        {
            public static class Program
            {
                public static void Main()
                {
                    using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(3000000);
                    owner.Memory.Span.Fill(42);
                    using PixelBuffer<uint> pixels = MemoryAllocator.Default.AllocatePixels<uint>(640, 480, AllocationOptions.Clean);
                    pixels.ProcessPixelRows(accessor =>
                    {
                        for (int y = 0; y < accessor.Height; y++)
                        {
                            accessor.GetRowSpan(y).Fill(1);
                        }
                    });
                    Console.WriteLine(owner.Memory.Span.ToArray()[2999999]);
                }
            }
        }
        """;

    [Fact]
    public void ReadmeExample_InANewProject_CompilesAndRuns()
    {
        CodeBlock example = CodeBlock.All().First(block => block is { Document: "README.md", IsRun: true });
        string folder = library.NewProject("ReadmeExample", "net10.0", "Exe", example.Code);

        library.Dotnet(folder, "run");
    }

    [Fact]
    public void Net80Consumer_OfThePackage_Compiles()
    {
        string folder = library.NewProject("Net80Consumer", "net8.0", "Exe", LibraryCode);

        library.Dotnet(folder, "build");
    }

    [Fact]
    public void Net80Consumer_RolledForward_Runs()
    {
        string folder = library.NewProject("RolledForward", "net8.0", "Exe", LibraryCode);

        string printed = library.Dotnet(folder, "run", "-p:RollForward=LatestMajor");

        Assert.EndsWith("42", printed.TrimEnd());
    }

    [Fact]
    public void NetStandardConsumer_OfThePackage_Compiles()
    {
        string folder = library.NewProject("NetStandardConsumer", "netstandard2.0", "Library", LibraryCode);

        library.Dotnet(folder, "build");
    }
}
