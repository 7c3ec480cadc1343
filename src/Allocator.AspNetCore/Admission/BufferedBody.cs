using System;
using System.IO;
using System.IO.Pipelines;
using System.Threading;
using System.Threading.Tasks;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The body of a request, received as a whole: up to 64 KB in memory, more in a temporary file. While a client takes its time nothing but
/// these is held.
/// </summary>
internal sealed class BufferedBody : IAsyncDisposable
{
    public const int MemoryThreshold = 64 * 1024;

    private const int FileBufferLength = 16 * 1024;

    private Stream _store = new MemoryStream();

    /// <summary>Gets whether it outgrew its memory.</summary>
    public bool IsFile => _store is FileStream;

    /// <summary>Receives the body until its end.</summary>
    /// <exception cref="BodyStorageException">The server cannot keep it.</exception>
    /// <exception cref="IOException">The client has gone, or sends what the server refuses.</exception>
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
                return;
            }
        }
    }

    /// <summary>
    /// Returns the body from its beginning. Disposing the stream is harmless; what was opened before shares its position.
    /// </summary>
    public Stream Open()
    {
        _store.Position = 0;
        return new BufferedBodyStream(_store);
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            await _store.DisposeAsync();
        }
        catch (IOException)
        {
            // A full disk again, for what was not written yet. It was reported when the body was received.
        }
    }

    private async ValueTask StoreAsync(ReadOnlyMemory<byte> segment, CancellationToken cancellationToken)
    {
        if (!IsFile && _store.Length + segment.Length <= MemoryThreshold)
        {
            _store.Write(segment.Span);
            return;
        }

        string folder = TemporaryFolder();
        try
        {
            if (_store is MemoryStream memory)
            {
                _store = CreateFile(folder);
                memory.WriteTo(_store);
            }

            await _store.WriteAsync(segment, cancellationToken);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            throw new BodyStorageException(folder, exception);
        }
    }

    // Where ASP.NET Core's own buffering puts them.
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

        // Without a name from the start, so that nothing is left of it where the process is killed.
        options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        options.Options = FileOptions.Asynchronous;
        FileStream file = new(path, options);
        File.Delete(path);
        return file;
    }
}
