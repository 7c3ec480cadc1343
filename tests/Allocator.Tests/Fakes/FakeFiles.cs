namespace Allocator.Tests.Fakes;

/// <summary>The files in which a system tells about itself. What is not here cannot be read.</summary>
internal sealed class FakeFiles : Dictionary<string, string>
{
    /// <summary>The text of a file that is there, and of which every read fails.</summary>
    public const string Unreadable = "unreadable";

    /// <summary>Gets or sets how often one was read.</summary>
    public int Reads { get; set; }

    /// <summary>Opens one, as <c>SystemFile.TryOpen</c> does.</summary>
    public SystemFile? TryOpen(string path) => FakeSystemFile.TryOpen(this, path);
}
