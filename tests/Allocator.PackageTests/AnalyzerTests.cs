namespace Allocator.PackageTests;

/// <summary>The rules as consumers of the package meet them, and the switches that they have.</summary>
[Collection(nameof(PackedLibrary))]
public class AnalyzerTests(PackedLibrary library)
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void NewProject_ByDefault_IsWarnedOfDangerAndOfCertainLeaks(bool isTransitive) =>
        Assert.Equal(["ALLOC001", "ALLOC004"], library.Consumers.Warnings("Default", isTransitive));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void EditorConfig_ById_SetsTheSeverity(bool isTransitive) =>
        Assert.Equal(["ALLOC004"], library.Consumers.Warnings("ConfiguredById", isTransitive));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void EditorConfig_ByCategory_SetsTheSeverityOfAll(bool isTransitive)
    {
        Assert.Equal(["ALLOC001", "ALLOC004"], library.Consumers.Warnings("ConfiguredByCategory", isTransitive));
        Assert.Empty(library.Consumers.Warnings("SilencedByCategory", isTransitive));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void NoWarn_OfARule_SilencesIt(bool isTransitive) =>
        Assert.Equal(["ALLOC004"], library.Consumers.Warnings("NoWarn", isTransitive));

    /// <summary>That it is built at all says that the warning is no error.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void WarningsNotAsErrors_OfARule_LeavesItAWarning(bool isTransitive) =>
        Assert.Equal(["ALLOC001", "ALLOC004"], library.Consumers.Warnings("NotAsErrors", isTransitive));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void AllocatorAnalyzers_False_RemovesThem(bool isTransitive) =>
        Assert.Empty(library.Consumers.Warnings("SwitchedOff", isTransitive));
}
