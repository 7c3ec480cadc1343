using System;

namespace Allocator.Budgeting;

/// <summary>
/// What one request for memory has been refused so far, and by what. It travels with the request through pool and sources: the caller
/// that has to make room learns from it how much is missing, and where.
/// </summary>
internal struct Refusals
{
    /// <summary>Gets or sets how many attempts the operating system has refused.</summary>
    public int BySystem { get; set; }

    /// <summary>Gets or sets how many attempts failed because the container certainly has no memory left.</summary>
    public int ByContainer { get; set; }

    /// <summary>Gets or sets how many attempts failed because as much was committed as the budget allows.</summary>
    public int ByBudget { get; set; }

    /// <summary>
    /// Gets the least that the budget or the container has refused in this attempt: with so much more it would have succeeded. 0 where
    /// neither refused anything.
    /// </summary>
    public long RefusedBytes { get; private set; }

    /// <summary>Gets whether the container refused it, rather than the budget.</summary>
    public bool IsRefusedByContainer { get; private set; }

    /// <summary>Notes a refusal.</summary>
    /// <returns>False, for the caller to return.</returns>
    public bool Refuse(long bytes, bool byContainer)
    {
        RefusedBytes = RefusedBytes == 0 ? bytes : Math.Min(RefusedBytes, bytes);
        IsRefusedByContainer = byContainer;
        return false;
    }

    /// <summary>Begins the next attempt, of which nothing has been refused yet. Called by what has made room for it.</summary>
    public void BeginAttempt()
    {
        RefusedBytes = 0;
        IsRefusedByContainer = false;
    }
}
