using System;

namespace Allocator.Budgeting;

/// <summary>
/// What one request for memory has been refused so far, and by what. It travels with the request through pool and sources: the caller
/// that has to make room learns from it how much is missing, and where.
/// </summary>
internal struct Refusals
{
    /// <summary>Gets or sets how many attempts failed by each.</summary>
    public int BySystem { get; set; }

    public int ByContainer { get; set; }

    public int ByBudget { get; set; }

    /// <summary>Gets the least that the budget or the container has refused in this attempt; 0 where neither did.</summary>
    public long RefusedBytes { get; private set; }

    public bool IsRefusedByContainer { get; private set; }

    /// <summary>Notes a refusal, and returns false for the caller to return.</summary>
    public bool Refuse(long bytes, bool byContainer)
    {
        RefusedBytes = RefusedBytes == 0 ? bytes : Math.Min(RefusedBytes, bytes);
        IsRefusedByContainer = byContainer;
        return false;
    }

    /// <summary>Called by what has made room for the next attempt.</summary>
    public void BeginAttempt()
    {
        RefusedBytes = 0;
        IsRefusedByContainer = false;
    }
}
