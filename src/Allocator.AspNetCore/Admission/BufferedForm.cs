using Microsoft.AspNetCore.Antiforgery;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Primitives;

namespace Allocator.AspNetCore.Admission;

/// <summary>
/// The form of a received body. Its files are views of the body, each with its own position. ASP.NET Core would store each file a second
/// time, while the request holds its reservation.
/// </summary>
internal sealed class BufferedForm : IFormFeature
{
    // No body is that long.
    private const long NoPosition = long.MaxValue / 2;

    private readonly HttpRequest _request;
    private readonly IFormFeature _form;
    private readonly Func<long, long?, BodyView> _open;
    private Task<IFormCollection>? _reading;

    private BufferedForm(HttpRequest request, IFormFeature form, Func<long, long?, BodyView> open)
    {
        _request = request;
        _form = form;
        _open = open;
    }

    public bool HasFormContentType => _form.HasFormContentType;

    public IFormCollection? Form
    {
        get => _form.Form;
        set
        {
            _reading = null;
            _form.Form = value;
        }
    }

    /// <summary>Has the form of a request read from its received body, unless a middleware has read it already.</summary>
    /// <param name="request">The request.</param>
    /// <param name="open">Opens a view of the body at an offset, up to a length.</param>
    public static void Use(HttpRequest request, Func<long, long?, BodyView> open)
    {
        // When asked, ASP.NET Core makes its own, with the options of the endpoint.
        IFeatureCollection features = request.HttpContext.Features;
        if (!IsRefused(features)
            && request.HasFormContentType
            && features.Get<IFormFeature>() is { } form and not BufferedForm
            && form.Form is null)
        {
            features.Set<IFormFeature>(new BufferedForm(request, form, open));
        }
    }

    /// <summary>Returns a form that a middleware has read before, which has left nothing of the body. Null if none has.</summary>
    public static IFormCollection? FindRead(IFeatureCollection features) => IsRefused(features) ? null : features.Get<IFormFeature>()?.Form;

    public IFormCollection ReadForm() => ReadFormAsync(CancellationToken.None).GetAwaiter().GetResult();

    public Task<IFormCollection> ReadFormAsync(CancellationToken cancellationToken) => _reading ??= ReadAsync(cancellationToken);

    // By the antiforgery middleware. Reading it throws then.
    private static bool IsRefused(IFeatureCollection features) => features.Get<IAntiforgeryValidationFeature>()?.IsValid == false;

    private async Task<IFormCollection> ReadAsync(CancellationToken cancellationToken)
    {
        if (_form.Form is { } known)
        {
            return known;
        }

        Stream body = _request.Body;
        BodyView view = _open(0, null);
        IFormCollection read;
        _request.Body = view;
        try
        {
            read = await _form.ReadFormAsync(cancellationToken);
        }
        finally
        {
            _request.Body = body;
        }

        FormFileCollection files = [];
        foreach (IFormFile file in read.Files)
        {
            // Opening a file of a seekable stream moves that stream to the beginning of the file.
            view.Position = NoPosition;
            using Stream opened = file.OpenReadStream();
            if (view.Position == NoPosition)
            {
                return read;
            }

            files.Add(new BufferedFile(file, view.Position, _open));
        }

        Dictionary<string, StringValues> values = new(read, StringComparer.OrdinalIgnoreCase);
        FormCollection collection = new(values, files);
        _form.Form = collection;
        return collection;
    }

    private sealed class BufferedFile(IFormFile file, long offset, Func<long, long?, BodyView> open) : IFormFile
    {
        public string ContentType => file.ContentType;

        public string ContentDisposition => file.ContentDisposition;

        public IHeaderDictionary Headers => file.Headers;

        public long Length => file.Length;

        public string Name => file.Name;

        public string FileName => file.FileName;

        public Stream OpenReadStream() => open(offset, file.Length);

        public void CopyTo(Stream target)
        {
            using Stream stream = OpenReadStream();
            stream.CopyTo(target);
        }

        public async Task CopyToAsync(Stream target, CancellationToken cancellationToken = default)
        {
            await using Stream stream = OpenReadStream();
            await stream.CopyToAsync(target, cancellationToken);
        }
    }
}
