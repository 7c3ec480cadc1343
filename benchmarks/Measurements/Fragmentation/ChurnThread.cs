using System.Runtime.InteropServices;

namespace Measurements.Fragmentation;

/// <summary>
/// What one thread holds and does. The same seed gives the same order of sizes and releases, whatever the memory comes from.
/// </summary>
internal sealed unsafe class ChurnThread : IDisposable
{
    private readonly ChurnPattern _pattern;
    private readonly MemorySubject _subject;
    private readonly Random _random;
    private readonly HeldImage?[] _images;
    private readonly long[] _imageBytes;
    private readonly Queue<(nint Address, int Bytes)> _smalls;

    public ChurnThread(ChurnPattern pattern, MemorySubject subject, int seed)
    {
        _pattern = pattern;
        _subject = subject;
        _random = new Random(seed);
        _images = new HeldImage?[pattern.LiveImages];
        _imageBytes = new long[pattern.LiveImages];
        _smalls = new Queue<(nint, int)>(ChurnPattern.LiveSmalls + 1);
    }

    public long LiveBytes { get; private set; }

    /// <summary>
    /// Does one iteration. <paramref name="atPeak"/> is called while both the new image and the one that it replaces are there.
    /// </summary>
    public void Iterate(Action atPeak)
    {
        (int width, int height) = _pattern.NextSize(_random);
        HeldImage image = _subject.Allocate(width, height);
        KeepSmall();
        atPeak();

        int replaced = _random.Next(_images.Length);
        _images[replaced]?.Dispose();
        long bytes = (long)width * height * sizeof(uint);
        LiveBytes += bytes - _imageBytes[replaced];
        (_images[replaced], _imageBytes[replaced]) = (image, bytes);
    }

    public void Dispose()
    {
        foreach (ref HeldImage? image in _images.AsSpan())
        {
            image?.Dispose();
            image = null;
        }

        while (_smalls.TryDequeue(out (nint Address, int Bytes) small))
        {
            NativeMemory.Free((void*)small.Address);
        }

        LiveBytes = 0;
    }

    private void KeepSmall()
    {
        int bytes = _random.Next(_pattern.SmallBytes.Least, _pattern.SmallBytes.Most + 1);
        void* small = NativeMemory.Alloc((nuint)bytes);
        NativeMemory.Fill(small, (nuint)bytes, 1);
        _smalls.Enqueue(((nint)small, bytes));
        LiveBytes += bytes;
        if (_smalls.Count > ChurnPattern.LiveSmalls)
        {
            (nint oldest, int oldBytes) = _smalls.Dequeue();
            NativeMemory.Free((void*)oldest);
            LiveBytes -= oldBytes;
        }
    }
}
