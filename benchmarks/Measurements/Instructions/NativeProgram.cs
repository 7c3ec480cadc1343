namespace Measurements.Instructions;

/// <summary>The sample, compiled ahead of time: its code is the same at every run, so what it executes can be counted.</summary>
internal sealed class NativeProgram : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("instructions-").FullName;

    private NativeProgram(string program)
    {
        // Away from its debug information, which valgrind of Debian 12 gives up on. The names come from there by other ways.
        Program = Path.Combine(_folder, Path.GetFileName(program));
        File.Copy(program, Program);
        Symbols = SymbolTable.Read(File.Exists(program + ".dbg") ? program + ".dbg" : program);
    }

    public string Program { get; }

    public SymbolTable Symbols { get; }

    public static NativeProgram Open(string? published)
    {
        if (published is not null)
        {
            return File.Exists(published)
                ? new NativeProgram(published)
                : throw new ChildFailedException($"There is no program {published}.");
        }

        string folder = Path.GetFullPath(Path.Combine("artifacts", "instructions"));
        try
        {
            Publish(folder, "net10.0");
        }
        catch (ChildFailedException exception) when (exception.Message.Contains("NU1", StringComparison.Ordinal))
        {
            // The compiler's packages of the newest framework are not on every feed.
            Publish(folder, "net9.0");
        }

        return new NativeProgram(Path.Combine(folder, "AotSample"));
    }

    public string NewFile(string name) => Path.Combine(_folder, name);

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    private static void Publish(string folder, string framework)
    {
        string[] arguments =
        [
            "publish", Path.Combine("tests", "AotSample"), "--configuration", "Release", "--output", folder,
            $"-p:AotTargetFramework={framework}",
        ];
        ChildProgram.Run(new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", arguments));
    }
}
