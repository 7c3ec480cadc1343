namespace Measurements.Transfers;

/// <summary>Copies every kind of memory to the device, in turn, and times it.</summary>
internal sealed class DeviceCopyMeasurement(CudaDevice device, MemoryAllocator allocator)
{
    private static readonly string[] s_names =
    [
        "pool, unpinned", "pool, registered once", "pool, registered each time", "heap, unpinned", "heap, registered each time",
        "cuMemHostAlloc",
    ];

    private readonly CudaDevice _device = device;

    /// <summary>
    /// Measures copies of <paramref name="bytes"/> bytes: as many rounds as fit <paramref name="budget"/>, within the two bounds.
    /// </summary>
    public IReadOnlyList<TransferTime> Run(int bytes, TimeSpan budget, int leastRounds, int mostRounds)
    {
        HostMemoryKind[] kinds = Enum.GetValues<HostMemoryKind>();
        List<HostBuffer> buffers = [];
        ulong target = _device.Allocate((nuint)bytes);
        try
        {
            foreach (HostMemoryKind kind in kinds)
            {
                HostBuffer buffer = new(_device, allocator, kind, bytes);
                buffers.Add(buffer);

                // Different bytes in each, written to every page: a copy from the wrong place, or none at all, does not go unseen.
                new Random((int)kind).NextBytes(buffer.Bytes);
                _ = buffer.CopyTo(target);
                Verify(buffer, kind, target);
            }

            List<TransferPhases>[] rounds = [.. kinds.Select(_ => new List<TransferPhases>())];
            long start = Stopwatch.GetTimestamp();
            for (int round = 0; round < leastRounds || (round < mostRounds && Stopwatch.GetElapsedTime(start) < budget); round++)
            {
                for (int i = 0; i < kinds.Length; i++)
                {
                    rounds[i].Add(buffers[i].CopyTo(target));
                }
            }

            Verify(buffers[^1], kinds[^1], target);
            return [.. kinds.Select((kind, i) => new TransferTime(s_names[i], bytes, rounds[i]))];
        }
        finally
        {
            buffers.ForEach(buffer => buffer.Dispose());
            _device.Free(target);
        }
    }

    private unsafe void Verify(HostBuffer buffer, HostMemoryKind kind, ulong target)
    {
        byte[] back = new byte[buffer.Bytes.Length];
        fixed (byte* start = back)
        {
            _device.CopyToHost((nint)start, target, (nuint)back.Length);
        }

        int common = buffer.Bytes.CommonPrefixLength(back);
        if (common < back.Length)
        {
            throw new InvalidDataException($"{kind}: of {back.Length} bytes, byte {common} is another on the device.");
        }
    }
}
