using System;
using System.IO;
using Xunit;

namespace Allocator.Tests.PublicApi;

/// <summary>A change of the public API is a change of <c>src/Allocator/PublicApi.txt</c>, and so a line in a review.</summary>
public class PublicApiTests
{
    private const string UpdateVariable = "ALLOCATOR_UPDATE_PUBLIC_API";

    [Fact]
    public void PublicApi_OfTheLibrary_IsTheOneOnFile()
    {
        string file = Repository.PathTo("src", "Allocator", "PublicApi.txt");
        string actual = ApiListing.Of(typeof(MemoryAllocator).Assembly);
        if (Environment.GetEnvironmentVariable(UpdateVariable) == "1")
        {
            File.WriteAllText(file, actual);
            return;
        }

        string expected = File.Exists(file) ? File.ReadAllText(file).ReplaceLineEndings("\n") : "";
        Assert.True(
            expected == actual,
            $"The public API (+) differs from src/Allocator/PublicApi.txt (-):\n{LineDiff.Between(expected, actual)}\n" +
            $"If that is intended:  {UpdateVariable}=1 dotnet test tests/Allocator.Tests --filter PublicApi");
    }
}
