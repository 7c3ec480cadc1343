using Allocator.Native;

namespace Allocator.Tests.Fakes;

internal sealed class FakePressure : PressureSource
{
    public MemoryPressure Value { get; set; } = MemoryPressure.Low;

    public int Reads { get; private set; }

    public override MemoryPressure Read()
    {
        Reads++;
        return Value;
    }
}
