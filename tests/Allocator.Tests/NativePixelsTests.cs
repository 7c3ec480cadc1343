namespace Allocator.Tests;

public unsafe class NativePixelsTests
{
    // An array, which moves unless it is pinned; one block; a run of blocks; memory of the system's.
    public static TheoryData<int, int> Sizes => new() { { 10, 7 }, { 60, 60 }, { 300, 100 }, { 1000, 500 } };

    [Theory]
    [MemberData(nameof(Sizes))]
    public void HandOff_AnySize_ReturnsPixelsThatDoNotMove(int width, int height)
    {
        using TestSetup setup = new();
        PixelBuffer<int> buffer = setup.Allocator.AllocatePixels<int>(
            width, height, AllocationOptions.Contiguous, rowAlignmentInBytes: 64);
        Number(buffer);

        using (NativePixels pixels = buffer.HandOff())
        {
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            Assert.Equal((width, height), (pixels.Width, pixels.Height));
            Assert.Equal(0, pixels.RowBytes % 64);
            Assert.InRange(pixels.RowBytes, width * sizeof(int), width * sizeof(int) + 63);
            Assert.Equal((long)(height - 1) * pixels.RowBytes + width * sizeof(int), pixels.LengthInBytes);
            for (int y = 0; y < height; y++)
            {
                Assert.Equal(
                    Enumerable.Range(y * width, width), new Span<int>((byte*)pixels.Pointer + (long)y * pixels.RowBytes, width).ToArray());
            }

            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
            Assert.Throws<ObjectDisposedException>(() => buffer.Clear());
            Assert.Throws<ObjectDisposedException>(() => buffer.HandOff());
            Assert.Throws<ObjectDisposedException>(() => buffer.DangerousGetRowSpan(0));
            buffer.Dispose();
            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.True(setup.AllIsIdle);
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public void ReleaseFunction_CalledAsNativeCodeDoes_ReleasesOnce(int width, int height)
    {
        using TestSetup setup = new();
        NativePixels pixels = setup.Allocator.AllocatePixels<int>(width, height, AllocationOptions.Contiguous).HandOff();
        var release = (delegate* unmanaged[Cdecl]<void*, void*, void>)pixels.ReleaseFunction;
        void* address = (void*)pixels.Pointer;
        release(address, (void*)pixels.ReleaseContext);
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);

        using PixelBuffer<int> next = setup.Allocator.AllocatePixels<int>(width, height, AllocationOptions.Contiguous);
        using NativePixels nextPixels = next.HandOff();
        release(address, (void*)pixels.ReleaseContext);
        pixels.Dispose();
        release(address, null);
        Assert.Throws<ObjectDisposedException>(() => pixels.Pointer);
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        Assert.NotEqual(pixels.ReleaseContext, nextPixels.ReleaseContext);
        Assert.Equal(pixels.ReleaseFunction, nextPixels.ReleaseFunction);
    }

    [Fact]
    public void Release_FromManyThreadsAtOnce_HappensOnce()
    {
        using TestSetup setup = new();
        for (int round = 0; round < 200; round++)
        {
            int released = 0;
            byte[] memory = new byte[64];
            NativePixels pixels = setup.Allocator.WrapPixels(memory.AsMemory(), 8, 8, 8, () => Interlocked.Increment(ref released))
                .HandOff();
            nint context = pixels.ReleaseContext;
            using Barrier barrier = new(8);
            TestThreads.Run(8, i =>
            {
                barrier.SignalAndWait();
                if (i % 2 == 0)
                {
                    pixels.Dispose();
                }
                else
                {
                    Release(pixels.ReleaseFunction, context);
                }
            });
            Assert.Equal(1, released);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void HandOff_WhileAnotherHandsOffOrDisposes_IsRefused(bool handsOff)
    {
        using TestSetup setup = new();
        int released = 0;
        NativePixels? first = null;
        PinTap memory = new();
        PixelBuffer<byte> buffer = setup.Allocator.WrapPixels(memory.Memory, 4, 4, 4, () => released++);
        memory.Pinning = () =>
        {
            memory.Pinning = null;
            if (handsOff)
            {
                first = buffer.HandOff();
            }
            else
            {
                buffer.Dispose();
            }
        };

        Assert.Throws<ObjectDisposedException>(() => buffer.HandOff());
        Assert.Equal(handsOff ? 0 : 1, released);
        first?.Dispose();
        Assert.Equal(1, released);
    }

    // Pins are only counted, so the copy (in the delegate) ends the pin of the hand-off.
    [Fact]
    public void HandOff_WhileACopyOfAnEarlierPinIsDisposed_PinsAnew()
    {
        using TestSetup setup = new();
        int released = 0;
        PinTap memory = new();
        PixelBuffer<byte> buffer = setup.Allocator.WrapPixels(memory.Memory, 4, 4, 4, () => released++);
        MemoryHandle earlier = buffer.Pin();
        memory.Pinning = earlier.Dispose;
        earlier.Dispose();
        buffer.HandOff().Dispose();
        Assert.Equal(1, released);
    }

    [SkippableFact]
    public void ReleaseFunction_OnANativeThread_Releases()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "It makes a thread of the C library's.");
        using TestSetup setup = new();
        NativePixels pixels = setup.Allocator.AllocatePixels<int>(60, 60).HandOff();
        nint[] argument = [pixels.ReleaseFunction, pixels.ReleaseContext, pixels.Pointer];
        fixed (nint* pinned = argument)
        {
            Assert.Equal(0, PThreadCreate(out nint thread, 0, &NativeThread, pinned));
            Assert.Equal(0, PThreadJoin(thread, 0));
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void HandOff_SeveralPieces_RefusesAndLosesNothing()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> buffer = setup.Allocator.AllocatePixels<int>(300, 100);
        Assert.False(buffer.IsContiguous);
        Number(buffer);

        InvalidOperationException refused = Assert.Throws<InvalidOperationException>(() => buffer.HandOff());

        Assert.Contains(nameof(AllocationOptions.Contiguous), refused.Message, StringComparison.Ordinal);
        Assert.Equal(300 * 99, buffer.DangerousGetRowSpan(99)[0]);
        using PixelBuffer<int> copy = buffer.Clone();
    }

    [Fact]
    public void HandOff_AllocatorDisposedMeanwhile_StaysUntilReleased()
    {
        TestSetup setup = new();
        NativePixels pixels = setup.Allocator.AllocatePixels<int>(300, 100, AllocationOptions.Contiguous | AllocationOptions.Clean)
            .HandOff();
        setup.Dispose();
        new Span<byte>((void*)pixels.Pointer, (int)pixels.LengthInBytes).Fill(1);
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        Assert.True(setup.Statistics.CommittedBytes > 0);
        pixels.Dispose();
        Assert.Equal((0L, 0L), (setup.Statistics.OutstandingAllocations, setup.Statistics.CommittedBytes));
    }

    [Theory]
    [InlineData(8)]
    [InlineData(800)]
    public void HandOff_EverythingManagedDropped_IsOutstandingAndNotAbandoned(int width)
    {
        RemoteExecutor.Invoke(
            static text =>
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
                (nint pointer, nint release, nint context) = Drop(allocator, int.Parse(text));
                for (int i = 0; i < 3; i++)
                {
                    GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
                    GC.WaitForPendingFinalizers();
                }

                using PixelBuffer<int> next = allocator.AllocatePixels<int>(int.Parse(text), int.Parse(text), AllocationOptions.Clean);
                Assert.Equal(0, MemoryDiagnostics.AbandonedAllocations);
                Assert.Equal(2, allocator.GetStatistics().OutstandingAllocations);
                Assert.Equal(42, *(int*)pointer);
                Release(release, context);
                Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
            },
            width.ToString()).Dispose();
    }

    [Theory]
    [InlineData(8)]
    [InlineData(800)]
    public void HandOff_WithinAScope_IsNamedUntilReleased(int width)
    {
        RemoteExecutor.Invoke(
            static text =>
            {
                using AllocationScope scope = MemoryDiagnostics.BeginScope();
                NativePixels pixels = MemoryAllocator.Default.AllocatePixels<int>(int.Parse(text), int.Parse(text)).HandOff();
                Assert.Single(scope.GetOutstanding());
                pixels.Dispose();
                scope.AssertNothingOutstanding();
            },
            width.ToString()).Dispose();
    }

    [Fact]
    public void ReleaseFunction_GuardedModeFindsAnOverrun_RaisesItAndReturnsToNativeCode()
    {
        RemoteExecutor.Invoke(static () =>
        {
            using ManualResetEventSlim raised = new();
            MemoryDiagnostics.CorruptionFound += (_, _) => raised.Set();
            MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
            NativePixels pixels = allocator.AllocatePixels<byte>(100, 3).HandOff();
            ((byte*)pixels.Pointer)[-1] ^= 0xFF;
            Release(pixels.ReleaseFunction, pixels.ReleaseContext);
            Assert.True(raised.Wait(TimeSpan.FromMinutes(1)));
        }).Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (nint Pointer, nint Release, nint Context) Drop(MemoryAllocator allocator, int width)
    {
        PixelBuffer<int> buffer = allocator.AllocatePixels<int>(width, width);
        buffer.DangerousGetRowSpan(0)[0] = 42;
        NativePixels pixels = buffer.HandOff();
        return (pixels.Pointer, pixels.ReleaseFunction, pixels.ReleaseContext);
    }

    private static void Release(nint function, nint context) =>
        ((delegate* unmanaged[Cdecl]<void*, void*, void>)function)(null, (void*)context);

    private static void Number(PixelBuffer<int> buffer) => buffer.ProcessPixelRows(static rows =>
    {
        for (int y = 0; y < rows.Height; y++)
        {
            Span<int> row = rows.GetRowSpan(y);
            for (int x = 0; x < row.Length; x++)
            {
                row[x] = y * row.Length + x;
            }
        }
    });

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void* NativeThread(void* argument)
    {
        nint* values = (nint*)argument;
        ((delegate* unmanaged[Cdecl]<void*, void*, void>)values[0])((void*)values[2], (void*)values[1]);
        return null;
    }

    [DllImport("libc", EntryPoint = "pthread_create")]
    private static extern int PThreadCreate(
        out nint thread, nint attributes, delegate* unmanaged[Cdecl]<void*, void*> start, void* argument);

    [DllImport("libc", EntryPoint = "pthread_join")]
    private static extern int PThreadJoin(nint thread, nint result);
}
