namespace Allocator.Tests.Fakes;

internal sealed class FakePressure : SystemMemory
{
    public bool IsHigh { get; set; }

    public int Reads { get; private set; }

    protected override MemoryLoad ReadSystem()
    {
        Reads++;
        return new MemoryLoad { Source = MemoryLoadSource.Machine, UsedBytes = IsHigh ? 95 : 5, TotalBytes = 100, IsHigh = IsHigh };
    }
}
