using System.Runtime.ExceptionServices;
using System.Threading.Tasks.Sources;
using Allocator.Budgeting;
using Allocator.Native;

namespace Allocator.Allocators;

/// <summary>
/// One asynchronous wait for the budget. Its request is posted once the awaiting method has its state machine: then everything that
/// completes the wait has been allocated. The task of that method must be the one that the user gets.
/// </summary>
internal sealed class PendingAdmission(
    AdmissionControl admission, Clock clock, BudgetRequest request, TimeSpan timeout, CancellationToken token)
    : IValueTaskSource<BudgetPermit>
{
    private readonly AdmissionControl _admission = admission;
    private readonly Clock _clock = clock;
    private readonly BudgetRequest _request = request;
    private readonly TimeSpan _timeout = timeout;
    private readonly CancellationToken _token = token;
    private CancellationTokenRegistration _registration;
    private Exception? _failure;
    private long _begun;

    public ValueTaskSourceStatus GetStatus(short token) => ValueTaskSourceStatus.Pending;

    /// <summary>Posts the request. Never throws: the runtime would end the process.</summary>
    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        ShortLock.AssertNoneHeld();
        _request.ContinueWith(continuation, state);
        try
        {
            // Without the thread nothing would end the wait.
            BackgroundThread.Shared.Start();
            _begun = _admission.ReportBegin(_request);
            _registration = _token.Register(Cancel, _request);
            long due = long.MaxValue;
            if (_timeout > TimeSpan.Zero)
            {
                due = _clock.NowMilliseconds + (long)Math.Ceiling(_timeout.TotalMilliseconds);
                _clock.RunBy(_request, due);
            }

            _admission.Post(_request, mayWait: _timeout != TimeSpan.Zero);

            // If the time was over before the request was posted, there was nothing to cancel then.
            if (_token.IsCancellationRequested || _clock.NowMilliseconds >= due)
            {
                _request.TryCancel();
            }
        }
        catch (Exception exception)
        {
            // Another thread may have granted it meanwhile. One that has not been posted is settled at once.
            _failure = exception;
            if (!_request.TryCancel() && !_request.IsPosted)
            {
                _request.Account.Budget!.Post(_request, mayWait: false);
            }
        }

        if (!_request.IsWaiting)
        {
            _request.Complete();
        }
    }

    /// <summary>Returns the permit, or throws and has taken nothing.</summary>
    public BudgetPermit GetResult(short token)
    {
        try
        {
            _registration.Dispose();
            _clock.Cancel(_request);
            _admission.ReportEnd(_request, _begun, _request.IsGranted);
        }
        catch
        {
            _request.Withdraw();
            throw;
        }

        if (!_request.IsGranted)
        {
            ExceptionDispatchInfo.Capture(_failure ?? _admission.Refusal(_request, _timeout, _token)).Throw();
        }

        return new BudgetPermit(_request.Account, _request.Bytes);
    }

    // No lambda: the class of lambdas has a type initializer, and if that fails for lack of memory, it fails for ever.
    private static void Cancel(object? request) => ((BudgetRequest)request!).TryCancel();
}
