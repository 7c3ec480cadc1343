using System;

namespace Allocator.Diagnostics;

/// <summary>One thing that the listeners of <see cref="MemoryDiagnostics"/> are to be told of, on the thread pool.</summary>
internal sealed class DiagnosticNotice : IBackgroundWork
{
    private readonly EventArgs _arguments;
    private BackgroundState _work;

    public DiagnosticNotice(EventArgs arguments) => _arguments = arguments;

    ref BackgroundState IBackgroundWork.State => ref _work;

    void IBackgroundWork.DoWork()
    {
        if (_arguments is AbandonedMemoryEventArgs leak)
        {
            MemoryDiagnostics.Tell(leak);
        }
        else
        {
            MemoryDiagnostics.Tell((CorruptionEventArgs)_arguments);
        }
    }
}
