using System.Collections.Concurrent;

namespace ThumbnailService.Mixed;

/// <summary>The end of one request.</summary>
/// <param name="Status">The status code; 0 where there was no answer.</param>
internal readonly record struct MixedAnswer(bool IsSmall, int Status, double Seconds);

/// <summary>Which pictures the clients ask for, in which order.</summary>
/// <param name="Files">The names of the files, request by request.</param>
/// <param name="SmallFiles">Those of them that are small.</param>
internal sealed record MixedLoad(string Name, int Clients, IReadOnlyList<string> Files, ISet<string> SmallFiles)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(5);

    /// <summary>Sends each request when a client has its last answer. After the first without an answer none is sent.</summary>
    public async Task<IReadOnlyCollection<MixedAnswer>> RunAsync(Uri service)
    {
        using SocketsHttpHandler handler = new() { MaxConnectionsPerServer = Clients, UseProxy = false };
        using HttpClient client = new(handler) { Timeout = s_patience, BaseAddress = service };
        ConcurrentQueue<MixedAnswer> answers = new();
        int next = -1;
        bool isDown = false;
        await Task.WhenAll(Enumerable.Range(0, Clients).Select(_ => SendAsync()));
        return answers;

        async Task SendAsync()
        {
            for (int i; !Volatile.Read(ref isDown) && (i = Interlocked.Increment(ref next)) < Files.Count;)
            {
                long started = Stopwatch.GetTimestamp();
                int status = await AskAsync(client, Files[i]);
                answers.Enqueue(new MixedAnswer(SmallFiles.Contains(Files[i]), status, Stopwatch.GetElapsedTime(started).TotalSeconds));
                Volatile.Write(ref isDown, Volatile.Read(ref isDown) || status == 0);
            }
        }
    }

    private static async Task<int> AskAsync(HttpClient client, string name)
    {
        try
        {
            using HttpResponseMessage response = await client.GetAsync(new Uri(name, UriKind.Relative));
            _ = await response.Content.ReadAsByteArrayAsync();
            return (int)response.StatusCode;
        }
        catch (Exception exception) when (exception is HttpRequestException or OperationCanceledException)
        {
            return 0;
        }
    }
}
