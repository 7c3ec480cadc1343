using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace ThumbnailService.ReadAhead;

/// <summary>
/// A process with Kestrel: one endpoint that takes an upload, one that never reads it. On each line of its input it writes how many such
/// requests there are, and its memory.
/// </summary>
internal static class ReadAheadServer
{
    public const string Name = "read-ahead-server";
    public const string TakePath = "/take";
    public const string HoldPath = "/hold";

    private static readonly Argument<string> s_protocol = new("protocol");
    private static readonly Argument<bool> s_isBounded = new("bounded");

    public static Command Create()
    {
        Command command = new(Name, "What read-ahead measures.") { Hidden = true };
        command.Add(s_protocol);
        command.Add(s_isBounded);
        command.SetAction((parsed, _) => ServeAsync(parsed.GetRequiredValue(s_protocol), parsed.GetRequiredValue(s_isBounded)));
        return command;
    }

    private static async Task<int> ServeAsync(string protocol, bool isBounded)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        _ = builder.Logging.ClearProviders();
        if (isBounded)
        {
            _ = builder.Services.AddMemoryAllocator(options => options.MemoryBudgetMegabytes = 170);
        }

        // The requests themselves. Nothing else refers to a connection that neither reads nor is read: the collections below would end it.
        ConcurrentBag<HttpContext> held = [];
        _ = builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.Limits.MaxRequestBodySize = null;
            kestrel.Limits.MinRequestBodyDataRate = null;
            kestrel.Listen(IPAddress.Loopback, 0, endpoint =>
            {
                endpoint.Protocols = protocol.StartsWith("HTTP/2", StringComparison.Ordinal) ? HttpProtocols.Http2 : HttpProtocols.Http1;
                if (protocol.EndsWith("TLS", StringComparison.Ordinal))
                {
                    _ = endpoint.UseHttps(NewCertificate());
                }
            });
        });
        await using WebApplication server = builder.Build();
        _ = server.MapPost(TakePath, (HttpRequest request) => request.Body.CopyToAsync(Stream.Null));
        _ = server.MapPost(HoldPath, async (HttpContext context) =>
        {
            held.Add(context);
            await Task.Delay(Timeout.Infinite, context.RequestAborted);
        });
        await server.StartAsync();
        Console.WriteLine(server.Urls.Single());
        while (await Console.In.ReadLineAsync() is not null)
        {
            long managed = GC.GetTotalMemory(forceFullCollection: true);
            Console.WriteLine(Invariant($"{held.Count} {managed} {ProcessMemory.ReadResident()}"));
        }

        return 0;
    }

    private static X509Certificate2 NewCertificate()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = new("CN=localhost", key, HashAlgorithmName.SHA256);
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
    }
}
