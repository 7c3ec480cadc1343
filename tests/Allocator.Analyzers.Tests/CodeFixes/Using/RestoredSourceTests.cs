using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Using;
using Xunit.Abstractions;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

/// <summary>
/// Real sources that lose every <c>using</c> of an owner: each that the analyzer misses comes back, and nothing else changes.
/// </summary>
public class RestoredSourceTests(ITestOutputHelper output)
{
    // Tests hand many an owner to an assertion or a lambda, where the analyzer rightly knows nothing of it.
    private const double LeastShare = 0.7;

    // All that this process may load: the library, and what its tests are compiled against.
    private static readonly ImmutableArray<MetadataReference> s_references =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Select(path => MetadataReference.CreateFromFile(path)),
    ];

    [SkippableTheory]
    // By these names they see the internals.
    [InlineData("PlatformSmoke", "tests/AotSample", "tests/ContractSuite")]
    [InlineData(
        "Allocator.Tests",
        "tests/Allocator.Tests",
        "tests/RemoteExecutor",
        "benchmarks/Measuring/Cgroups",
        "docs/integrations/code/native/*.cs")]
    public async Task FixAll_OfSourcesWithoutTheirKeywords_RestoresThemByteForByte(string assembly, params string[] folders)
    {
        Skip.If(
            assembly == "Allocator.Tests" && Environment.GetEnvironmentVariable("ALLOCATOR_ALL_SOURCES") is null,
            "Half a minute for 28,000 lines: in the nightly run, which sets ALLOCATOR_ALL_SOURCES.");
        Skip.If(
            assembly == "Allocator.Tests" && typeof(Compilation).Assembly.GetName().Version!.Major < 5,
            "Those tests use members of `extension` blocks, which came with the compiler 5.0.");
        DeletedKeywords deleted = DeletedKeywords.From(assembly, s_references, folders);
        FixedProject project = FixedProject.Of(assembly, deleted.Files, s_references, new DeclareOwnerWithUsing());
        ImmutableArray<Diagnostic> found = deleted.Among(await project.Diagnostics());

        await project.FixAll(found);

        int owners = deleted.CountOwners(found);
        output.WriteLine($"{deleted.Count} keywords deleted, {owners} restored");
        foreach (Document document in project.Project.Documents)
        {
            Assert.Equal(deleted.Restored(document.Name, found), (await document.GetTextAsync()).ToString());
        }

        Assert.Empty(deleted.Among(await project.Diagnostics()));
        Assert.True(owners >= deleted.Count * LeastShare, $"{deleted.Count} keywords deleted, {owners} restored");
    }
}
