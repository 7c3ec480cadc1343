using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Primitives;

namespace Allocator.AspNetCore.Admission;

/// <summary>The state of a request before its endpoint runs, so that the endpoint can run once more if it was refused memory.</summary>
internal sealed class RunState
{
    private readonly HttpContext _context;
    private readonly List<KeyValuePair<Type, object>> _features;
    private readonly List<KeyValuePair<object, object?>> _items;
    private readonly List<KeyValuePair<string, StringValues>> _headers;
    private readonly RouteValueDictionary _routeValues;

    private RunState(HttpContext context)
    {
        _context = context;
        _features = [.. context.Features];
        _items = [.. context.Items];
        _headers = [.. context.Response.Headers];
        _routeValues = new RouteValueDictionary(context.Request.RouteValues);
    }

    /// <summary>
    /// Gets whether nothing has been answered, and the client still waits. Bytes that were not flushed are sent all the same.
    /// </summary>
    public bool MayRunAgain => !_context.Response.HasStarted
        && _context.Response.BodyWriter is not { CanGetUnflushedBytes: true, UnflushedBytes: > 0 }
        && !_context.RequestAborted.IsCancellationRequested;

    /// <summary>Notes the state. Null if neither the method nor the endpoint promises that running it twice does no harm.</summary>
    public static RunState? Capture(HttpContext context) =>
        HttpMethods.IsGet(context.Request.Method) || HttpMethods.IsHead(context.Request.Method)
        || context.GetEndpoint()?.Metadata.GetMetadata<Retry>() is not null ? new RunState(context) : null;

    /// <summary>Makes features, items, headers and route values what they were.</summary>
    public void Restore()
    {
        foreach (KeyValuePair<Type, object> present in _context.Features.ToArray())
        {
            if (!_features.Exists(before => before.Key == present.Key))
            {
                _context.Features[present.Key] = null;
            }
        }

        foreach (KeyValuePair<Type, object> before in _features)
        {
            if (!ReferenceEquals(_context.Features[before.Key], before.Value))
            {
                _context.Features[before.Key] = before.Value;
            }
        }

        _context.Items.Clear();
        foreach (KeyValuePair<object, object?> before in _items)
        {
            _context.Items[before.Key] = before.Value;
        }

        _context.Response.Headers.Clear();
        foreach (KeyValuePair<string, StringValues> before in _headers)
        {
            _context.Response.Headers[before.Key] = before.Value;
        }

        _context.Request.RouteValues = new RouteValueDictionary(_routeValues);
    }

    /// <summary>Metadata of endpoints that may run twice.</summary>
    public sealed class Retry
    {
        public static readonly Retry Instance = new();
    }
}
