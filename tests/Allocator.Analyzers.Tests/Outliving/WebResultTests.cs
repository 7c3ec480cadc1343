namespace Allocator.Analyzers.Tests.Outliving;

/// <summary>The results of ASP.NET Core, of the real assemblies: a response is written when the handler has returned.</summary>
public sealed class WebResultTests
{
    private static readonly ImmutableArray<MetadataReference> s_references = SnippetReferences.WithAllocator.AddRange(
        Directory.EnumerateFiles(Path.GetDirectoryName(typeof(Microsoft.AspNetCore.Http.Results).Assembly.Location)!, "Microsoft.*.dll")
            .Select(path => MetadataReference.CreateFromFile(path)));

    [Theory]
    [InlineData("Results.Bytes(owner.Memory, \"image/png\")")]
    [InlineData("TypedResults.Bytes(owner.Memory)")]
    [InlineData("Results.Bytes(owner.Memory.Slice(1))")]
    public Task Bytes_OfUsingReturned_Reported(string result) => Verify($$"""
        public static IResult Get(MemoryAllocator allocator)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(64);
            owner.Memory.Span.Clear();
            return {|ALLOC003:{{result}}|};
        }
        """);

    [Fact]
    public Task Stream_OfUsingReturned_Reported() => Verify("""
        public static IResult Get(MemoryAllocator allocator)
        {
            using PooledMemoryStream stream = allocator.CreateStream();
            stream.WriteByte(1);
            return {|ALLOC003:Results.Stream(stream)|};
        }
        """);

    [Fact]
    public Task Bytes_OfACopy_Silent() => Verify("""
        public static IResult Get(MemoryAllocator allocator)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(64);
            owner.Memory.Span.Clear();
            return Results.Bytes(owner.Memory.ToArray());
        }

        public static async Task Write(MemoryAllocator allocator, HttpContext context)
        {
            using IMemoryOwner<byte> owner = allocator.Allocate<byte>(64);
            await context.Response.Body.WriteAsync(owner.Memory);
        }

        // It disposes the stream when it is written.
        public static IResult Stream(MemoryAllocator allocator)
        {
            PooledMemoryStream stream = allocator.CreateStream();
            stream.WriteByte(1);
            return Results.Stream(stream);
        }
        """);

    private static Task Verify(string members) => AnalyzerVerifier.Verify<LifetimeAnalyzer>(
        $$"""
        using System.Buffers;
        using System.IO;
        using System.Threading.Tasks;
        using Allocator;
        using Microsoft.AspNetCore.Http;

        public static class Endpoints
        {
        {{members}}
        }
        """,
        s_references);
}
