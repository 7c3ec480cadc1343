using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Report.Reading;

namespace Report.Pages;

/// <summary>The files to be written, none of them twice.</summary>
internal sealed class PageSet
{
    private readonly string _folder;
    private readonly SortedDictionary<string, string> _contents = new(StringComparer.Ordinal);

    /// <summary>Prepares files below <paramref name="folder"/>.</summary>
    public PageSet(string folder)
    {
        _folder = folder;
    }

    /// <summary>Adds a file. <paramref name="path"/> has <c>/</c> between the names.</summary>
    /// <exception cref="InvalidDataException">Another file has that path, or somebody writes it by hand.</exception>
    public void Add(string path, string content)
    {
        if (Path.GetFileName(path) == ResultTree.NotesName)
        {
            throw new InvalidDataException($"its page would be {path}, which is written by hand.");
        }

        if (!_contents.TryAdd(path, content))
        {
            throw new InvalidDataException($"it needs the file {path}, and so does another result.");
        }
    }

    /// <summary>Tells whether a file is there already, on disk.</summary>
    public bool Exists(string path) => File.Exists(Path.Combine(_folder, path));

    /// <summary>Writes all files and returns their paths.</summary>
    public IEnumerable<string> Write()
    {
        foreach ((string path, string content) in _contents)
        {
            File.WriteAllText(Path.Combine(_folder, path), content);
            yield return path;
        }
    }

    /// <summary>Returns the pages and pictures beside results that belong to none of them.</summary>
    public IEnumerable<string> FindStrangers(ResultTree tree)
    {
        List<StoredResult> results = [.. tree.Processors.SelectMany(processor => processor.Results)];
        IEnumerable<string> known = results.SelectMany(result => result.Document.Pictures.Select(picture => result.Beside(picture.File)));
        IEnumerable<string> found = results.Select(result => result.Beside("")).Distinct().SelectMany(
            folder => Directory.EnumerateFiles(Path.Combine(_folder, folder)).Select(file => folder + Path.GetFileName(file)));
        return found
            .Where(path => Path.GetExtension(path) is ".md" or ".svg" && Path.GetFileName(path) != ResultTree.NotesName)
            .Except(_contents.Keys).Except(known).Order(StringComparer.Ordinal);
    }
}
