using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Allocator.AspNetCore.Tests;

/// <summary>A client that sends what a test wants, when it wants, and breaks off.</summary>
internal sealed class RawConnection : IDisposable
{
    private readonly Socket _socket;
    private readonly NetworkStream _stream;

    private RawConnection(Socket socket)
    {
        _socket = socket;
        _stream = new NetworkStream(socket);
    }

    public static async Task<RawConnection> OpenAsync(IPEndPoint address)
    {
        Socket socket = new(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(address);
        return new RawConnection(socket);
    }

    /// <summary>Sends the head of an upload, without its body.</summary>
    public Task SendHeadAsync(string path, int contentLength) => SendAsync(string.Create(
        CultureInfo.InvariantCulture, $"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {contentLength}\r\n\r\n"));

    public Task SendAsync(string text) => SendAsync(Encoding.ASCII.GetBytes(text));

    public Task SendAsync(byte[] bytes) => _stream.WriteAsync(bytes).AsTask();

    /// <summary>Returns the first line of the response.</summary>
    public async Task<string?> ReadStatusAsync()
    {
        using StreamReader reader = new(_stream, Encoding.ASCII, leaveOpen: true);
        return await reader.ReadLineAsync().WaitAsync(Patience.Limit);
    }

    /// <summary>Returns all that is answered until the server closes the connection.</summary>
    public async Task<string> ReadToEndAsync()
    {
        using StreamReader reader = new(_stream, Encoding.ASCII, leaveOpen: true);
        return await reader.ReadToEndAsync().WaitAsync(Patience.Limit);
    }

    /// <summary>Breaks the connection, as a client that crashes.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Close();
    }

    public void Dispose()
    {
        _stream.Dispose();
        _socket.Dispose();
    }
}
