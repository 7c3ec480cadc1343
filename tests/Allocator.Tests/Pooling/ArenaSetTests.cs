using Allocator.Pooling;

namespace Allocator.Tests.Pooling;

public class ArenaSetTests
{
    [Fact]
    public void TryGrow_ArenasChangedSinceTheLook_SaysToLookAgain()
    {
        using TestSetup setup = new();
        ArenaSet arenas = new(null!, new PoolGeometry(TestSetup.BlockSize, 4), setup.Source, TestPool.CreateContext(setup));
        BlockArena[] seen = arenas.All;
        PoolOutcome outcome = PoolOutcome.Full;
        Assert.True(arenas.TryGrow(seen, 1, ref outcome));
        Assert.True(arenas.TryGrow(seen, 1, ref outcome));
        Assert.False(arenas.TryGrow(arenas.All, 1, ref outcome));
        Assert.Single(arenas.All);
        Assert.Equal(PoolOutcome.Full, outcome);
        Assert.True(arenas.All[0].TryReleaseAll());
    }
}
