using System.Text;

namespace Allocator.Tests.Fakes;

/// <summary>One of the files in which a system is said to tell about itself; it says what the files say when it is read.</summary>
internal sealed class FakeSystemFile : SystemFile
{
    private readonly FakeFiles _files;
    private readonly string _path;

    private FakeSystemFile(FakeFiles files, string path)
        : base(null)
    {
        _files = files;
        _path = path;
    }

    /// <summary>Opens a file, as <c>SystemFile.TryOpen</c> does.</summary>
    public static SystemFile? TryOpen(FakeFiles files, string path) => files.ContainsKey(path) ? new FakeSystemFile(files, path) : null;

    protected override int Read(byte[] buffer)
    {
        _files.Reads++;
        return _files.TryGetValue(_path, out string? text) && text != FakeFiles.Unreadable ? Encoding.UTF8.GetBytes(text, buffer)
            : throw new IOException("No such device.");
    }
}
