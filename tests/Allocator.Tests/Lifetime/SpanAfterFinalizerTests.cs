using System.Diagnostics;
using System.Runtime;

namespace Allocator.Tests.Lifetime;

/// <summary>
/// The bug that this library is built around: a span is taken from an owner, and nothing touches the owner again. The collector may take
/// the owner while the span is in use. It hides from tests that run cold: only the compiler's last word on a method, with profiles, knows
/// that the owner is dead. So this one runs hot first.
/// </summary>
public class SpanAfterFinalizerTests
{
    private static readonly TimeSpan s_quietTime = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    public static bool IsOptimized { get; } = IsOptimizedCode(typeof(SpanAfterFinalizerTests)) && IsOptimizedCode(typeof(MemoryAllocator));

    [SkippableFact]
    public void Span_OwnerFinalizedUnderReuse_SeesTheNextRentersPixels()
    {
        Skip.IfNot(IsOptimized, "Debug builds keep every local alive to the end of its method.");
        RemoteExecutor.Invoke(static () => Assert.True(IsCorruptedWhenHot(AbandonedMemory.Reuse))).Dispose();
    }

    [SkippableFact]
    public void Span_OwnerFinalizedUnderQuarantine_SeesItsOwnPixels()
    {
        Skip.IfNot(IsOptimized, "Debug builds keep every local alive to the end of its method.");
        RemoteExecutor.Invoke(static () =>
        {
            Assert.False(IsCorruptedWhenHot(AbandonedMemory.Quarantine));

            // The owner was dead all the same: otherwise this would show nothing.
            Assert.Equal(1, MemoryDiagnostics.AbandonedAllocations);
        }).Dispose();
    }

    [SkippableFact]
    public void Span_OwnerFinalizedInGuardedMode_SeesItsOwnPixelsAndIsReportedWithItsStack()
    {
        Skip.IfNot(IsOptimized, "Debug builds keep every local alive to the end of its method.");
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator standard = CreateSmall(AbandonedMemory.Quarantine);
            Interference harmless = new(standard);
            RunHot(() => WriteAndRead(standard, harmless));
            using MemoryAllocator guarded = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });

            Assert.False(WriteAndRead(guarded, new Interference(guarded) { IsOn = true }));

            Assert.True(SpinWait.SpinUntil(static () => MemoryDiagnostics.GetLeaks().Count == 1, s_patience));
            Assert.Contains(
                nameof(WriteAndRead), MemoryDiagnostics.GetLeaks()[0].AllocationStackTrace!.Split('\n')[0], StringComparison.Ordinal);
        }).Dispose();
    }

    [SkippableTheory]
    [InlineData(nameof(AbandonedMemory.Reuse))]
    [InlineData(nameof(AbandonedMemory.Quarantine))]
    public void Span_WhoseOwnerIsUsedAgain_SeesItsOwnPixels(string mode)
    {
        Skip.IfNot(IsOptimized, "Debug builds keep every local alive to the end of its method.");
        RemoteExecutor.Invoke(
            static mode =>
            {
                using MemoryAllocator allocator = CreateSmall(Enum.Parse<AbandonedMemory>(mode));
                Interference interference = new(allocator);
                RunHot(() => WriteAndReadWithUsing(allocator, interference));

                interference.IsOn = true;

                Assert.False(WriteAndReadWithUsing(allocator, interference));
                Assert.Equal(0, MemoryDiagnostics.AbandonedAllocations);
            },
            mode).Dispose();
    }

    private static bool IsCorruptedWhenHot(AbandonedMemory mode)
    {
        using MemoryAllocator allocator = CreateSmall(mode);
        Interference interference = new(allocator);
        RunHot(() => WriteAndRead(allocator, interference));

        // What the hot runs dropped was of another allocator: see Interference.
        interference.IsOn = true;
        return WriteAndRead(allocator, interference);
    }

    // One block: the next rent gets the one that has come back, or none of the pool.
    private static MemoryAllocator CreateSmall(AbandonedMemory mode) =>
        MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 4, Abandoned = mode });

    // The snippet, as users write it. Gives whether the pixels changed under the span.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool WriteAndRead(MemoryAllocator allocator, Interference interference)
    {
#pragma warning disable ALLOC001 // That is the bug.
        IMemoryOwner<byte> owner = allocator.Allocate<byte>(interference.Length);
        Span<byte> span = owner.Memory.Span;
        span.Fill(1);
        interference.Happen();
        return span.IndexOfAnyExcept((byte)1) >= 0;
#pragma warning restore ALLOC001
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool WriteAndReadWithUsing(MemoryAllocator allocator, Interference interference)
    {
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(interference.Length);
        Span<byte> span = owner.Memory.Span;
        span.Fill(1);
        interference.Happen();
        return span.IndexOfAnyExcept((byte)1) >= 0;
    }

    // Until the compiler has had its say: it collects methods for a tenth of a second before it compiles them anew, twice.
    private static void RunHot(Action snippet)
    {
        long changed = Stopwatch.GetTimestamp();
        long start = changed;
        for (long methods = 0; Stopwatch.GetElapsedTime(changed) < s_quietTime && Stopwatch.GetElapsedTime(start) < s_patience;)
        {
            for (int i = 0; i < 100; i++)
            {
                snippet();
            }

            long now = JitInfo.GetCompiledMethodCount();
            if (now != methods)
            {
                (methods, changed) = (now, Stopwatch.GetTimestamp());
            }
        }
    }

    private static bool IsOptimizedCode(Type type) =>
        Attribute.GetCustomAttribute(
            type.Assembly, typeof(DebuggableAttribute)) is not DebuggableAttribute { IsJITOptimizerDisabled: true };

    /// <summary>What happens to a program while a span is in use: a collection, the finalizers, and another request.</summary>
    private sealed class Interference(MemoryAllocator allocator)
    {
        public bool IsOn { get; set; }

        // While it is off, arrays: they are collected, and nothing of the pool is dropped before it counts.
        public int Length => IsOn ? 4 << 20 : 1000;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Happen()
        {
            if (!IsOn)
            {
                return;
            }

            QueuedWork.Collect();
            SpinWait.SpinUntil(static () => MemoryDiagnostics.AbandonedAllocations > 0, TimeSpan.FromSeconds(1));
            using IMemoryOwner<byte> next = allocator.Allocate<byte>(4 << 20);
            next.Memory.Span.Fill(2);
        }
    }
}
