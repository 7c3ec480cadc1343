namespace Allocator.Tests.Fakes;

/// <summary>
/// What is known after a process died of a fault: its records if it wrote any, the address that it touched, and what the runtime
/// printed.
/// </summary>
internal sealed record FaultReport(AllocationRecords? Records, long Address, string Errors, int ProcessId)
{
    public string Explanation => Records?.Explain(Address) ?? throw new InvalidOperationException($"{Address:x} is not explained.");
}
