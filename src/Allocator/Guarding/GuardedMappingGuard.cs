using System;
using System.Diagnostics;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Guarding;

/// <summary>Guards memory between inaccessible pages for one rent.</summary>
internal sealed class GuardedMappingGuard : FinalizableGuard
{
    private readonly GuardedSource _renter;
    private readonly GuardedMapping _memory;

    // Shared by the parts of a group. Not read any more where the return was not a call of the user's.
    private CorruptionFindings? _findings;

    public GuardedMappingGuard(GuardedSource renter, GuardedMapping memory, AllocatorContext context)
        : base(new BlockState[1], 0, context)
    {
        _renter = renter;
        _memory = memory;
        Record.RunLength = 1;
    }

    public override long CapacityInBytes => _memory.Layout.CapacityInBytes;

    protected override bool KeepsStack => true;

    /// <summary>Notes where the buffer is.</summary>
    public void Place()
    {
        Debug.Assert(_memory.MappingAddress != 0, "The memory has been placed.");
        Address = _memory.Address;
    }

    protected override void OnTraced(string stack)
    {
        for (FinalizableGuard? part = this; part is not null; part = part.Next)
        {
            ((GuardedMappingGuard)part)._memory.BeginRent(stack);
        }
    }

    protected override void GiveBack()
    {
        CorruptionFindings? findings = null;

        // A finalizer of the user's, whose owner was unreachable like this guard, is no place to throw at: the process would end.
        bool isCallOfUser = !IsFoundUnreachable;
        try
        {
            findings = new CorruptionFindings();
            string stack = CallerStack.Capture();
            Trace?.ReturnStackTrace = stack;
            for (FinalizableGuard? part = this; part is not null; part = part.Next)
            {
                ((GuardedMappingGuard)part).NoteReturn(stack, findings);
            }
        }
        finally
        {
            base.GiveBack();
        }

        if (isCallOfUser)
        {
            _renter.ThrowIfAny(findings);
        }
    }

    protected override void ReturnMemory(bool ofGroup)
    {
        // Nothing is left to be found: the guard ends here, the memory goes on.
        GC.SuppressFinalize(this);
        _renter.TakeBack(_memory, _findings);
    }

    protected override void ClearUsed(bool evenIfZeroed)
    {
        if (evenIfZeroed || !_memory.IsZero)
        {
            NativeBytes.Clear(Address, Record.UsedBytes);
        }
    }

    // What the next renter finds is seen to when it is rented.
    protected override void CleanUp()
    {
    }

    protected override void OnRented(bool isAllocation)
    {
        _memory.WasRented = true;
        Context.Counters.MappingRented(CapacityInBytes, isAllocation);
    }

    protected override void OnReturned(bool isAllocation) => Context.Counters.MappingReturned(CapacityInBytes, isAllocation);

    protected override void OnAbandoned(bool isAllocation)
    {
        _memory.Abandon();
        Context.Counters.MappingQuarantined(CapacityInBytes, isAllocation);
    }

    protected override void OnRecycled()
    {
        _memory.FindBrokenSlack();
        Context.Counters.MappingLeftQuarantine(CapacityInBytes);
    }

    private void NoteReturn(string stack, CorruptionFindings findings)
    {
        _findings = findings;
        _memory.EndRent(stack);
        findings.Add(_memory.FindBrokenSlack());
    }
}
