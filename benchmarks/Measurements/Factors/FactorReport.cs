namespace Measurements.Factors;

/// <summary>The tables: factors by kind of file and operation, and each picture.</summary>
internal static class FactorReport
{
    private const double Megabyte = 1e6;

    public static ResultTable Factors(IReadOnlyList<(Picture Picture, Operation Operation, TrialPeak Peak)> trials) => new()
    {
        Title = "Bytes a pixel of the picture that is decoded, the file not counted",
        Labels = ["library, kind of file", "operation"],
        Columns =
        [
            new("pictures", null, "0"), new("smallest", "megapixels", "0.0"), new("largest", "megapixels", "0.0"),
            new("pool, most", "B/pixel", "0.00"),
            new("process, median", "B/pixel", "0.00"), new("process, most", "B/pixel", "0.00"),
            new("process without pool, most", "B/pixel", "0.00"),
        ],
        Rows =
        [
            .. from trial in trials
               group trial by (trial.Picture.Kind, trial.Operation) into same
               orderby same.Key.Kind, same.Key.Operation
               let process = same.Select(trial => (double)trial.Peak.ProcessBytes / trial.Picture.Size.Pixels).ToList()
               select new ResultRow(
                   [same.Key.Kind, Name(same.Key.Operation)],
                   [
                       same.Count(), same.Min(trial => trial.Picture.Size.Megapixels), same.Max(trial => trial.Picture.Size.Megapixels),
                       same.Max(trial => (double)trial.Peak.PoolBytes / trial.Picture.Size.Pixels), Statistics.Median(process),
                       process.Max(),
                       same.Max(trial => (double)Math.Max(0, trial.Peak.ProcessBytes - trial.Peak.PoolBytes) / trial.Picture.Size.Pixels),
                   ]),
        ],
    };

    public static ResultTable Pictures(
        IReadOnlyList<(Picture Picture, Operation Operation, TrialPeak Peak)> trials, string folder)
        => new()
        {
            Title = "Each picture: peaks",
            Labels = ["picture", "library, kind of file"],
            Columns =
            [
                new("pixels", "megapixels", "0.0"), new("file", "MB", "0.0"), new("pool", "MB", "0.0"),
                .. from operation in Enum.GetValues<Operation>() select new ResultColumn($"process: {Name(operation)}", "MB", "0.0"),
            ],
            Rows =
            [
                .. from trial in trials
                   group trial by trial.Picture into same
                   select new ResultRow(
                       [Path.GetRelativePath(folder, same.Key.Path), same.Key.Kind],
                       [
                           same.Key.Size.Megapixels, new FileInfo(same.Key.Path).Length / Megabyte,
                           same.Max(trial => trial.Peak.PoolBytes) / Megabyte,
                           .. from operation in Enum.GetValues<Operation>()
                              select same.FirstOrDefault(trial => trial.Operation == operation).Peak?.ProcessBytes / Megabyte,
                       ]),
            ],
        };

    public static string Name(Operation operation) => operation switch
    {
        Operation.Decode => "decode",
        Operation.DecodeResize => "decode, resize",
        Operation.DecodeResizeEncode => "decode, resize, encode",
        _ => throw new ArgumentOutOfRangeException(nameof(operation), operation, "must be a defined value"),
    };
}
