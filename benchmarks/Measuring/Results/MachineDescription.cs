namespace Measuring.Results;

/// <summary>What figures were measured on: a figure without it says nothing.</summary>
public sealed record MachineDescription
{
    /// <summary>Gets the processor's name, as the system tells it.</summary>
    public required string Processor { get; init; }

    /// <summary>Gets the number of logical processors that this process may use.</summary>
    public required int Cores { get; init; }

    /// <summary>Gets the memory that the runtime believes it may use, in bytes.</summary>
    public required long MemoryBytes { get; init; }

    /// <summary>Gets the operating system's name and version.</summary>
    public required string OperatingSystem { get; init; }

    /// <summary>Gets the runtime's name and version.</summary>
    public required string Runtime { get; init; }

    /// <summary>Gets the size of a page of memory, in bytes.</summary>
    public required int PageSize { get; init; }

    /// <summary>Gets the system's setting for transparent huge pages (<c>always</c>, <c>madvise</c>, <c>never</c>), or null where there is none.</summary>
    public string? HugePages { get; init; }
}
