using Measurements.Instructions;

namespace Measurements.Tests.Instructions;

public class SymbolTableTests
{
    private static readonly SymbolTable s_table = SymbolTable.Parse(
        """
        0000000000001000 T Allocator_Allocator_Lifetime_FinalizableGuard__Charge
        0000000000001040 t Allocator_Allocator_Lifetime_PooledMemoryOwner_1<UInt8>__Dispose
        0000000000001100 D some_data
        0000000000002000 T RhpAssignRef
        """);

    [Theory]
    [InlineData(0x1000, "FinalizableGuard.Charge")]
    [InlineData(0x103f, "FinalizableGuard.Charge")]
    [InlineData(0x1040, "PooledMemoryOwner.Dispose")]
    [InlineData(0x1100, "PooledMemoryOwner.Dispose")]
    [InlineData(0x2001, "RhpAssignRef")]
    [InlineData(0x10, "10")]
    public void NameOf_AnAddress_GivesTheMethodThatItLiesIn(long address, string expected)
        => Assert.Equal(expected, s_table.NameOf(address));
}
