namespace Allocator.Tests.Fuzzing;

/// <summary>One buffer that the test has, and what must be in it. Its owner is referenced from here alone.</summary>
internal abstract class LiveBuffer
{
    private readonly Stack<MemoryHandle> _pins = new();

    protected LiveBuffer(int id) => Value = (byte)(id % 255 + 1);

    /// <summary>Gets or sets the bytes that it takes, by the allocator's own figures.</summary>
    public long CapacityInBytes { get; set; }

    /// <summary>Gets whether it is an array, which the system knows nothing of.</summary>
    public required bool IsArray { get; init; }

    /// <summary>Gets whether it has been disposed. It is out all the same while it is pinned.</summary>
    public bool IsDisposed { get; private set; }

    public bool IsOut => !IsDisposed || _pins.Count > 0;

    public bool CanUnpin => _pins.Count > 0;

    /// <summary>Gets what all its bytes are.</summary>
    protected byte Value { get; }

    /// <summary>Fills it; before that, sees whether it is zero where it has to be.</summary>
    public void Fill(bool expectZeros)
    {
        if (expectZeros)
        {
            ExpectAll(0);
        }

        FillAll(Value);
    }

    public void ExpectContents()
    {
        if (IsDisposed)
        {
            ExpectRefusal();
        }
        else
        {
            ExpectAll(Value);
        }
    }

    public void Pin()
    {
        if (PinAny() is MemoryHandle pin)
        {
            _pins.Push(pin);
        }
    }

    public void Unpin()
    {
        using MemoryHandle pin = _pins.Pop();
        ExpectPinned(pin);
    }

    public void Dispose()
    {
        DisposeOwner();
        IsDisposed = true;
    }

    /// <summary>Forgets the owner, without disposing of it.</summary>
    public abstract void Abandon();

    protected abstract void DisposeOwner();

    protected abstract void ExpectAll(byte value);

    protected abstract void FillAll(byte value);

    // A disposed owner gives nothing any more.
    protected abstract void ExpectRefusal();

    protected virtual MemoryHandle? PinAny() => null;

    protected virtual void ExpectPinned(in MemoryHandle pin)
    {
    }

    protected static void ExpectAll(ReadOnlySpan<byte> bytes, byte value)
    {
        int wrong = bytes.IndexOfAnyExcept(value);
        Assert.True(wrong < 0, wrong < 0 ? "" : $"Byte {wrong} of {bytes.Length} is {bytes[wrong]} and should be {value}.");
    }
}
