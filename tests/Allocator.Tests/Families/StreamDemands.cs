namespace Allocator.Tests.Families;

/// <summary>
/// What the documentation of <see cref="Stream"/> and <see cref="MemoryStream"/> says of each member, as calls whose outcome can be
/// compared: by name, for streams in any state.
/// </summary>
internal static class StreamDemands
{
    private static readonly CancellationToken s_cancelled = new(canceled: true);

    // Each is made on a stream of its own, of which position, length and content are compared afterwards.
    private static readonly Dictionary<string, Func<Stream, object?>> s_all = new()
    {
        ["CanRead"] = static s => s.CanRead,
        ["CanWrite"] = static s => s.CanWrite,
        ["CanSeek"] = static s => s.CanSeek,
        ["CanTimeout"] = static s => s.CanTimeout,
        ["ReadTimeout"] = static s => s.ReadTimeout,
        ["WriteTimeout"] = static s => s.WriteTimeout,
        ["ReadTimeout, set"] = static s => s.ReadTimeout = 1,
        ["WriteTimeout, set"] = static s => s.WriteTimeout = 1,
        ["Length"] = static s => s.Length,
        ["Position"] = static s => s.Position,
        ["Position, to the beginning"] = static s => s.Position = 0,
        ["Position, to the end"] = static s => s.Position = s.Length,
        ["Position, beyond the end"] = static s => s.Position = s.Length + 1000,
        ["Position, negative"] = static s => s.Position = -1,
        ["Position, least"] = static s => s.Position = long.MinValue,
        ["Position, far, then back"] = static s => (s.Position = int.MaxValue, s.Position = 1),
        ["Position, far, then read"] = static s => (s.Position = int.MaxValue, s.ReadByte(), s.Read(new byte[10], 0, 10)),
        ["Flush"] = static s => Call(s.Flush),
        ["FlushAsync"] = static s => s.FlushAsync(),
        ["FlushAsync, cancelled"] = static s => s.FlushAsync(s_cancelled),

        ["Seek, from the beginning"] = static s => s.Seek(10, SeekOrigin.Begin),
        ["Seek, from the position"] = static s => s.Seek(10, SeekOrigin.Current),
        ["Seek, from the end"] = static s => s.Seek(0, SeekOrigin.End),
        ["Seek, back from the position"] = static s => s.Seek(-3, SeekOrigin.Current),
        ["Seek, back from the end"] = static s => s.Seek(-3, SeekOrigin.End),
        ["Seek, beyond the end, from the beginning"] = static s => s.Seek(1_000_000, SeekOrigin.Begin),
        ["Seek, beyond the end, from the position"] = static s => s.Seek(1_000_000, SeekOrigin.Current),
        ["Seek, beyond the end, from the end"] = static s => s.Seek(1_000_000, SeekOrigin.End),
        ["Seek, before the beginning"] = static s => s.Seek(-1, SeekOrigin.Begin),
        ["Seek, before the beginning, from the position"] = static s => s.Seek(-s.Position - 1, SeekOrigin.Current),
        ["Seek, before the beginning, from the end"] = static s => s.Seek(-s.Length - 1, SeekOrigin.End),
        ["Seek, by the least from the beginning"] = static s => s.Seek(long.MinValue, SeekOrigin.Begin),
        ["Seek, by the least from the position"] = static s => s.Seek(long.MinValue, SeekOrigin.Current),
        ["Seek, by the least from the end"] = static s => s.Seek(long.MinValue, SeekOrigin.End),
        ["Seek, by the most from the end"] = static s => NotEmpty(s) ? s.Seek(long.MaxValue, SeekOrigin.End) : null,
        ["Seek, by the most from the position"] = static s => NotEmpty(s) ? (s.ReadByte(), s.Seek(long.MaxValue, SeekOrigin.Current)) : 0,
        ["Seek, beyond the end, then read"] = static s => (s.Seek(5000, SeekOrigin.End), s.ReadByte(), s.Read(new byte[10], 0, 10)),
        ["Seek, beyond the end, then write"] = static s => (s.Seek(50, SeekOrigin.End), Call(() => s.WriteByte(1)), s.Length),

        // MemoryStream does not name the parameter.
        ["Seek, from no place"] = static s => Record.Exception(() => { s.Seek(0, (SeekOrigin)7); })?.GetType(),

        ["SetLength, the same"] = static s => Call(() => s.SetLength(s.Length)),
        ["SetLength, 0"] = static s => Call(() => s.SetLength(0)),
        ["SetLength, shorter"] = static s => Call(() => s.SetLength(s.Length / 2)),
        ["SetLength, longer"] = static s => Call(() => s.SetLength(s.Length + 100)),
        ["SetLength, longer than its blocks"] = static s => Call(() => s.SetLength(s.Length + 100_000)),
        ["SetLength, negative"] = static s => Call(() => s.SetLength(-1)),
        ["SetLength, least"] = static s => Call(() => s.SetLength(long.MinValue)),
        ["SetLength, shorter, then longer"] = static s => Call(() => { s.SetLength(3); s.SetLength(90); }),

        ["Read"] = static s => ReadTo(30, b => s.Read(b, 0, 30)),
        ["Read, into a part"] = static s => ReadTo(30, b => s.Read(b, 5, 10)),
        ["Read, more than there is"] = static s => ReadTo(500_000, b => s.Read(b, 0, b.Length)),
        ["Read, nothing"] = static s => ReadTo(10, b => s.Read(b, 0, 0)),
        ["Read, nothing at the end of the buffer"] = static s => ReadTo(10, b => s.Read(b, 10, 0)),
        ["Read, no buffer"] = static s => s.Read(null!, 0, 1),
        ["Read, no buffer, and the rest wrong"] = static s => s.Read(null!, -1, -1),
        ["Read, negative offset"] = static s => s.Read(new byte[1], -1, 1),
        ["Read, negative count"] = static s => s.Read(new byte[1], 0, -1),
        ["Read, both negative"] = static s => s.Read(new byte[1], -1, -1),
        ["Read, short buffer"] = static s => s.Read(new byte[1], 0, 2),
        ["Read, short behind the offset"] = static s => s.Read(new byte[4], 3, 2),
        ["Read, offset behind the buffer"] = static s => s.Read(new byte[4], 5, 0),
        ["Read, sum wraps"] = static s => s.Read(new byte[4], 3, int.MaxValue),
        ["Read, empty buffer too short"] = static s => s.Read([], 0, 1),
        ["Read, span"] = static s => ReadTo(30, b => s.Read(b.AsSpan())),
        ["Read, empty span"] = static s => s.Read([]),
        ["Read, span longer than there is"] = static s => ReadTo(500_000, b => s.Read(b.AsSpan())),
        ["ReadByte"] = static s => s.ReadByte(),
        ["ReadByte, to the end"] = static s => Enumerable.Range(0, 200).Sum(_ => s.ReadByte()),
        ["ReadAsync"] = static s => s.ReadAsync(new byte[30], 0, 30),
        ["ReadAsync, whole"] = static s => s.ReadAsync(new byte[500_000], 0, 500_000),
        ["ReadAsync, no buffer"] = static s => s.ReadAsync(null!, 0, 1),
        ["ReadAsync, negative offset"] = static s => s.ReadAsync(new byte[1], -1, 1),
        ["ReadAsync, negative count"] = static s => s.ReadAsync(new byte[1], 0, -1),
        ["ReadAsync, short buffer"] = static s => s.ReadAsync(new byte[1], 0, 2),
        ["ReadAsync, offset behind the buffer"] = static s => s.ReadAsync(new byte[4], 5, 0),
        ["ReadAsync, short buffer and cancelled"] = static s => s.ReadAsync(new byte[1], 0, 2, s_cancelled),
        ["ReadAsync, cancelled"] = static s => s.ReadAsync(new byte[1], 0, 1, s_cancelled),
        ["ReadAsync, memory"] = static s => s.ReadAsync(new byte[30].AsMemory()).AsTask(),
        ["ReadAsync, empty memory"] = static s => s.ReadAsync(Memory<byte>.Empty).AsTask(),
        ["ReadAsync, memory and cancelled"] = static s => s.ReadAsync(new byte[30].AsMemory(), s_cancelled).AsTask(),
        ["ReadAsync, completes at once"] = static s => s.ReadAsync(new byte[30].AsMemory()).IsCompletedSuccessfully,
        ["ReadExactly"] = static s => ReadTo(30, b => { s.ReadExactly(b); return 30; }),
        ["ReadAtLeast"] = static s => ReadTo(300, b => s.ReadAtLeast(b, 10, throwOnEndOfStream: false)),
        ["BeginRead, EndRead"] = static s => ReadTo(30, b => s.EndRead(s.BeginRead(b, 0, 30, null, null))),
        ["BeginRead, its state"] = static s => Await(s.BeginRead(new byte[1], 0, 1, null, "state"), s.EndRead).AsyncState,
        ["BeginRead, calls back"] = static s => CallsBack(back => s.BeginRead(new byte[1], 0, 1, back, null), a => s.EndRead(a)),
        ["BeginRead, no buffer"] = static s => s.EndRead(s.BeginRead(null!, 0, 1, null, null)),
        ["BeginRead, short buffer"] = static s => s.EndRead(s.BeginRead(new byte[1], 0, 2, null, null)),
        ["EndRead, nothing"] = static s => s.EndRead(null!),

        ["Write"] = static s => Call(() => s.Write(Bytes(30), 0, 30)),
        ["Write, a part"] = static s => Call(() => s.Write(Bytes(30), 5, 10)),
        ["Write, nothing"] = static s => Call(() => s.Write(Bytes(30), 0, 0)),
        ["Write, much"] = static s => Call(() => s.Write(Bytes(100_000), 0, 100_000)),
        ["Write, no buffer"] = static s => Call(() => s.Write(null!, 0, 1)),
        ["Write, negative offset"] = static s => Call(() => s.Write(new byte[1], -1, 1)),
        ["Write, negative count"] = static s => Call(() => s.Write(new byte[1], 0, -1)),
        ["Write, short buffer"] = static s => Call(() => s.Write(new byte[1], 0, 2)),
        ["Write, short behind the offset"] = static s => Call(() => s.Write(new byte[4], 3, 2)),
        ["Write, sum wraps"] = static s => Call(() => s.Write(new byte[4], 3, int.MaxValue)),
        ["Write, span"] = static s => Call(() => s.Write(Bytes(30).AsSpan())),
        ["Write, empty span"] = static s => Call(() => s.Write([])),
        ["Write, over the end"] = static s => Call(() => { s.Position = s.Length / 2; s.Write(Bytes(90), 0, 90); }),
        ["WriteByte"] = static s => Call(() => s.WriteByte(7)),
        ["WriteByte, many"] = static s => Call(() => Array.ForEach(Bytes(300), s.WriteByte)),
        ["WriteAsync"] = static s => s.WriteAsync(Bytes(30), 0, 30),
        ["WriteAsync, no buffer"] = static s => s.WriteAsync(null!, 0, 1),
        ["WriteAsync, negative offset"] = static s => s.WriteAsync(new byte[1], -1, 1),
        ["WriteAsync, negative count"] = static s => s.WriteAsync(new byte[1], 0, -1),
        ["WriteAsync, short buffer"] = static s => s.WriteAsync(new byte[1], 0, 2),
        ["WriteAsync, short buffer and cancelled"] = static s => s.WriteAsync(new byte[1], 0, 2, s_cancelled),
        ["WriteAsync, cancelled"] = static s => s.WriteAsync(new byte[1], 0, 1, s_cancelled),
        ["WriteAsync, memory"] = static s => s.WriteAsync(Bytes(30).AsMemory()).AsTask(),
        ["WriteAsync, memory and cancelled"] = static s => s.WriteAsync(Bytes(30).AsMemory(), s_cancelled).AsTask(),
        ["BeginWrite, EndWrite"] = static s => Call(() => s.EndWrite(s.BeginWrite(Bytes(30), 0, 30, null, null))),
        ["BeginWrite, calls back"] = static s => CallsBack(back => s.BeginWrite(Bytes(1), 0, 1, back, null), s.EndWrite),
        ["BeginWrite, no buffer"] = static s => Call(() => s.EndWrite(s.BeginWrite(null!, 0, 1, null, null))),
        ["BeginWrite, short buffer"] = static s => Call(() => s.EndWrite(s.BeginWrite(new byte[1], 0, 2, null, null))),
        ["EndWrite, nothing"] = static s => Call(() => s.EndWrite(null!)),

        ["CopyTo"] = static s => CopyOf(to => s.CopyTo(to)),
        ["CopyTo, small buffer"] = static s => CopyOf(to => s.CopyTo(to, 1)),
        ["CopyTo, nowhere"] = static s => Call(() => s.CopyTo(null!)),
        ["CopyTo, nowhere, and no buffer"] = static s => Call(() => s.CopyTo(null!, 0)),
        ["CopyTo, no buffer"] = static s => Call(() => s.CopyTo(new MemoryStream(), 0)),
        ["CopyTo, negative buffer"] = static s => Call(() => s.CopyTo(new MemoryStream(), -1)),
        ["CopyTo, a stream that is read only"] = static s => Call(() => s.CopyTo(ReadOnly())),
        ["CopyTo, a stream that is closed"] = static s => Call(() => s.CopyTo(Closed())),
        ["CopyTo, a closed stream without buffer"] = static s => Call(() => s.CopyTo(Closed(), 0)),
        ["CopyToAsync"] = static s => CopyOf(to => s.CopyToAsync(to).GetAwaiter().GetResult()),
        ["CopyToAsync, nowhere"] = static s => s.CopyToAsync(null!),
        ["CopyToAsync, no buffer"] = static s => s.CopyToAsync(new MemoryStream(), 0),
        ["CopyToAsync, a stream that is read only"] = static s => s.CopyToAsync(ReadOnly()),
        ["CopyToAsync, a stream that is closed"] = static s => s.CopyToAsync(Closed()),
        ["CopyToAsync, cancelled"] = static s => s.CopyToAsync(new MemoryStream(), s_cancelled),
        ["CopyToAsync, cancelled and nowhere"] = static s => s.CopyToAsync(null!, s_cancelled),

        ["Close"] = static s => Call(s.Close),
        ["Close, twice"] = static s => Call(() => { s.Close(); s.Close(); }),
        ["Dispose, then what it can"] = static s => { s.Dispose(); return (s.CanRead, s.CanWrite, s.CanSeek); },
        ["DisposeAsync"] = static s => s.DisposeAsync().AsTask(),
        ["DisposeAsync, then Dispose"] = static s => { s.DisposeAsync().AsTask().Wait(); s.Dispose(); return s.CanRead; },
    };

