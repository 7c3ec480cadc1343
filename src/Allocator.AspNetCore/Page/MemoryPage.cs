using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Allocator.AspNetCore.Admission;
using Allocator.AspNetCore.Configuration;
using Allocator.Diagnostics;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Allocator.AspNetCore.Page;

/// <summary>
/// Serves the page, its style, its script and its data. It is also metadata of these endpoints, by which the check at the start finds
/// pages that anyone could open.
/// </summary>
internal sealed class MemoryPage
{
    private const int MostLeaks = 50;
    private const int MostJobs = 50;

    // The page loads nothing from elsewhere, runs nothing inline, and may not be shown in a frame.
    private const string ContentPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'";

    /// <summary>Refuses a page that anyone could open, outside of development.</summary>
    /// <exception cref="InvalidOperationException">Nothing restricts who may see it.</exception>
    public static void ThrowIfOpen(IServiceProvider services, Endpoint endpoint)
    {
        bool isDevelopment = services.GetService<IHostEnvironment>()?.IsDevelopment() == true;
        if (!isDevelopment && endpoint.Metadata.GetMetadata<IAllowAnonymous>() is null && !NeedsAuthorization(services, endpoint))
        {
            throw new InvalidOperationException(
                $"MapMemoryPage: anyone could open {endpoint.DisplayName}. Add RequireAuthorization() to it, set a fallback policy, or "
                + "add AllowAnonymous() if everyone may. In development it needs none of these.");
        }
    }

    public static Task ServePageAsync(HttpContext context)
    {
        // A relative address works behind any path base and proxy. The files of the page are below the last part of its path.
        string path = context.Request.PathBase.Value + context.Request.Path.Value;
        string last = path[(path.LastIndexOf('/') + 1)..];
        string baseOfAll = last.Length == 0 ? "" : $"./{HtmlEncoder.Default.Encode(Uri.EscapeDataString(last))}/";
        context.RequestServices.GetRequiredService<MemorySampler>().Start();
        return ServeAsync(context, "text/html", ReadResource("memory.html").Replace("{base}", baseOfAll, StringComparison.Ordinal));
    }

    public static Task ServeStyleAsync(HttpContext context) => ServeAsync(context, "text/css", ReadResource("memory.css"));

    public static Task ServeScriptAsync(HttpContext context) => ServeAsync(context, "text/javascript", ReadResource("memory.js"));

    public static async Task ServeSamplesAsync(HttpContext context)
    {
        MemorySampler sampler = context.RequestServices.GetRequiredService<MemorySampler>();
        sampler.Start();
        _ = long.TryParse(context.Request.Query["after"], NumberStyles.None, CultureInfo.InvariantCulture, out long after);
        ArrayBufferWriter<byte> json = new();
        using (Utf8JsonWriter writer = new(json))
        {
            Write(writer, context, sampler, after);
        }

        SetHeaders(context, "application/json");
        await context.Response.Body.WriteAsync(json.WrittenMemory, context.RequestAborted);
    }

    private static bool NeedsAuthorization(IServiceProvider services, Endpoint endpoint) =>
        endpoint.Metadata.GetMetadata<IAllowAnonymous>() is null
        && (endpoint.Metadata.GetMetadata<IAuthorizeData>() is not null
            || endpoint.Metadata.GetMetadata<AuthorizationPolicy>() is not null
            || services.GetService<IOptions<AuthorizationOptions>>()?.Value.FallbackPolicy is not null);

