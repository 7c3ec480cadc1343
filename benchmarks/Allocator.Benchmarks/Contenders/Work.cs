namespace Allocator.Benchmarks.Contenders;

/// <summary>
/// Stands for the code that memory is rented for. Being out of the compiler's sight, it keeps owners on the heap, where they are in
/// programs that pass them on: the compiler of .NET 10 puts an owner on the stack that one method rents, ignores and returns.
/// </summary>
internal static class Work
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void On<T>([Borrowed] T memory)
    {
    }
}
