namespace Measuring.Tests.Results;

public class ResultFileTests
{
    [Fact]
    public void Read_WhatWasSaved_IsTheSame()
    {
        using TemporaryFolder folder = new();
        ResultDocument saved = Documents.Create(
            charts: Documents.Bars("Chart", ["a", "b"], Documents.Series("one", (0, 1.5), (1, 2)))) with
        {
            Pictures = [new ResultPicture("Memory", "memory.svg")],
        };

        ResultDocument read = ResultFile.Read(ResultFile.Save(saved, folder.Path));

        // Records with lists are equal only where the lists are the same objects, so the two are compared as text.
        Assert.Equal(Json(saved), Json(read));
        Assert.Equal(saved.Date, read.Date);
        Assert.Null(read.Tables[0].Rows[1].Values[1]);
        Assert.Equal("Memory", read.Pictures[0].Title);
    }

    [Fact]
    public void Save_FolderThatIsNotThere_MakesItAndNamesTheFileAfterTheProgram()
    {
        using TemporaryFolder folder = new();

        string path = ResultFile.Save(Documents.Create("Other"), Path.Combine(folder.Path, "a", "b"));

        Assert.Equal(Path.Combine(folder.Path, "a", "b", "Other.json"), path);
        Assert.EndsWith("}\n", File.ReadAllText(path));
    }

    [Fact]
    public void Read_FileWithoutOptionalParts_HasThemEmpty()
    {
        using TemporaryFolder folder = new();
        string path = folder.At("old.json");
        File.WriteAllText(path, """
            {"program":"P","title":"T","command":"c","date":"2026-11-21T00:00:00Z","tables":[],
             "machine":{"processor":"p","cores":1,"memoryBytes":1,"operatingSystem":"o","runtime":"r","pageSize":4096}}
            """);

        ResultDocument document = ResultFile.Read(path);

        Assert.Empty(document.Notes);
        Assert.Empty(document.Charts);
        Assert.Empty(document.Pictures);
        Assert.Null(document.Machine.HugePages);
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("{\"program\":\"P\"")]
    [InlineData("{\"program\":\"P\"}")]
    [InlineData("{\"program\":5}")]
    public void Read_Damage_ThrowsAndNamesTheFile(string content)
    {
        using TemporaryFolder folder = new();
        string path = folder.At("damaged.json");
        File.WriteAllText(path, content);

        InvalidDataException exception = Assert.Throws<InvalidDataException>(() => ResultFile.Read(path));

        Assert.Contains(path, exception.Message);
    }

    [Fact]
    public void Read_NullInsteadOfTables_Throws()
    {
        using TemporaryFolder folder = new();
        string path = ResultFile.Save(Documents.Create() with { Tables = [] }, folder.Path);
        File.WriteAllText(path, File.ReadAllText(path).Replace("\"tables\": []", "\"tables\": null"));

        Assert.Throws<InvalidDataException>(() => ResultFile.Read(path));
    }

    private static string Json(ResultDocument document)
        => System.Text.Json.JsonSerializer.Serialize(document, ResultJson.Default.ResultDocument);
}
