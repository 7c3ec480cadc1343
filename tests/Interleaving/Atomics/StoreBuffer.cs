using System.Runtime.CompilerServices;
using Interleaving.Scheduling;

namespace Interleaving.Atomics;

/// <summary>
/// What a processor may do with "write here, then read there": the write waits in its store buffer while the read goes ahead. Both orders are explored.
/// The write is seen at the latest when another thread runs <see cref="Interlocked.MemoryBarrierProcessWide"/>.
/// </summary>
public static class StoreBuffer
{
    /// <summary>Writes to one place, and then reads another: on the processor perhaps the other way round.</summary>
    public static int WriteThenRead(
        ref int written,
        int value,
        ref int read,
        [CallerArgumentExpression(nameof(written))] string text = "", [CallerMemberName] string member = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        StepSite write = new("Write", text, member, file, line);
        StepSite look = new("Read", nameof(read), member, file, line);
        if (Worker.Current is not Worker worker || worker.Schedule is not Schedule schedule)
        {
            System.Threading.Volatile.Write(ref written, value);
            System.Threading.Interlocked.MemoryBarrier();
            return System.Threading.Volatile.Read(ref read);
        }

        if (!schedule.ChooseWay(worker, write))
        {
            schedule.Await(worker, Step.At(StepKind.Write, ref written, write));
            schedule.Note(written, value);
            written = value;
            return Look(worker, schedule, ref read, look);
        }

        int seen = Look(worker, schedule, ref read, look);
        schedule.AwaitBuffered(worker, Step.At(StepKind.BufferedWrite, ref written, write with { Operation = "late Write" }), out bool byFence);
        schedule.Note(written, value);
        written = value;
        schedule.EndBuffered(worker, byFence);
        return seen;
    }

    private static int Look(Worker worker, Schedule schedule, ref int read, in StepSite site)
    {
        schedule.Await(worker, Step.At(StepKind.Read, ref read, site));
        schedule.Note(read, read);
        return read;
    }
}
