using System.Runtime.CompilerServices;

namespace Allocator.Benchmarks.Contenders;

/// <summary>
/// Stands for the code that memory is rented for. Being out of the compiler's sight, it keeps owners on the heap, where they are in programs that
/// pass them on: the compiler of .NET 10 puts an owner on the stack that one method rents, ignores and returns.
/// </summary>
internal static class Work
{
    /// <summary>Does nothing with an owner or an array.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void On([Borrowed] object memory)
    {
    }

    /// <summary>Does nothing with the length of a lease, which cannot leave its method: so that each contender pays for a call.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void On(int length)
    {
    }

    /// <summary>Does nothing with an address.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void On(nint address)
    {
    }
}
