using System.Net;
using System.Security.Cryptography;

namespace ThumbnailService.Loading;

/// <summary>What became of one request.</summary>
/// <param name="Status">The status code of the answer; null where there was none.</param>
/// <param name="Thumbnail">The hash of what came back; null where it was no thumbnail.</param>
/// <param name="Failure">What is wrong with it; null where nothing is.</param>
internal sealed record RequestOutcome(LoadRequest Request, double Seconds, int? Status, string? Thumbnail, string? Failure);

/// <summary>
/// As many clients at once as asked for, each with a connection of its own, who send the next picture as soon as they have the last
/// answer.
/// </summary>
internal sealed class LoadGenerator(LoadMix mix, int requests, int clients)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan s_leaving = TimeSpan.FromMilliseconds(600);

    /// <summary>
    /// Sends them to <paramref name="service"/>, and returns what became of each. When the service no longer answers, the rest is not
    /// sent.
    /// </summary>
    public async Task<IReadOnlyList<RequestOutcome>> RunAsync(Uri service, Action onAnswer)
    {
        using SocketsHttpHandler handler = new() { MaxConnectionsPerServer = clients, UseProxy = false };
        using HttpClient client = new(handler) { Timeout = s_patience, BaseAddress = service };
        using CancellationTokenSource down = new();
        int next = -1;
        List<RequestOutcome>[] outcomes = await Task.WhenAll(Enumerable.Range(0, clients).Select(_ => SendAsync()));
        return [.. outcomes.SelectMany(list => list)];

        async Task<List<RequestOutcome>> SendAsync()
        {
            List<RequestOutcome> answers = [];
            int i;
            while ((i = Interlocked.Increment(ref next)) < requests && !down.IsCancellationRequested)
            {
                answers.Add(await SendOneAsync(client, mix[i], down));
                onAnswer();
            }

            return answers;
        }
    }

    private static async Task<RequestOutcome> SendOneAsync(HttpClient client, LoadRequest request, CancellationTokenSource down)
    {
        bool isLeaving = request.Kind is RequestKind.GoneSending or RequestKind.GoneWaiting;
        using CancellationTokenSource leaving = new();
        if (isLeaving)
        {
            leaving.CancelAfter(s_leaving);
        }

        long started = Stopwatch.GetTimestamp();
        double Seconds() => Stopwatch.GetElapsedTime(started).TotalSeconds;
        try
        {
            byte[] data = request.File.Data;
            using HttpContent content = request.Kind is RequestKind.Slow or RequestKind.GoneSending
                ? new SlowContent(data)
                : new ByteArrayContent(data);
            using HttpResponseMessage response = await client.PostAsync(
                new Uri($"{ThumbnailServer.ThumbnailsPath}?width=200", UriKind.Relative), content, leaving.Token);
            byte[] answer = await response.Content.ReadAsByteArrayAsync(leaving.Token);
            int status = (int)response.StatusCode;
            string text = Encoding.UTF8.GetString(answer.AsSpan(0, Math.Min(answer.Length, 400)));
            string? failure = IsExpected(request.Kind, response) ? null : $"{status} for {request.Kind} {request.File.Name}: {text}";
            string? hash = status == (int)HttpStatusCode.OK ? Convert.ToHexStringLower(SHA256.HashData(answer)) : null;
            return new RequestOutcome(request, Seconds(), status, hash, failure);
        }
        catch (Exception exception) when (exception is HttpRequestException or OperationCanceledException)
        {
            if (leaving.IsCancellationRequested)
            {
                return new RequestOutcome(request, Seconds(), null, null, null);
            }

            // The connection broke: the service has gone, and each further request would only say so again.
            await down.CancelAsync();
            return new RequestOutcome(request, Seconds(), null, null, $"no answer to {request.File.Name}: {exception.Message}");
        }
    }

    // No thumbnail comes of what is no picture, and any request may find no memory: then it is told when to come again.
    private static bool IsExpected(RequestKind kind, HttpResponseMessage response) => response.StatusCode switch
    {
        HttpStatusCode.OK => kind is not (RequestKind.Cut or RequestKind.Bomb),
        HttpStatusCode.RequestEntityTooLarge => true,
        HttpStatusCode.ServiceUnavailable => response.Headers.RetryAfter is not null,
        HttpStatusCode.UnprocessableEntity => kind is RequestKind.Cut or RequestKind.Bomb,
        _ => false,
    };

    /// <summary>A body that comes in pieces, over two seconds.</summary>
    private sealed class SlowContent(byte[] data) : HttpContent
    {
        private const int Pieces = 20;
        private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(100);

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken)
        {
            foreach (byte[] piece in data.Chunk((data.Length / Pieces) + 1))
            {
                await stream.WriteAsync(piece, cancellationToken);
                await stream.FlushAsync(cancellationToken);
                await Task.Delay(s_pause, cancellationToken);
            }
        }

        protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
            SerializeToStreamAsync(stream, context, CancellationToken.None);

        protected override bool TryComputeLength(out long length)
        {
            length = data.Length;
            return true;
        }
    }
}
