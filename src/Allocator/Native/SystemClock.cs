using System;
using System.Threading;
using System.Threading.Tasks;

namespace Allocator.Native;

/// <summary>The machine's clock.</summary>
internal sealed class SystemClock : Clock
{
    public static readonly SystemClock Instance = new();

    private SystemClock() => RefreshCoarse();

    public override long NowMilliseconds => Environment.TickCount64;

    public override ClockTimer CreateTimer(Action callback) => new SystemTimer(callback);

    // Of one task, and without its exception.
    public override void Wait(Task task, TimeSpan timeout) => Task.WaitAny([task], timeout);

    public override void Delay(TimeSpan duration) => Thread.Sleep(duration);

    private sealed class SystemTimer : ClockTimer
    {
        private readonly Timer _timer;

        // The flow of execution context would tie whatever the first renter had in its AsyncLocals to the timer for good.
        public SystemTimer(Action callback)
        {
            bool suppress = !ExecutionContext.IsFlowSuppressed();
            if (suppress)
            {
                ExecutionContext.SuppressFlow();
            }

            try
            {
                _timer = new Timer(static state => ((Action)state!)(), callback, Timeout.Infinite, Timeout.Infinite);
            }
            finally
            {
                if (suppress)
                {
                    ExecutionContext.RestoreFlow();
                }
            }
        }

        public override void Start(TimeSpan due) => _timer.Change(due, Timeout.InfiniteTimeSpan);

        public override void Dispose() => _timer.Dispose();
    }
}
