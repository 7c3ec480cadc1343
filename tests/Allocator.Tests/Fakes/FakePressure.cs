namespace Allocator.Tests.Fakes;

internal sealed class FakePressure : SystemMemory
{
    public bool IsHigh { get; set; }

    public int Reads { get; private set; }

    protected override SystemReading ReadSystem(bool looksForLimits)
    {
        Reads++;
        return SystemReading.Of(
            new() { Source = MemoryLoadSource.Machine, UsedBytes = IsHigh ? 95 : 5, TotalBytes = 100, IsHigh = IsHigh });
    }
}
