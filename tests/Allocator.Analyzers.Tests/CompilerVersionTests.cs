using System.Reflection;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests;

public sealed class CompilerVersionTests
{
    [Fact]
    public void Compiler_OfThisRun_IsTheOneAskedFor()
    {
        string asked = typeof(CompilerVersionTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(attribute => attribute.Key == "RoslynVersion").Value!;
        Version loaded = typeof(CSharpCompilation).Assembly.GetName().Version!;

        Assert.Equal(Version.Parse(asked), new Version(loaded.Major, loaded.Minor, loaded.Build));
    }

    [Fact]
    public void Analyzer_References_NoCompilerNewerThanTheOldestSupported()
    {
        AssemblyName[] compilers = typeof(LifetimeAnalyzer).Assembly.GetReferencedAssemblies()
            .Where(reference => reference.Name!.StartsWith("Microsoft.CodeAnalysis", StringComparison.Ordinal)).ToArray();

        Assert.NotEmpty(compilers);
        Assert.All(compilers, reference => Assert.Equal(new Version(4, 8, 0, 0), reference.Version));
        Assert.DoesNotContain(compilers, reference => reference.Name!.Contains("Workspaces", StringComparison.Ordinal));
    }
}
