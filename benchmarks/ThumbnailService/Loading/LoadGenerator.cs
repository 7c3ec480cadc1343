using System.Security.Cryptography;

namespace ThumbnailService.Loading;

/// <summary>A picture that clients send.</summary>
internal sealed record UploadFile(string Name, byte[] Data)
{
    /// <summary>Reads the pictures of <paramref name="folder"/>, in an order that is the same everywhere.</summary>
    public static IReadOnlyList<UploadFile> ReadAll(string folder)
        => [.. PictureFolder.Find(folder).Select(name => new UploadFile(name, File.ReadAllBytes(Path.Combine(folder, name))))];
}

/// <summary>What became of one request.</summary>
/// <param name="Thumbnail">The hash of what came back; null where it failed.</param>
internal sealed record RequestOutcome(string File, double Seconds, string? Thumbnail, string? Failure);

/// <summary>
/// As many clients at once as asked for, each with a connection of its own, who send the next picture as soon as they have the last
/// thumbnail.
/// </summary>
internal sealed class LoadGenerator(IReadOnlyList<UploadFile> files, int requests, int clients)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(5);

    /// <summary>
    /// Sends them to <paramref name="service"/>, and returns what became of each. When the service no longer answers, the rest is not
    /// sent.
    /// </summary>
    public async Task<IReadOnlyList<RequestOutcome>> RunAsync(Uri service, Action onAnswer)
    {
        using SocketsHttpHandler handler = new() { MaxConnectionsPerServer = clients, UseProxy = false };
        using HttpClient client = new(handler) { Timeout = s_patience };
        using CancellationTokenSource gone = new();
        int next = -1;
        List<RequestOutcome>[] outcomes = await Task.WhenAll(Enumerable.Range(0, clients).Select(_ => SendAsync()));
        return [.. outcomes.SelectMany(list => list)];

        async Task<List<RequestOutcome>> SendAsync()
        {
            List<RequestOutcome> answers = [];
            for (
                int i = Interlocked.Increment(
                    ref next); i < requests && !gone.IsCancellationRequested; i = Interlocked.Increment(ref next))
            {
                answers.Add(await SendOneAsync(client, new Uri(service, "/thumbnails?width=200"), files[i % files.Count], gone));
                onAnswer();
            }

            return answers;
        }
    }

    private static async Task<RequestOutcome> SendOneAsync(HttpClient client, Uri address, UploadFile file, CancellationTokenSource gone)
    {
        long started = Stopwatch.GetTimestamp();
        try
        {
            using ByteArrayContent content = new(file.Data);
            using HttpResponseMessage response = await client.PostAsync(address, content);
            byte[] answer = await response.Content.ReadAsByteArrayAsync();
            double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
            return response.IsSuccessStatusCode
                ? new RequestOutcome(file.Name, seconds, Convert.ToHexStringLower(SHA256.HashData(answer)), null)
                : new RequestOutcome(
                    file.Name, seconds, null, $"{(int)response.StatusCode}: {System.Text.Encoding.UTF8.GetString(answer)}");
        }
        catch (Exception exception) when (exception is HttpRequestException or OperationCanceledException)
        {
            // The connection broke: the service has gone, and each further request would only say so again.
            await gone.CancelAsync();
            return new RequestOutcome(file.Name, Stopwatch.GetElapsedTime(started).TotalSeconds, null, exception.Message);
        }
    }
}
