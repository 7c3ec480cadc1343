using System;
using System.IO;
using Allocator.Tests;
using Allocator.Tests.PublicApi;
using Xunit;

namespace Allocator.AspNetCore.Tests;

/// <summary>A change of the public API is a change of <c>src/Allocator.AspNetCore/PublicApi.txt</c>, and so a line in a review.</summary>
public class PublicApiTests
{
    private const string UpdateVariable = "ALLOCATOR_UPDATE_PUBLIC_API";

    [Fact]
    public void PublicApi_OfThePackage_IsTheOneOnFile()
    {
        string file = Repository.PathTo("src", "Allocator.AspNetCore", "PublicApi.txt");
        string actual = ApiListing.Of(typeof(IMemoryReservationFeature).Assembly);
        if (Environment.GetEnvironmentVariable(UpdateVariable) == "1")
        {
            File.WriteAllText(file, actual);
            return;
        }

        string expected = File.Exists(file) ? File.ReadAllText(file).ReplaceLineEndings("\n") : "";
        Assert.True(
            expected == actual,
            $"The public API (+) differs from src/Allocator.AspNetCore/PublicApi.txt (-):\n{LineDiff.Between(expected, actual)}\n" +
            $"If that is intended:  {UpdateVariable}=1 dotnet test tests/Allocator.AspNetCore.Tests --filter PublicApi");
    }
}
