namespace Measurements.Uploads;

/// <summary>
/// Whether the first example of the guide of ASP.NET Core survives 300 uploads at once in a container. What runs is the test of that
/// example, so that page, test and figures are of the same program.
/// </summary>
internal static class UploadsCommand
{
    private const string Program = "GuideUploads";
    private const string Tests = "tests/Allocator.AspNetCore.Tests";
    private const string Test = "FirstExample_UnderManyUploads";

    private static readonly Option<int> s_rounds =
        new Option<int>("--rounds") { Description = "Rounds of each way, some 10 s each.", DefaultValueFactory = _ => 10 }.AtLeast(1);

    public static Command Create() => new Command(
        "uploads", "Measures whether the first example of the guide of ASP.NET Core survives 300 uploads at once in a container.")
    {
        s_rounds,
    }.Measures(Program, Measure);

    private static ResultDocument? Measure(MeasurementRun run)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("guide-uploads-");
        try
        {
            ProcessStartInfo start = new("dotnet", ["test", "--configuration", "Release", Tests, "--filter", Test]);
            start.Environment["ALLOCATOR_UPLOAD_ROUNDS"] = run.Get(s_rounds, 1).ToString(CultureInfo.InvariantCulture);
            start.Environment["ALLOCATOR_UPLOAD_RESULTS"] = folder.FullName;
            string output = ChildProgram.Run(start);
            string result = Path.Combine(folder.FullName, $"{Program}.json");
            if (!File.Exists(result))
            {
                run.Console.WriteLine(output);
                run.Console.WriteLine("Not measured: the test was skipped, see above.");
                return null;
            }

            // The rest, such as the command and the commit, is of this run.
            ResultDocument measured = ResultFile.Read(result);
            return run.NewDocument(measured.Title) with { Tables = measured.Tables, Notes = measured.Notes };
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
