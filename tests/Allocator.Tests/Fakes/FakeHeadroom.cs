namespace Allocator.Tests.Fakes;

/// <summary>What the system is said to leave.</summary>
internal sealed class FakeHeadroom : SystemMemory
{
    /// <summary>Gets or sets what is read: nothing, until a test says otherwise.</summary>
    public Headroom Now { get; set; } = Headroom.Unknown;

    /// <summary>Gets or sets what reads it instead.</summary>
    public Func<Headroom>? OnRead { get; set; }

    /// <summary>Gets how often it was read.</summary>
    public int Reads { get; private set; }

    /// <summary>Gets or sets how much of it is said to be garbage.</summary>
    public long Garbage { get; set; }

    public override long ReadGarbage() => Garbage;

    protected override SystemReading ReadSystem(bool looksForLimits)
    {
        Reads++;
        return new SystemReading(default, OnRead?.Invoke() ?? Now);
    }
}
