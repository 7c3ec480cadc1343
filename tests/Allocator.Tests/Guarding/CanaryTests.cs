using Allocator.Guarding;

namespace Allocator.Tests.Guarding;

public unsafe class CanaryTests
{
    [Fact]
    public void FindBroken_AnyByteOfAnyRange_ReturnsItsPosition()
    {
        byte* memory = stackalloc byte[64];
        for (int start = 0; start < 16; start++)
        {
            for (int length = 0; length < 40; length++)
            {
                new Span<byte>(memory, 64).Fill(0xEE);
                Canary.Fill((nint)(memory + start), length);
                Assert.Equal(-1, Canary.FindBroken((nint)(memory + start), length));
                Assert.Equal(-1, new Span<byte>(memory, start).IndexOfAnyExcept((byte)0xEE));
                Assert.Equal(-1, new Span<byte>(memory + start + length, 64 - start - length).IndexOfAnyExcept((byte)0xEE));
                for (int broken = 0; broken < length; broken++)
                {
                    memory[start + broken] ^= 1;
                    Assert.Equal(broken, Canary.FindBroken((nint)(memory + start), length));
                    memory[start + broken] ^= 1;
                }
            }
        }
    }

    [Fact]
    public void FindBroken_PatternOfAnotherAddress_IsBroken()
    {
        byte* memory = stackalloc byte[128];
        Canary.Fill((nint)memory, 64);
        new Span<byte>(memory, 64).CopyTo(new Span<byte>(memory + 64, 64));
        Assert.InRange(Canary.FindBroken((nint)(memory + 64), 64), 0, 7);
    }
}
