namespace Measurements.Factors;

/// <summary>
/// Measures on a folder of pictures what whole libraries take to decode each and to make a thumbnail of it, in bytes a pixel: the factors
/// of an estimate for a reservation.
/// </summary>
internal static class FactorsCommand
{
    private const double Million = 1e6;

    private static readonly string s_synthetic = Path.Combine("artifacts", "estimate-factors");

    private static readonly Option<DirectoryInfo?> s_input =
        new("--input", "-i") { Description = "Folder of pictures, searched with its subfolders. Without it synthetic ones are made." };

    private static readonly Option<double> s_least =
        new Option<double>("--least") { Description = "Smallest, in megapixels.", DefaultValueFactory = _ => 2 }.AtLeast(0d);

    private static readonly Option<int> s_most =
        new Option<int>("--most") { Description = "Pictures of each kind, the largest first.", DefaultValueFactory = _ => 5 }.AtLeast(1);

    public static Command Create() => new Command(
        "factors", "Measures how many bytes a pixel SkiaSharp, ImageSharp, Magick.NET, NetVips and OpenCvSharp take of your pictures.")
    {
        s_input, s_least, s_most,
    }.Measures("EstimateFactors", Measure);

    private static ResultDocument? Measure(MeasurementRun run)
    {
        if (!OperatingSystem.IsLinux())
        {
            run.Failures.Add("The peak of the resident set can be set back on Linux only.");
            return null;
        }

        string? input = run.Get(s_input)?.FullName;
        string folder = input ?? Path.GetFullPath(s_synthetic);
        if (input is null)
        {
            SyntheticPictures.Make(folder);
        }

        IReadOnlyList<Picture> pictures =
            PictureChoice.Choose(folder, (long)(run.Get(s_least) * Million), run.Get(s_most), out IReadOnlyList<string> skipped);
        List<(Picture Picture, Library Library, double Decode, double Thumbnail)> trials = [];
        HashSet<string> failures = [];
        foreach (Picture picture in run.IsQuick ? pictures.Take(1) : pictures)
        {
            run.Console.WriteLine($"{Path.GetRelativePath(folder, picture.Path)}: {picture.Kind} ...");
            foreach (Library library in Library.All)
            {
                double Measure(bool isThumbnail)
                    => FactorTrial.Task.Run(
                        new FactorRequest(library.Name, isThumbnail, picture.Path, picture.WarmUp), FactorTrial.Prepare).Bytes
                        / (double)picture.Size.Pixels;
                try
                {
                    trials.Add((picture, library, Measure(isThumbnail: false), Measure(isThumbnail: true)));
                }
                catch (ChildFailedException)
                {
                    failures.Add($"{library.Name} does not read {picture.Kind} here.");
                }
            }
        }

        return run.NewDocument("Factors of an estimate: what a picture takes while it is worked on") with
        {
            Tables = [CreateTable(trials)],
            Notes =
            [
                "Each figure is a process of its own, which works on one picture. It first does the same with a small picture, so that "
                    + "code is loaded and compiled, collects, and trims the native heap.",
                "The peak of the resident set, less what was resident before: pixels, the library's own memory, managed memory, and the "
                    + "file where it is read as a whole. A thumbnail is decoded, resized to 800 pixels at most, and saved as JPEG.",
                "What the libraries free may stay with malloc afterwards, beside these figures: see docs/containers.md.",
                .. failures, .. skipped,
            ],
        };
    }

    private static ResultTable CreateTable(
        IReadOnlyList<(Picture Picture, Library Library, double Decode, double Thumbnail)> trials) => new()
        {
            Title = "Bytes a pixel of the picture that is decoded",
            Labels = ["kind of file", "library"],
            Columns =
            [
                new("pictures", null, "0"), new("smallest", "megapixels", "0.0"), new("largest", "megapixels", "0.0"),
                new("decode, median", "B/pixel", "0.0"), new("decode, most", "B/pixel", "0.0"),
                new("thumbnail, median", "B/pixel", "0.0"), new("thumbnail, most", "B/pixel", "0.0"),
            ],
            Rows =
            [
                .. from trial in trials
                   group trial by (trial.Picture.Kind, trial.Library.Name) into same
                   select new ResultRow(
                       [same.Key.Kind, same.Key.Name],
                       [
                           same.Count(), same.Min(trial => trial.Picture.Size.Megapixels),
                           same.Max(trial => trial.Picture.Size.Megapixels),
                           Statistics.Median(same.Select(trial => trial.Decode)), same.Max(trial => trial.Decode),
                           Statistics.Median(same.Select(trial => trial.Thumbnail)), same.Max(trial => trial.Thumbnail),
                       ]),
            ],
        };
}
