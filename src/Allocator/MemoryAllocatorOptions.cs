using System;
using System.Threading;

namespace Allocator;

/// <summary>Settles how an allocator behaves. Read once, by <see cref="MemoryAllocator.Create(MemoryAllocatorOptions)"/>, which also checks the values.</summary>
public sealed class MemoryAllocatorOptions
{
    /// <summary>Gets the allocator's name, for whoever reads its diagnostics.</summary>
    public string? Name { get; init; }

    /// <summary>
    /// Gets how much memory the pool holds at most, in MiB, rounded down to whole blocks of 4 MiB.
    /// <see langword="null"/>: 1/8 of the memory available to the process on 64-bit, and 128 on 32-bit or where that figure is not to be had. 0: nothing is retained.
    /// </summary>
    /// <remarks>1/8 is the figure that the source of this design measured best on machines from 16 to 64 GB; container limits are honoured.</remarks>
    public int? MaximumPoolSizeMegabytes { get; init; }

    /// <summary>Gets the largest single buffer, group or pixel buffer, in MiB. <see langword="null"/>: 4096 on 64-bit, 1024 on 32-bit.</summary>
    public int? AllocationLimitMegabytes { get; init; }

    /// <summary>
    /// Gets how much memory may be held at once, in MiB: all that is out, at its capacity, and all that lies idle. <see langword="null"/>: no budget. What does not fit waits, see <see cref="BudgetTimeout"/>;
    /// <see cref="MemoryAllocator.AllocateAsync{T}"/> and its like wait without blocking a thread.
    /// </summary>
    /// <remarks>Idle memory is given back before anybody waits. What <c>ArrayPool.Shared</c> keeps for itself is not counted. A budget costs some interlocked operations an allocation, and small buffers a guard with a finalizer.</remarks>
    public int? MemoryBudgetMegabytes { get; init; }

    /// <summary>
    /// Gets how long a synchronous call waits for the budget before it throws <see cref="MemoryLimitExceededException"/>: up to 24 days, or <see cref="Timeout.InfiniteTimeSpan"/>. It blocks its thread meanwhile,
    /// so the default is zero: it throws at once.
    /// </summary>
    public TimeSpan BudgetTimeout { get; init; }

    /// <summary>Gets whether every group and pixel buffer is made as if <see cref="AllocationOptions.Contiguous"/> had been asked for.</summary>
    public bool PreferContiguous { get; init; }

    /// <summary>Gets where unmanaged memory comes from.</summary>
    public NativeMemoryKind NativeMemory { get; init; } = NativeMemoryKind.Virtual;

    /// <summary>Gets whether huge pages are asked for.</summary>
    public HugePages HugePages { get; init; } = HugePages.Auto;

    /// <summary>Gets how often idle memory is looked at: from 1 millisecond to 24 days. The default is 1 minute, as in <c>ArrayPool.Shared</c>.</summary>
    /// <remarks>Each period is stretched by a random part of up to a fifth, so that pools and processes that were started together do not trim together.</remarks>
    public TimeSpan TrimPeriod { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Gets which part, from 0 to 1, of what stayed idle through a whole period goes back to the system at its end. The default is 0.5.</summary>
    public double TrimRate { get; init; } = 0.5;

    /// <summary>Gets whether memory is zeroed when it comes back, so that no renter ever sees another's pixels.</summary>
    public bool ClearOnReturn { get; init; }

    /// <summary>Gets what becomes of memory whose owner was collected without <c>Dispose</c>.</summary>
    public AbandonedMemory Abandoned { get; init; } = AbandonedMemory.Quarantine;

    /// <summary>
    /// Gets how closely the use of memory is watched. <see langword="null"/>: as the AppContext data <c>Allocator.Safety</c> says, which a <c>runtimeconfig.json</c> may contain; without it as the environment
    /// variable <c>ALLOCATOR_SAFETY</c> says; without either <see cref="SafetyMode.Standard"/>.
    /// </summary>
    public SafetyMode? Safety { get; init; }

    /// <summary>Gets how many allocations there are, on average, to each that is watched in <see cref="SafetyMode.Sampled"/> mode: at least 1. The default is 1,000.</summary>
    public int SafetySampleInterval { get; init; } = 1000;

    /// <summary>Throws where a value is out of range, naming the value and the limit.</summary>
    internal void Validate()
    {
        Throw.IfNegative(MaximumPoolSizeMegabytes, nameof(MaximumPoolSizeMegabytes));
        if (AllocationLimitMegabytes is < 1)
        {
            Throw.OutOfRange(nameof(AllocationLimitMegabytes), AllocationLimitMegabytes, "must be at least 1");
        }

        if (MemoryBudgetMegabytes is < 1)
        {
            Throw.OutOfRange(nameof(MemoryBudgetMegabytes), MemoryBudgetMegabytes, "must be at least 1");
        }

        if (BudgetTimeout != Timeout.InfiniteTimeSpan && (BudgetTimeout < TimeSpan.Zero || BudgetTimeout > TimeSpan.FromMilliseconds(int.MaxValue)))
        {
            Throw.OutOfRange(nameof(BudgetTimeout), BudgetTimeout, "must be from zero to int.MaxValue milliseconds, or infinite");
        }

        // Written so that NaN fails too.
        if (!(TrimRate >= 0 && TrimRate <= 1))
        {
            Throw.OutOfRange(nameof(TrimRate), TrimRate, "must be from 0 to 1");
        }

        if (TrimPeriod < TimeSpan.FromMilliseconds(1) || TrimPeriod > TimeSpan.FromMilliseconds(int.MaxValue))
        {
            Throw.OutOfRange(nameof(TrimPeriod), TrimPeriod, "must be from 1 millisecond to int.MaxValue milliseconds");
        }

        if (NativeMemory is < NativeMemoryKind.Virtual or > NativeMemoryKind.CoTaskMem)
        {
            Throw.OutOfRange(nameof(NativeMemory), NativeMemory, "must be a defined value");
        }

        if (HugePages is < HugePages.Auto or > HugePages.Off)
        {
            Throw.OutOfRange(nameof(HugePages), HugePages, "must be a defined value");
        }

        if (Safety is < SafetyMode.Standard or > SafetyMode.Guarded)
        {
            Throw.OutOfRange(nameof(Safety), Safety, "must be a defined value");
        }

        if (SafetySampleInterval < 1)
        {
            Throw.OutOfRange(nameof(SafetySampleInterval), SafetySampleInterval, "must be at least 1");
        }

        if (Abandoned is < AbandonedMemory.Quarantine or > AbandonedMemory.Reuse)
        {
            Throw.OutOfRange(nameof(Abandoned), Abandoned, "must be a defined value");
        }
    }
}
