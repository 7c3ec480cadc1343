using System;
using System.Collections.Generic;
using Fragmentation.Subjects;
using Measuring.Machines;

namespace Fragmentation.Bursts;

/// <summary>
/// Waves of load: each allocates many blocks, writes to them, returns all but every tenth and releases what is idle.
/// The tenth that stays pins what lies below it in a heap that grows and shrinks at its end.
/// </summary>
internal static class BurstRun
{
    /// <summary>Waves.</summary>
    public const int Waves = 3;

    /// <summary>Blocks allocated in a wave, unless it is to be a short one.</summary>
    public const int DefaultBlocks = 100;

    /// <summary>One in this many blocks is kept until the next wave.</summary>
    public const int KeptEvery = 10;

    // 1024 × 1024 pixels of 4 bytes are the 4 MiB of a block of the pool.
    private const int Side = 1024;

    /// <summary>The size of a block, in bytes.</summary>
    public const long BlockBytes = (long)Side * Side * sizeof(uint);

    /// <summary>Runs waves of <paramref name="blocks"/> blocks and measures.</summary>
    public static BurstReport Run(SubjectKind kind, int blocks)
    {
        using MemorySubject subject = MemorySubject.Create(kind);
        WarmUp(subject);

        long baseline = ProcessMemory.ReadResident();
        List<BurstWave> waves = [];
        List<HeldImage> live = [];
        for (int wave = 0; wave < Waves; wave++)
        {
            live.ForEach(image => image.Dispose());
            live.Clear();
            waves.Add(RunWave(subject, blocks, live, baseline));
        }

        live.ForEach(image => image.Dispose());
        return new BurstReport { Subject = kind, Blocks = blocks, LiveBytes = blocks / KeptEvery * BlockBytes, Waves = waves };
    }

    private static BurstWave RunWave(MemorySubject subject, int blocks, List<HeldImage> live, long baseline)
    {
        HeldImage[] burst = new HeldImage[blocks];
        foreach (ref HeldImage image in burst.AsSpan())
        {
            image = subject.Allocate(Side, Side);
            image.Touch();
        }

        long full = ProcessMemory.ReadResident();
        for (int i = 0; i < burst.Length; i++)
        {
            if (i % KeptEvery == 3)
            {
                live.Add(burst[i]);
            }
            else
            {
                burst[i].Dispose();
            }
        }

        long returned = ProcessMemory.ReadResident();
        subject.ReleaseIdle();
        return new BurstWave(full - baseline, returned - baseline, ProcessMemory.ReadResident() - baseline);
    }

    // Compiles and loads what the first calls need, with an image that is too small for a block.
    private static void WarmUp(MemorySubject subject)
    {
        for (int i = 0; i < 3; i++)
        {
            using HeldImage image = subject.Allocate(64, 64);
            image.Touch();
            subject.ReleaseIdle();
            _ = ProcessMemory.ReadResident();
        }
    }
}
