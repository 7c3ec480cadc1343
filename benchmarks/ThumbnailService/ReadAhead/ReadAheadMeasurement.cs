using System.Net;
using System.Net.Quic;
using System.Net.Security;

namespace ThumbnailService.ReadAhead;

/// <summary>
/// What connections hold in the server whose uploads nothing reads, and how fast uploads are over a long way: with Kestrel's own buffers,
/// and with those that AddMemoryAllocator sets.
/// </summary>
internal static class ReadAheadMeasurement
{
    private const int UploadBytes = 13_000_000;
    private const int ReadingMilliseconds = 500;

    // In a row without change: what was to come has come.
    private const int SameReadings = 4;
    private const double ConsideredSame = 0.01;

    // A minute: a connection that failed never holds anything.
    private const int MostReadings = 120;

    private static readonly string[] s_protocols = ["HTTP/1.1", "HTTP/1.1, TLS", "HTTP/2", "HTTP/2, TLS"];
    private static readonly byte[] s_upload = new byte[UploadBytes];
    private static readonly TimeSpan s_oneWay = TimeSpan.FromMilliseconds(25);

    public static Command Create() =>
        new Command("read-ahead", "Measures what Kestrel reads of uploads that nothing asks for, and what less of it costs.")
            .Measures("ServerReadBuffers", (run, _) => RunAsync(run));

