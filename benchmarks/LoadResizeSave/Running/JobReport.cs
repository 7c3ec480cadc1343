using System;
using System.Collections.Generic;

namespace LoadResizeSave.Running;

/// <summary>What is written to <c>results.json</c>: enough to compare two machines or two versions.</summary>
internal sealed record JobReport
{
    /// <summary>Gets when the job ended.</summary>
    public required DateTimeOffset Date { get; init; }

    /// <summary>Gets the machine and the runtime.</summary>
    public required string Machine { get; init; }

    /// <summary>Gets how many pictures were worked on at once.</summary>
    public required int Parallelism { get; init; }

    /// <summary>Gets how often the folder was gone through.</summary>
    public required int Repeat { get; init; }

    /// <summary>Gets the width of what was saved.</summary>
    public required int Width { get; init; }

    /// <summary>Gets how often the pool looked at its idle memory, in seconds.</summary>
    public required double TrimPeriodSeconds { get; init; }

    /// <summary>Gets the hash of all saved files; null where the allocators differ.</summary>
    public string? OutputSha256 { get; init; }

    /// <summary>Gets the measured runs.</summary>
    public required IReadOnlyList<MeasuredRun> Runs { get; init; }
}
