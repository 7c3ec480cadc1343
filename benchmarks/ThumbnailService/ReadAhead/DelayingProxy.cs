using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;

namespace ThumbnailService.ReadAhead;

/// <summary>
/// Stands for a long way: what is sent arrives later, in both directions, at any rate. TCP itself sees no delay, so what is slower behind
/// it is slower by the windows of HTTP.
/// </summary>
internal sealed class DelayingProxy : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly TimeSpan _delay;
    private readonly IPEndPoint _target;

    public DelayingProxy(IPEndPoint target, TimeSpan delay)
    {
        _delay = delay;
        _target = target;
        _listener.Start();
        _ = AcceptAsync();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    public void Dispose() => _listener.Dispose();

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                TcpClient client = await _listener.AcceptTcpClientAsync();
                TcpClient server = new();
                await server.ConnectAsync(_target);
                client.NoDelay = server.NoDelay = true;
                Connect(client.GetStream(), server.GetStream());
                Connect(server.GetStream(), client.GetStream());
            }
        }
        catch (Exception exception) when (exception is ObjectDisposedException or SocketException)
        {
            // The measurement has ended.
        }
    }

    private void Connect(NetworkStream from, NetworkStream to)
    {
        Channel<(long Due, byte[] Bytes)> way = Channel.CreateUnbounded<(long, byte[])>();
        _ = Task.Run(() => ReadAsync(from, way.Writer));
        _ = Task.Run(() => WriteAsync(way.Reader, to));
    }

    private async Task ReadAsync(NetworkStream from, ChannelWriter<(long Due, byte[] Bytes)> way)
    {
        byte[] buffer = new byte[256 * 1024];
        try
        {
            while (await from.ReadAsync(buffer) is var read and > 0)
            {
                long due = Stopwatch.GetTimestamp() + (long)(_delay.TotalSeconds * Stopwatch.Frequency);
                _ = way.TryWrite((due, buffer[..read]));
            }
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException)
        {
            // One end has gone; the other one is told.
        }

        way.Complete();
    }

    private static async Task WriteAsync(ChannelReader<(long Due, byte[] Bytes)> way, NetworkStream to)
    {
        try
        {
            await foreach ((long due, byte[] bytes) in way.ReadAllAsync())
            {
                double wait = (due - Stopwatch.GetTimestamp()) * 1000.0 / Stopwatch.Frequency;
                if (wait > 0)
                {
                    await Task.Delay((int)Math.Ceiling(wait));
                }

                await to.WriteAsync(bytes);
            }
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException)
        {
            // As above.
        }

        to.Dispose();
    }
}
