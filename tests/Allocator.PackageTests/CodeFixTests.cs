namespace Allocator.PackageTests;

/// <summary>The fixes as the SDK itself loads them from the package.</summary>
[Collection(nameof(PackedLibrary))]
public class CodeFixTests(PackedLibrary library)
{
    private const string Code =
        """
        using System.Buffers;
        using Allocator;

        IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(64);
        owner.Memory.Span.Fill(1);
        await Write(Stream.Null);

        static ValueTask Write(Stream stream)
        {
            using IMemoryOwner<byte> header = MemoryAllocator.Default.Allocate<byte>(64);
            return stream.WriteAsync(header.Memory);
        }

        """;

    [Fact]
    public void Format_OfANewProject_FixesIt()
    {
        string folder = library.NewProject(
            "Formatted",
            Code,
            "<TargetFramework>net10.0</TargetFramework><OutputType>Exe</OutputType><ImplicitUsings>enable</ImplicitUsings>");

        library.Dotnet(folder, "format", "analyzers", "--diagnostics", "ALLOC001", "ALLOC005");

        string expected = Code
            .Replace("\nIMemoryOwner", "\nusing IMemoryOwner", System.StringComparison.Ordinal)
            .Replace("static ValueTask", "static async ValueTask", System.StringComparison.Ordinal)
            .Replace("return stream", "await stream", System.StringComparison.Ordinal);
        Assert.Equal(expected, File.ReadAllText(Path.Combine(folder, "Program.cs")));
    }
}
