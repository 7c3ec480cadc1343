using System;
using System.Threading;
using System.Threading.Tasks;

namespace Allocator.Budgeting;

/// <summary>One request that waits for its budget. It is settled once, by whoever is first: granted, given up, or failed.</summary>
internal sealed class BudgetRequest
{
    private const int Waiting = 0;
    private const int Granted = 1;
    private const int Ended = 2;

    // Continuations run on the thread pool, never on the thread that disposes of memory.
    private readonly TaskCompletionSource<bool> _settled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _state;
    private int _looks;

    /// <summary>Makes a request.</summary>
    /// <param name="account">What is charged.</param>
    /// <param name="bytes">How much is asked for.</param>
    /// <param name="isPatient">Whether somebody is going to wait for it, rather than only ask.</param>
    public BudgetRequest(BudgetAccount account, long bytes, bool isPatient)
    {
        Account = account;
        Bytes = bytes;
        IsPatient = isPatient;
    }

    public BudgetAccount Account { get; }

    public long Bytes { get; }

    /// <summary>Gets whether somebody waits. Who only asks holds nobody up, and is in no deadlock.</summary>
    public bool IsPatient { get; }

    /// <summary>Gets what ends when the request is settled: well where it was granted, else with the reason.</summary>
    public Task Settled => _settled.Task;

    public bool IsGranted => Volatile.Read(ref _state) == Granted;

    public bool IsWaiting => Volatile.Read(ref _state) == Waiting;

    /// <summary>Gets whether whoever serves the queue has considered this request at least once.</summary>
    public bool WasConsidered => Volatile.Read(ref _looks) != 0;

    /// <summary>Gets or sets the next one, on the stack of those that have just come or in the queue. Of whoever serves the queue, once posted.</summary>
    public BudgetRequest? Next { get; set; }

    /// <summary>Gets or sets how often others were served first while this was the head of the queue. Of whoever serves the queue.</summary>
    public int Overtaken { get; set; }

    /// <summary>Settles the request as granted. pre: its bytes have been taken. False where it has been given up: they are still the caller's.</summary>
    public bool TryGrant()
    {
        if (!TrySettle(Granted))
        {
            return false;
        }

        _settled.TrySetResult(true);
        return true;
    }

    /// <summary>Gives the request up, for a reason. False where it is settled already. The caller has the queue served: others may fit now.</summary>
    public bool TryFail(Exception reason)
    {
        if (!TrySettle(Ended))
        {
            return false;
        }

        _settled.TrySetException(reason);
        return true;
    }

    /// <summary>Gives the request up because the user does. As <see cref="TryFail"/> otherwise.</summary>
    public bool TryCancel(CancellationToken cancellationToken)
    {
        if (!TrySettle(Ended))
        {
            return false;
        }

        _settled.TrySetCanceled(cancellationToken);
        return true;
    }

    public void NoteConsidered() => Volatile.Write(ref _looks, 1);

    private bool TrySettle(int state)
    {
        if (Interlocked.CompareExchange(ref _state, state, Waiting) != Waiting)
        {
            return false;
        }

        Account.Budget!.NoteSettled();
        return true;
    }
}
