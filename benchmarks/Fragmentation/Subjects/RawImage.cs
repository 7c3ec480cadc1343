using Measuring.Memory;

namespace Fragmentation.Subjects;

/// <summary>An image in memory of the heap.</summary>
internal sealed class RawImage : HeldImage
{
    private readonly RawSubject _subject;
    private readonly nint _address;
    private readonly nint _bytes;

    /// <summary>Holds <paramref name="bytes"/> bytes at <paramref name="address"/>, which <paramref name="subject"/> takes back.</summary>
    public RawImage(RawSubject subject, nint address, nint bytes)
    {
        _subject = subject;
        _address = address;
        _bytes = bytes;
    }

    /// <inheritdoc/>
    public override void Touch() => PageTouch.Write(_address, _bytes);

    /// <inheritdoc/>
    public override void Dispose() => _subject.Free(_address);
}
