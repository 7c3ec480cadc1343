using System.IO.Pipelines;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The body of a request, received as a whole: up to 64 KB in memory, more in a temporary file. A slow client holds nothing else. All
/// bodies together may hold a bounded amount of memory; beyond it, new ones go to files from their first byte.
/// </summary>
internal sealed class BufferedBody : IAsyncDisposable
{
    public const int MemoryThreshold = 64 * 1024;

    public const long MostHeldBytes = 16L << 20;

    // As large as one block of the server, so that most writes bypass this buffer. Every waiting upload has one.
    private const int FileBufferLength = 4096;

    private static long s_heldBytes;

    private int _heldBytes;

    /// <summary>Gets how many bytes of bodies are in memory now.</summary>
    public static long HeldBytes => Volatile.Read(ref s_heldBytes);

    /// <summary>Gets the store of the body.</summary>
    public Stream Store { get; private set; } = new MemoryStream();

    /// <summary>Receives the body until its end.</summary>
    /// <exception cref="BodyStorageException">The server cannot keep it.</exception>
    /// <exception cref="IOException">The client has gone, or sends data that the server refuses.</exception>
    /// <exception cref="OperationCanceledException">The client has gone.</exception>
    public async Task ReceiveAsync(PipeReader reader, CancellationToken cancellationToken)
    {
        while (true)
        {
            ReadResult result = await reader.ReadAsync(cancellationToken);
            try
            {
                foreach (ReadOnlyMemory<byte> segment in result.Buffer)
                {
                    await StoreAsync(segment, cancellationToken);
                }
            }
            finally
            {
                reader.AdvanceTo(result.Buffer.End);
            }

            if (result.IsCompleted)
            {
                await FlushAsync(cancellationToken);
                return;
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        Interlocked.Add(ref s_heldBytes, -Interlocked.Exchange(ref _heldBytes, 0));
        try
        {
            await Store.DisposeAsync();
        }
        catch (IOException)
        {
            // The disk is still full for the unwritten rest. That was reported when the body was received.
        }
    }

    private async ValueTask StoreAsync(ReadOnlyMemory<byte> segment, CancellationToken cancellationToken)
    {
        if (Store is MemoryStream held && TryHold(held, segment.Length))
        {
            held.Write(segment.Span);
            return;
        }

        string folder = TemporaryFolder();
        try
        {
            if (Store is MemoryStream memory)
            {
                Store = CreateFile(folder);
                memory.WriteTo(Store);
                Interlocked.Add(ref s_heldBytes, -Interlocked.Exchange(ref _heldBytes, 0));
            }

            await Store.WriteAsync(segment, cancellationToken);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            throw new BodyStorageException(folder, exception);
        }
    }

    // The last bytes too: a full disk may show only now.
    private async ValueTask FlushAsync(CancellationToken cancellationToken)
    {
        try
        {
            await Store.FlushAsync(cancellationToken);
        }
        catch (IOException exception)
        {
            throw new BodyStorageException(TemporaryFolder(), exception);
        }
    }

    // Counts the bytes that the stream takes, and not only those in use.
    private bool TryHold(MemoryStream memory, int more)
    {
        long length = memory.Length + more;
        if (length > MemoryThreshold)
        {
            return false;
        }

        if (length <= memory.Capacity)
        {
            return true;
        }

        int capacity = (int)Math.Min(MemoryThreshold, Math.Max(length, memory.Capacity * 2L));
        int bytes = capacity - memory.Capacity;
        if (Interlocked.Add(ref s_heldBytes, bytes) > MostHeldBytes)
        {
            Interlocked.Add(ref s_heldBytes, -bytes);
            return false;
        }

        _heldBytes += bytes;
        memory.Capacity = capacity;
        return true;
    }

    // The folder that ASP.NET Core uses for its own buffering.
    private static string TemporaryFolder() =>
        Environment.GetEnvironmentVariable("ASPNETCORE_TEMP") is { Length: > 0 } folder ? folder : Path.GetTempPath();

    private static FileStream CreateFile(string folder)
    {
        string path = Path.Combine(folder, $"Allocator-{Guid.NewGuid():N}.upload");
        FileStreamOptions options = new()
        {
            Mode = FileMode.CreateNew,
            Access = FileAccess.ReadWrite,
            Share = FileShare.Delete,
            BufferSize = FileBufferLength,
            Options = FileOptions.Asynchronous | FileOptions.DeleteOnClose,
        };
        if (OperatingSystem.IsWindows())
        {
            return new FileStream(path, options);
        }

        // Deleted by name at once, so that nothing is left if the process is killed.
        options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        options.Options = FileOptions.Asynchronous;
        FileStream file = new(path, options);
        File.Delete(path);
        return file;
    }
}