    private static void Write(Utf8JsonWriter writer, HttpContext context, MemorySampler sampler, long after)
    {
        IServiceProvider services = context.RequestServices;
        AdmissionMeter meter = services.GetRequiredService<AdmissionMeter>();
        bool showsStacks = NeedsAuthorization(services, context.GetEndpoint()!);
        writer.WriteStartObject();
        writer.WriteBoolean("showsStacks", showsStacks);
        writer.WriteStartArray("process");
        foreach (ProcessSample sample in sampler.ReadProcess(after))
        {
            writer.WriteStartObject();
            writer.WriteNumber("time", sample.Time);
            writer.WriteNumber("used", sample.Used);
            writer.WriteNumber("limit", sample.Limit);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteStartArray("allocators");
        foreach ((string name, MemoryAllocator allocator) in services.GetRequiredService<RunningAllocators>().All())
        {
            WriteAllocator(writer, name, allocator, meter.Of(allocator), sampler.Read(name, after));
        }

        writer.WriteEndArray();
        writer.WriteString("source", sampler.Source.ToString());
        writer.WriteStartArray("outstanding");
        DateTime now = DateTime.UtcNow;
        foreach (WatchedBuffer buffer in sampler.ReadOutstanding())
        {
            writer.WriteStartObject();
            writer.WriteNumber("bytes", buffer.Bytes);
            writer.WriteNumber("seconds", (now - buffer.AllocatedAt).TotalSeconds);
            writer.WriteString("stack", showsStacks ? buffer.Stack : null);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteStartArray("leaks");
        foreach (LeakReport leak in MemoryDiagnostics.GetLeaks().OrderByDescending(static leak => leak.Bytes).Take(MostLeaks))
        {
            writer.WriteStartObject();
            writer.WriteNumber("bytes", leak.Bytes);
            writer.WriteNumber("count", leak.Count);
            writer.WriteNumber("seconds", leak.LongestAge.TotalSeconds);
            writer.WriteString("stack", showsStacks ? leak.AllocationStackTrace : null);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }

    private static void WriteAllocator(
        Utf8JsonWriter writer, string name, MemoryAllocator allocator, AdmissionCounts counts, AllocatorSample[] samples)
    {
        writer.WriteStartObject();
        writer.WriteString("name", name);
        writer.WriteNumber("admitted", Volatile.Read(ref counts.Admitted));
        writer.WriteNumber("refused", Volatile.Read(ref counts.Refused));
        writer.WriteNumber("abandoned", allocator.GetStatistics().Abandoned);
        writer.WriteStartArray("jobs");
        foreach (MemoryJobStatistics job in allocator.GetJobStatistics().OrderByDescending(static job => job.Ended).Take(MostJobs))
        {
            writer.WriteStartObject();
            writer.WriteString("name", job.Name);
            writer.WriteNumber("size", job.Size);
            writer.WriteNumber("allocated", job.AllocatedBytes);
            writer.WriteNumber("elsewhere", job.ElsewhereBytes);
            writer.WriteNumber("perUnit", job.BytesPerUnit);
            writer.WriteNumber("running", job.Running);
            writer.WriteNumber("waiting", job.Waiting);
            writer.WriteNumber("ended", job.Ended);
            writer.WriteNumber("refused", job.Refused);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteStartArray("samples");
        foreach (AllocatorSample sample in samples)
        {
            writer.WriteStartObject();
            writer.WriteNumber("time", sample.Time);
            writer.WriteNumber("outstanding", sample.Outstanding);
            writer.WriteNumber("idle", sample.Idle);
            writer.WriteNumber("reserved", sample.Reserved);
            writer.WriteNumber("limit", sample.Limit);
            writer.WriteNumber("waiting", sample.Waiting);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }

    private static Task ServeAsync(HttpContext context, string type, string text)
    {
        SetHeaders(context, type);
        return context.Response.WriteAsync(text, Encoding.UTF8, context.RequestAborted);
    }

    private static void SetHeaders(HttpContext context, string type)
    {
        IHeaderDictionary headers = context.Response.Headers;
        context.Response.ContentType = $"{type}; charset=utf-8";
        headers.CacheControl = "no-store";
        headers.ContentSecurityPolicy = ContentPolicy;
        headers.XContentTypeOptions = "nosniff";
        headers["Referrer-Policy"] = "no-referrer";
    }

    private static string ReadResource(string name)
    {
        using Stream resource = typeof(MemoryPage).Assembly.GetManifestResourceStream(name)!;
        using StreamReader reader = new(resource);
        return reader.ReadToEnd();
    }
}
