using System.Security.Cryptography;
using System.Text;

namespace LoadResizeSave.Running;

/// <summary>Tells whether all allocators led to the same files: memory that was handed out twice would show here.</summary>
internal sealed class OutputComparison
{
    public OutputComparison(IReadOnlyList<MeasuredRun> runs)
    {
        Hashes = [.. runs.Select(run => Hash(run.Saved))];
        Differences = [.. runs.SelectMany(run => Differing(runs[0], run)).Distinct().Order(StringComparer.Ordinal)];
    }

    public IReadOnlyList<string> Hashes { get; }

    public IReadOnlyList<string> Differences { get; }

    public bool AreIdentical => Hashes.Distinct().Count() == 1;

    private static string Hash(IReadOnlyList<SavedPicture> pictures)
    {
        using IncrementalHash hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (SavedPicture picture in pictures)
        {
            hash.AppendData(Encoding.UTF8.GetBytes($"{picture.Sha256} {picture.Name}\n"));
        }

        return Convert.ToHexStringLower(hash.GetHashAndReset());
    }

    private static IEnumerable<string> Differing(MeasuredRun first, MeasuredRun other)
        => first.Saved.Except(other.Saved).Concat(other.Saved.Except(first.Saved)).Select(picture => picture.Name);
}
