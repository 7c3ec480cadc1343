using System.Collections.Generic;

namespace Allocator.Tests.Fakes;

/// <summary>The files in which a system tells about itself. What is not here cannot be read.</summary>
internal sealed class FakeFiles : Dictionary<string, string>
{
    /// <summary>Reads one, as <c>SystemFiles.TryRead</c> does.</summary>
    public string? TryRead(string path) => TryGetValue(path, out string? text) ? text : null;
}
