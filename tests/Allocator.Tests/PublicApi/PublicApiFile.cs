using System.Reflection;

namespace Allocator.Tests.PublicApi;

/// <summary>The <c>PublicApi.txt</c> of a project: a change of the public API is a line in a review.</summary>
internal static class PublicApiFile
{
    private const string UpdateVariable = "ALLOCATOR_UPDATE_PUBLIC_API";

    /// <summary>Compares the file with an assembly, or writes it where the environment asks for that.</summary>
    public static void AssertIsOf(Assembly assembly, string project)
    {
        string file = Repository.PathTo("src", project, "PublicApi.txt");
        string actual = ApiListing.Of(assembly);
        if (Environment.GetEnvironmentVariable(UpdateVariable) == "1")
        {
            File.WriteAllText(file, actual);
            return;
        }

        string expected = File.Exists(file) ? File.ReadAllText(file).ReplaceLineEndings("\n") : "";

        // Line by line: the order is that of the machine's culture.
        string difference = Difference(expected, actual);
        Assert.True(
            difference.Length == 0,
            $"The public API (+) differs from src/{project}/PublicApi.txt (-):\n{difference}\n" +
            $"If that is intended:  {UpdateVariable}=1 dotnet test tests/{project}.Tests --filter PublicApi");
    }

    private static string Difference(string before, string after)
    {
        string[] old = Lines(before);
        string[] current = Lines(after);
        return string.Join('\n', [.. old.Except(current).Select(line => "- " + line), .. current.Except(old).Select(line => "+ " + line)]);
    }

    // A member with the type that it is of.
    private static string[] Lines(string text) =>
        [.. from type in text.Split("\n\n")
            let lines = type.Trim().Split('\n')
            from line in lines
            select line == lines[0] ? line : $"{line.Trim()}    (of {lines[0]})"];
}
