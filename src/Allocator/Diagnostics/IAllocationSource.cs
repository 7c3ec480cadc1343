namespace Allocator.Diagnostics;

/// <summary>Something that hands out memory, and knows how much of it is out.</summary>
internal interface IAllocationSource
{
    long OutstandingAllocations { get; }
}
