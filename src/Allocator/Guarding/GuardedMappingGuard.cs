using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator.Guarding;

/// <summary>Guards memory between inaccessible pages for one rent.</summary>
internal sealed class GuardedMappingGuard(GuardedSource source, GuardedMapping memory, AllocatorContext context)
    : FinalizableGuard(context)
{
    private readonly GuardedMapping _memory = memory;

    // Shared by the parts of a group. Not read if the return was not called by the user.
    private CorruptionFindings? _findings;

    public override long CapacityInBytes => _memory.Layout.CapacityInBytes;

    protected override bool KeepsStack => true;

    // Not cleared, because the check needs the bytes as they were written.
    protected override bool IsClearedOnReturn => false;

    /// <summary>Notes the buffer's address, and whether it is zero.</summary>
    public void Place()
    {
        Debug.Assert(_memory.MappingAddress != 0, "The memory has been placed.");
        Address = _memory.Address;
        Record.Zeroed = _memory.IsZero;
    }

    protected override void OnTraced(string stack)
    {
        for (FinalizableGuard? part = this; part is not null; part = part.Next)
        {
            ((GuardedMappingGuard)part)._memory.BeginRent(stack);
        }
    }

    protected override void EndRent(bool ofLease)
    {
        // A user's finalizer, whose owner was unreachable like this guard, is the wrong place to throw: the process would end.
        bool isCallOfUser = !IsFoundUnreachable;
        CorruptionFindings? findings = TryPrepareReturn(out string? stack);
        try
        {
            Trace?.ReturnStackTrace = stack;
            for (FinalizableGuard? part = this; part is not null; part = part.Next)
            {
                ((GuardedMappingGuard)part).NoteReturn(stack, findings);
            }
        }
        finally
        {
            base.EndRent(ofLease);
        }

        if (isCallOfUser)
        {
            source.ThrowIfAny(findings);
        }
    }

    protected override void Return(bool bypassesCache)
    {
        // The guard ends here: its finalizer would find nothing. The memory is kept or released.
        GC.SuppressFinalize(this);
        bool wasRented = Record.State != 0;
        source.Return(_memory, wasRented, _findings);
    }

    protected override void OnAbandoned() => _memory.Abandon();

    protected override void OnReturned() => _memory.FindBrokenSlack();

    // If there is no managed memory, the return goes on: findings are in the records then, without this stack.
    private static CorruptionFindings? TryPrepareReturn(out string? stack)
    {
        stack = null;
        try
        {
            stack = CallerStack.Capture();
            return new CorruptionFindings();
        }
        catch (OutOfMemoryException)
        {
            return null;
        }
    }

    private void NoteReturn(string? stack, CorruptionFindings? findings)
    {
        _findings = findings;
        _memory.EndRent(stack);
        CorruptionEventArgs? finding = _memory.FindBrokenSlack();
        findings?.Add(finding);
    }
}
