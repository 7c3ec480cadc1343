using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Allocator;

namespace PageAlignedTransfer.Cuda;

/// <summary>Copies every kind of memory to the device, in turn, and times it.</summary>
internal sealed class DeviceCopyMeasurement
{
    private readonly CudaDevice _device;
    private readonly MemoryAllocator _allocator;

    /// <summary>Prepares to copy to <paramref name="device"/>.</summary>
    public DeviceCopyMeasurement(CudaDevice device, MemoryAllocator allocator)
    {
        _device = device;
        _allocator = allocator;
    }

    /// <summary>Measures copies of <paramref name="bytes"/> bytes: as many rounds as fit <paramref name="budget"/>, within the two bounds.</summary>
    public IReadOnlyList<DeviceCopyTime> Run(int bytes, TimeSpan budget, int leastRounds, int mostRounds)
    {
        HostMemoryKind[] kinds = Enum.GetValues<HostMemoryKind>();
        List<HostBuffer> buffers = [];
        ulong target = _device.Allocate((nuint)bytes);
        try
        {
            foreach (HostMemoryKind kind in kinds)
            {
                HostBuffer buffer = new(_device, _allocator, kind, bytes);
                buffers.Add(buffer);

                // Different bytes in each, written to every page: a copy from the wrong place, or none at all, does not go unseen.
                new Random((int)kind).NextBytes(buffer.Bytes);
                _ = buffer.CopyTo(target);
                Verify(buffer, kind, target);
            }

            List<DeviceCopyPhases>[] rounds = [.. kinds.Select(_ => new List<DeviceCopyPhases>())];
            long start = Stopwatch.GetTimestamp();
            for (int round = 0; round < leastRounds || (round < mostRounds && Stopwatch.GetElapsedTime(start) < budget); round++)
            {
                for (int i = 0; i < kinds.Length; i++)
                {
                    rounds[i].Add(buffers[i].CopyTo(target));
                }
            }

            Verify(buffers[^1], kinds[^1], target);
            return [.. kinds.Select((kind, i) => new DeviceCopyTime(kind, bytes, rounds[i]))];
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
