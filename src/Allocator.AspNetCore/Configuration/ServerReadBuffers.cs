using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Logging;

namespace Allocator.AspNetCore.Configuration;

/// <summary>
/// Bounds the bytes of an upload that Kestrel reads before any code asks for them. By default that is a megabyte for each connection, on
/// the pinned heap and outside of every budget, so 300 uploads at once take 300 MB before the first request is admitted. Limits that the
/// application has set are kept. These options exist only if Kestrel is the server.
/// </summary>
internal sealed class ServerReadBuffers : IPostConfigureOptions<SocketTransportOptions>, IPostConfigureOptions<KestrelServerOptions>
{
    /// <summary>The switch that leaves Kestrel's own limits: <c>false</c>.</summary>
    public const string Switch = "Allocator.AspNetCore.SetServerReadBuffers";

    /// <summary>Kestrel copies a body out as it comes. A larger buffer would only be filled while nothing reads.</summary>
    public const int ReadAheadBytes = 64 * 1024;

    /// <summary>The window of a stream: the least that HTTP/2 allows for a connection, and its default.</summary>
    public const int WindowBytes = ushort.MaxValue;

    /// <summary>The window of a connection. One upload that nothing reads must not stop all others.</summary>
    public const int ConnectionWindowBytes = 4 * WindowBytes;

    private static readonly bool s_isAllowed = !AppContext.TryGetSwitch(Switch, out bool isOn) || isOn;

    private readonly ILogger _logger;
    private int _isTransportLogged;
    private int _areWindowsLogged;

    public ServerReadBuffers(ILogger<ServerReadBuffers> logger) => _logger = logger;

    public void PostConfigure(string? name, SocketTransportOptions options)
    {
        if (s_isAllowed && options.MaxReadBufferSize == new SocketTransportOptions().MaxReadBufferSize)
        {
            options.MaxReadBufferSize = ReadAheadBytes;
            if (Interlocked.Exchange(ref _isTransportLogged, 1) == 0)
            {
                AllocatorLog.TransportBufferSet(_logger, ReadAheadBytes, Switch);
            }
        }
    }

    public void PostConfigure(string? name, KestrelServerOptions options)
    {
        Http2Limits limits = options.Limits.Http2;
        Http2Limits unset = new();

        // An application that sets one of them has chosen the other too, even if that is Kestrel's default.
        bool isUnset = limits.InitialConnectionWindowSize == unset.InitialConnectionWindowSize
            && limits.InitialStreamWindowSize == unset.InitialStreamWindowSize;
        if (s_isAllowed && isUnset)
        {
            limits.InitialConnectionWindowSize = ConnectionWindowBytes;
            limits.InitialStreamWindowSize = WindowBytes;
            if (Interlocked.Exchange(ref _areWindowsLogged, 1) == 0)
            {
                AllocatorLog.WindowsSet(_logger, limits.InitialConnectionWindowSize, limits.InitialStreamWindowSize, Switch);
            }
        }
    }
}
