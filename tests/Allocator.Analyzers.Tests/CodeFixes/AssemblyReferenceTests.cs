using System.Reflection;
using Allocator.CodeFixes.Awaiting;

namespace Allocator.Analyzers.Tests.CodeFixes;

public class AssemblyReferenceTests
{
    /// <summary>
    /// What Visual Studio 2022 17.8 and the .NET SDK 8 load beside a code fix; a reference to anything newer fails there.
    /// </summary>
    public static TheoryData<string, string> OldestHost => new()
    {
        { "netstandard", "2.0" },
        { "Microsoft.CodeAnalysis", "4.8" },
        { "Microsoft.CodeAnalysis.CSharp", "4.8" },
        { "Microsoft.CodeAnalysis.Workspaces", "4.8" },
        { "System.Collections.Immutable", "7.0" },
    };

    // The analyzers lie beside the fixes in the package.
    [Fact]
    public void CodeFixes_References_AreAllKnownToTheOldestHost() =>
        Assert.Empty(References().Select(reference => reference.Name).Except(
            OldestHost.Select(row => (string?)row[0]).Append("Allocator.Analyzers")));

    [Theory]
    [MemberData(nameof(OldestHost))]
    public void CodeFixes_Reference_IsNotNewerThanTheOldestHost(string name, string version)
    {
        AssemblyName? reference = References().SingleOrDefault(reference => reference.Name == name);
        Version newest = Version.Parse(version);

        Assert.True(reference is null || new Version(reference.Version!.Major, reference.Version.Minor) <= newest, $"{reference}");
    }

    [Fact]
    public void Workspaces_OfThisRun_AreThoseAskedFor()
    {
        string asked = typeof(AssemblyReferenceTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(attribute => attribute.Key == "RoslynVersion").Value!;

        Assert.Equal(Version.Parse(asked), Version.Parse(typeof(Workspace).Assembly.GetName().Version!.ToString(3)));
    }

    private static AssemblyName[] References() => typeof(AwaitReturnedTask).Assembly.GetReferencedAssemblies();
}
