namespace Measuring.Results;

/// <summary>What figures were measured on: a figure without it says nothing.</summary>
public sealed record MachineDescription
{
    public required string Processor { get; init; }

    public required int Cores { get; init; }

    /// <summary>Gets the memory that the runtime believes it may use, in bytes.</summary>
    public required long MemoryBytes { get; init; }

    public required string OperatingSystem { get; init; }

    public required string Runtime { get; init; }

    public required int PageSize { get; init; }

    /// <summary>
    /// Gets the system's setting for transparent huge pages (<c>always</c>, <c>madvise</c>, <c>never</c>), or null where there is none.
    /// </summary>
    public string? HugePages { get; init; }
}
