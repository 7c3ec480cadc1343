using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>What is measured once the pictures are there, and what is said about it.</summary>
internal interface IJobMeasurement
{
    /// <summary>Gets what went wrong.</summary>
    IReadOnlyList<string> Failures { get; }

    /// <summary>Measures on the pictures in <paramref name="input"/>.</summary>
    Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken);

    /// <summary>Writes what was found; returns whether it is as it should be.</summary>
    bool Report();
}
