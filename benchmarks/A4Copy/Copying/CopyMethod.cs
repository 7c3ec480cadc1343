using System.Collections.Generic;

namespace A4Copy.Copying;

/// <summary>A way of copying unmanaged memory.</summary>
/// <param name="Name">The name for the tables.</param>
/// <param name="Copy">The copy.</param>
internal sealed record CopyMethod(string Name, PageCopy Copy)
{
    /// <summary>Gets all of them, in the order of the source of this test.</summary>
    public static unsafe IReadOnlyList<CopyMethod> All { get; } =
    [
        new("byte loop", PageCopies.ByteLoop),
        new("Marshal.Copy by array", PageCopies.MarshalCopy),
        new("stream by array", PageCopies.StreamByArray),
        new("stream CopyTo", PageCopies.StreamCopyTo),
        new("Buffer.MemoryCopy", PageCopies.MemoryCopy),
        new("span CopyTo", PageCopies.SpanCopy),
    ];
}