    public static IEnumerable<string> Names => s_all.Keys;

    /// <summary>Does what a demand names, and says what it came to, and in what state the stream is then.</summary>
    public static string Make(string name, Stream stream)
    {
        string outcome = Outcome.Of(() => s_all[name](stream));
        string place = $"at {Outcome.Of(() => stream.Position)} of {Outcome.Of(() => stream.Length)}";
        return $"{outcome}; {place}: {Outcome.Of(() => Content(stream))}";
    }

    public static byte[] Bytes(int length) => [.. Enumerable.Range(0, length).Select(static i => (byte)(i * 7 + 1))];

    public static MemoryStream ReadOnly() => new([], writable: false);

    public static MemoryStream Closed()
    {
        MemoryStream stream = new();
        stream.Dispose();
        return stream;
    }

    private static byte[] Content(Stream stream)
    {
        stream.Position = 0;
        byte[] content = new byte[stream.Length];
        stream.ReadExactly(content);
        return content;
    }

    // At 0 of nothing our limit is reached nowhere, and MemoryStream's everywhere.
    private static bool NotEmpty(Stream stream) => stream.Length > 0;

    private static object? Call(Action action)
    {
        action();
        return null;
    }

    private static byte[] CopyOf(Action<Stream> copy)
    {
        using MemoryStream to = new();
        copy(to);
        return to.ToArray();
    }

    private static (int Count, object Read) ReadTo(int length, Func<byte[], int> read)
    {
        byte[] buffer = new byte[length];
        int count = read(buffer);
        return (count, Outcome.Of(() => buffer));
    }

    private static IAsyncResult Await(IAsyncResult result, Func<IAsyncResult, int> end)
    {
        end(result);
        return result;
    }

    private static bool CallsBack(Func<AsyncCallback, IAsyncResult> begin, Action<IAsyncResult> end)
    {
        using ManualResetEventSlim called = new();
        IAsyncResult result = begin(_ => called.Set());
        end(result);
        return called.Wait(TimeSpan.FromSeconds(60));
    }
}
