namespace Measuring.Sources;

/// <summary>
/// A way to get memory. Implemented by structs, so that a loop is compiled for each of them, without calls between.
/// All of them are safe for many threads.
/// </summary>
public interface IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    THeld Allocate(int bytes);

    void Free(THeld held, int bytes);
}
