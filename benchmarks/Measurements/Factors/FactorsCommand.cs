namespace Measurements.Factors;

/// <summary>
/// Measures on a folder of pictures what decoding, resizing and encoding take, in bytes a pixel: the factors of an estimate for a
/// reservation.
/// </summary>
internal static class FactorsCommand
{
    private const double Million = 1e6;

    private static readonly string s_synthetic = Path.Combine("artifacts", "estimate-factors");

    private static readonly Option<DirectoryInfo?> s_input =
        new("--input", "-i") { Description = "Folder of pictures, searched with its subfolders. Without it two synthetic ones are made." };

    private static readonly Option<double> s_least =
        new Option<double>("--least") { Description = "Smallest, in megapixels.", DefaultValueFactory = _ => 2 }.AtLeast(0d);

    private static readonly Option<int> s_most =
        new Option<int>("--most") { Description = "Pictures of each kind, the largest first.", DefaultValueFactory = _ => 5 }.AtLeast(1);

    private static readonly Option<int> s_reduction =
        new Option<int>("--reduction") { Description = "How much narrower the result is.", DefaultValueFactory = _ => 4 }.AtLeast(1);

    public static Command Create() => new Command(
        "factors", "Measures how many bytes a pixel decoding, resizing and encoding your pictures take, of an allocator and of the "
            + "process.")
    {
        s_input, s_least, s_most, s_reduction,
    }.Measures("EstimateFactors", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        string? input = run.IsQuick ? null : run.Get(s_input)?.FullName;
        string folder = input ?? Path.GetFullPath(s_synthetic);
        if (input is null)
        {
            SyntheticPictures.Make(folder);
        }

        int reduction = run.Get(s_reduction);
        IReadOnlyList<Picture> pictures = PictureChoice.Choose(
            folder,
            MeasuredCodec.Load(),
            (long)(run.Get(s_least) * Million),
            run.Get(s_most),
            out IReadOnlyList<string> unreadable);
        List<string> skipped = [.. unreadable];
        List<(Picture Picture, Operation Operation, TrialPeak Peak)> trials = [];
        foreach (Picture picture in pictures)
        {
            run.Console.WriteLine($"{Path.GetRelativePath(folder, picture.Path)}: {picture.Kind} ...");
            try
            {
                // All of a picture or nothing: one that fails half-way is in no table.
                trials.AddRange(
                    [
                        .. from operation in Enum.GetValues<Operation>()
                           let request = new FactorRequest(operation, picture.Path, picture.WarmUp, reduction)
                           select (picture, operation, FactorTrial.Task.Run(request, FactorTrial.Prepare)),
                    ]);
            }
            catch (ChildFailedException exception)
            {
                skipped.Add($"{Path.GetFileName(picture.Path)}: {exception.Message}");
            }
        }

        return run.NewDocument("Factors of an estimate: what a picture takes while it is worked on") with
        {
            Tables = [FactorReport.Factors(trials), FactorReport.Pictures(trials, folder)],
            Notes = [.. Notes(reduction), .. skipped],
        };
    }

    private static IEnumerable<string> Notes(int reduction)
    {
        yield return "Each figure is a process of its own, which works on one picture on one thread. It first does the same with "
            + "a small picture, so that code is loaded and compiled, collects, trims the native heap, and reads the picture's file.";
        yield return "Process: the peak of the resident set while the operation runs, less what was resident before: the pool's "
            + "memory as far as it is touched, what the library takes of malloc, and managed memory. The file itself is not counted: "
            + "add its length where it is copied.";
        yield return "Pool: what the allocator has of the system at most, in whole blocks of 4 MiB, as a budget and a "
            + "reservation count them; its arrays of up to 1 MiB show in the process only. Pixels have 4 bytes, in one run of memory.";
        yield return Invariant($"Resize: to a {reduction}th of the width and height, by Skia, whose mipmaps ")
            + "are a third of the picture. Encode: the small picture to a JPEG, by Skia; the large one is gone by then.";
        yield return "What the libraries free may stay with malloc afterwards, beside these figures: see docs/containers.md.";
        if (!FactorTrial.CanResetPeak)
        {
            yield return "The peak of the resident set cannot be set back on this system: where the small picture took more, its "
                + "peak shows.";
        }
    }
}