    private static async Task<ResultDocument?> RunAsync(MeasurementRun run)
    {
        int connections = run.IsQuick ? 10 : 20;
        int uploads = run.IsQuick ? 1 : 3;
        List<ResultRow> rows = [];
        foreach (string protocol in s_protocols)
        {
            List<double?> values = [];
            foreach (bool isBounded in new[] { false, true })
            {
                (long managed, long resident) = await HoldAsync(protocol, isBounded, connections);
                double near = await UploadAsync(protocol, isBounded, TimeSpan.Zero, uploads);
                double far = await UploadAsync(protocol, isBounded, s_oneWay, uploads);
                values.AddRange([managed / 1e3 / connections, resident / 1e3 / connections, near, far]);
                run.Console.WriteLine(Invariant($"{protocol}, {(isBounded ? "set" : "Kestrel's own")}: ")
                    + Invariant($"{values[^4]:0} and {values[^3]:0} KB a connection, {values[^2]:0.00} and {values[^1]:0.00} s"));
            }

            rows.Add(new ResultRow([protocol], values));
        }

        string http3 = QuicListener.IsSupported ? "HTTP/3 was not measured." : "HTTP/3 was not measured: there is no msquic here.";
        return run.NewDocument("What Kestrel reads of uploads that nothing reads") with
        {
            Tables =
            [
                new ResultTable
                {
                    Title = "A connection that is not read, and an upload of 13 MB",
                    Labels = ["protocol"],
                    Columns =
                    [
                        new("own: managed", "KB", "0"), new("own: resident", "KB", "0"), new("own: upload", "s", "0.00"),
                        new("own: 50 ms away", "s", "0.00"), new("set: managed", "KB", "0"), new("set: resident", "KB", "0"),
                        new("set: upload", "s", "0.00"), new("set: 50 ms away", "s", "0.00"),
                    ],
                    Rows = rows,
                },
            ],
            Notes =
            [
                Invariant($"{connections} connections, each with an upload of {UploadBytes / 1e6:0} MB that no endpoint reads. Held: ")
                    + "what the server's process has more than before, a connection: managed after a full collection, pinned arrays "
                    + "included, and resident.",
                Invariant($"Uploads: the median of {uploads}, one at a time on one connection, read by the endpoint at once: directly, ")
                    + "and through a proxy that delays by 25 ms in each direction. The proxy bounds no rate, and TCP sees no delay: what "
                    + "is slower is slower by the windows of HTTP/2.",
                "Own: a server without AddMemoryAllocator. Set: with it, MaxReadBufferSize 64 KB and both HTTP/2 windows 65,535. " + http3,
            ],
        };
    }

    private static async Task<(long Managed, long Resident)> HoldAsync(string protocol, bool isBounded, int connections)
    {
        using Server server = await Server.StartAsync(protocol, isBounded);

        // The first request compiles what all need.
        using (HttpClient first = NewClient())
        {
            await TakeAsync(first, protocol, server.Uri(ReadAheadServer.TakePath), UploadBytes);
        }

        (_, long managed, long resident) = await server.ReadAsync();
        using CancellationTokenSource end = new();
        List<HttpClient> clients = [];
        List<Task> sending = [];
        for (int i = 0; i < connections; i++)
        {
            HttpClient client = NewClient();
            clients.Add(client);
            sending.Add(SendAsync(client, protocol, server.Uri(ReadAheadServer.HoldPath), UploadBytes, end.Token));
        }

        int same = 0;
        (long Managed, long Resident) last = default;
        for (int reading = 0; same < SameReadings; reading++)
        {
            if (reading == MostReadings)
            {
                throw new ChildFailedException($"{protocol}: the memory of {connections} connections did not come to rest.");
            }

            await Task.Delay(ReadingMilliseconds);
            (int held, long managedNow, long residentNow) = await server.ReadAsync();
            bool isSame = held == connections && Math.Abs(managedNow - last.Managed) < ConsideredSame * managedNow;
            same = isSame ? same + 1 : 0;
            last = (managedNow, residentNow);
        }

        await end.CancelAsync();
        clients.ForEach(client => client.Dispose());
        await Task.WhenAll(sending.Select(task => task.ContinueWith(static _ => { }, TaskScheduler.Default)));
        return (last.Managed - managed, last.Resident - resident);
    }

    private static async Task<double> UploadAsync(string protocol, bool isBounded, TimeSpan delay, int uploads)
    {
        using Server server = await Server.StartAsync(protocol, isBounded);
        using DelayingProxy proxy = new(server.EndPoint, delay);
        Uri uri = delay == TimeSpan.Zero
            ? server.Uri(ReadAheadServer.TakePath)
            : new UriBuilder(server.Uri(ReadAheadServer.TakePath)) { Port = proxy.Port }.Uri;
        using HttpClient client = NewClient();
        await TakeAsync(client, protocol, uri, UploadBytes);
        List<double> seconds = [];
        for (int i = 0; i < uploads; i++)
        {
            long began = Stopwatch.GetTimestamp();
            await TakeAsync(client, protocol, uri, UploadBytes);
            seconds.Add(Stopwatch.GetElapsedTime(began).TotalSeconds);
        }

        return Statistics.Median(seconds);
    }

    private static async Task TakeAsync(HttpClient client, string protocol, Uri uri, int bytes)
    {
        using HttpResponseMessage response = await SendAsync(client, protocol, uri, bytes, CancellationToken.None);
        _ = response.EnsureSuccessStatusCode();
    }

    private static Task<HttpResponseMessage> SendAsync(
        HttpClient client, string protocol, Uri uri, int bytes, CancellationToken cancellationToken)
    {
        HttpRequestMessage request = new(HttpMethod.Post, uri)
        {
            Content = new ByteArrayContent(s_upload, 0, bytes),
            Version = protocol.StartsWith("HTTP/2", StringComparison.Ordinal) ? HttpVersion.Version20 : HttpVersion.Version11,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        return client.SendAsync(request, cancellationToken);
    }

    private static HttpClient NewClient() => new(new SocketsHttpHandler
    {
        UseProxy = false,
        SslOptions = new SslClientAuthenticationOptions { RemoteCertificateValidationCallback = static (_, _, _, _) => true },
    });

    /// <summary>The process that is measured.</summary>
    private sealed class Server : IDisposable
    {
        private readonly Process _process;
        private readonly Uri _address;

        private Server(Process process, Uri address)
        {
            _process = process;
            _address = address;
        }

        public IPEndPoint EndPoint => new(IPAddress.Loopback, _address.Port);

        public static async Task<Server> StartAsync(string protocol, bool isBounded)
        {
            string program = Environment.ProcessPath!;
            List<string> arguments = [ReadAheadServer.Name, protocol, isBounded ? "true" : "false"];
            if (Path.GetFileNameWithoutExtension(program) == "dotnet")
            {
                arguments.Insert(0, typeof(ReadAheadMeasurement).Assembly.Location);
            }

            ProcessStartInfo start = new(program, arguments) { RedirectStandardInput = true, RedirectStandardOutput = true };
            Process process = Process.Start(start)!;
            string address = await process.StandardOutput.ReadLineAsync()
                ?? throw new InvalidOperationException("The server that is measured has ended.");
            return new Server(process, new Uri(address));
        }

        public Uri Uri(string path) => new(_address, path);

        public async Task<(int Held, long Managed, long Resident)> ReadAsync()
        {
            await _process.StandardInput.WriteLineAsync();
            await _process.StandardInput.FlushAsync();
            string[] values = (await _process.StandardOutput.ReadLineAsync())!.Split(' ');
            CultureInfo culture = CultureInfo.InvariantCulture;
            return (int.Parse(values[0], culture), long.Parse(values[1], culture), long.Parse(values[2], culture));
        }

        public void Dispose()
        {
            _process.Kill();
            _process.WaitForExit();
            _process.Dispose();
        }
    }
}
