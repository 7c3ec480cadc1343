using Spectre.Console;

namespace LoadResizeSave.Running;

/// <summary>What is measured once the pictures are there, and what is said about it.</summary>
internal interface IJobMeasurement
{
    IReadOnlyList<string> Failures { get; }

    Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken);

    bool Report();
}
