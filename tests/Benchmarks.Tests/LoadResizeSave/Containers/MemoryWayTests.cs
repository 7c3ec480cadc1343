using System.Buffers;

namespace LoadResizeSave.Tests.Containers;

public class MemoryWayTests
{
    [Fact]
    public void All_Names_DifferAndAreFound()
    {
        Assert.Equal(MemoryWay.All.Count, MemoryWay.All.Select(way => way.Name).Distinct().Count());
        Assert.All(MemoryWay.All, way => Assert.Same(way, MemoryWay.Get(way.Name)));
        Assert.Throws<ArgumentException>(() => MemoryWay.Get("none"));
    }

    [Fact]
    public async Task Get_NameWithABudget_HasThatBudget()
    {
        MemoryWay way = MemoryWay.Get("learned@170");
        Assert.Equal(("learned@170", (int?)170, "learned, budget 170"), (way.Name, way.BudgetMegabytes, way.Title));
        Assert.Same(MemoryWay.Get("gc"), MemoryWay.Get("gc").WithBudget(170));
        using PixelStore store = way.CreateStore(350, TimeSpan.FromMinutes(1));
        using Admission admission = await store.AdmitAsync(0, CancellationToken.None);

        // Of a name of which nothing is known, the first claims half of what is left.
        Assert.Equal((170L << 20) / 2, store.Statistics!.Value.BudgetUsedBytes);
    }

    [Fact]
    public void IsOfLibrary_WaysOfOthers_ComeFirst()
        => Assert.Equal(MemoryWay.All.OrderBy(way => way.IsOfLibrary), MemoryWay.All);

    [Theory]
    [InlineData(350, 242)]
    [InlineData(64, 32)]
    public void Budget_OfALimit_LeavesTheRuntimeAndAnEighth(int limit, int budget) => Assert.Equal(budget, MemoryWay.Budget(limit));

    [Fact]
    public void CreateStore_Aligned_CountsOutstandingMemoryAndLendsNoneAfterDispose()
    {
        using PixelStore store = MemoryWay.Get("aligned").CreateStore(350, TimeSpan.FromMinutes(1));
        IMemoryOwner<byte> owner = store.Allocate(4000);
        owner.Memory.Span.Fill(1);
        long held = store.CommittedBytes;

        owner.Dispose();
        owner.Dispose();

        Assert.Equal((4000, 0), (held, store.CommittedBytes));
        Assert.Throws<ObjectDisposedException>(() => owner.Memory.Span.Length);
    }
}
