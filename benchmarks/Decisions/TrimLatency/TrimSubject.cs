using System;

namespace Decisions.TrimLatency;

/// <summary>A pool, and how it is rented from while it is trimmed.</summary>
internal abstract class TrimSubject : IDisposable
{
    /// <summary>Gets what it is called in tables.</summary>
    public abstract string Name { get; }

    /// <summary>Has that many blocks resident and idle in the pool. pre: nobody rents.</summary>
    public abstract void Fill(int blocks);

    /// <summary>Trims what <see cref="Fill"/> made.</summary>
    public abstract void Trim();

    /// <summary>Makes sure, after <see cref="Trim"/>, that it did what is measured here.</summary>
    /// <exception cref="InvalidOperationException">It gave back less.</exception>
    public abstract void Verify(int blocks);

    /// <summary>Rents and returns until the window closes.</summary>
    public abstract void Rent(RentWindow window);

    /// <inheritdoc/>
    public abstract void Dispose();
}
