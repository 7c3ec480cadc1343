namespace Allocator.Tests.Architecture;

/// <summary>A reader meets few files on each way through the library, and <c>docs/architecture.md</c> lists them.</summary>
public sealed class WayTests(WayTests.Traced traced) : IClassFixture<WayTests.Traced>
{
    [Theory]
    [InlineData(nameof(Ways.RentOneBlock))]
    [InlineData(nameof(Ways.RentPixels))]
    [InlineData(nameof(Ways.AwaitUnderABudget))]
    [InlineData(nameof(Ways.WaitUnderABudget))]
    [InlineData(nameof(Ways.Trim))]
    public void Way_ThroughTheLibrary_PassesTheFilesThatThePageLists(string way)
    {
        string[] files = traced.Run(way);
        string[] listed = ReadTable(way);

        Assert.NotEmpty(files);
        Assert.True(
            !files.Except(listed).Any(),
            $"{way} passes files that docs/architecture.md does not list: {string.Join(", ", files.Except(listed))}");

        // What other threads do depends on the machine: whether it has a control group, and which of two threads is first.
        Assert.True(
            way is nameof(Ways.WaitUnderABudget) or nameof(Ways.Trim) || !listed.Except(files).Any(),
            $"docs/architecture.md lists files that {way} does not pass: {string.Join(", ", listed.Except(files))}");
    }

    // | step (`Way`, so many files) | folder: `file`, `file`; folder: `file` |.
    private static string[] ReadTable(string way)
    {
        string row = File.ReadLines(Repository.PathTo("docs", "architecture.md"))
            .Single(line => line.Contains($"(`{way}`, ", StringComparison.Ordinal));
        string[] files =
        [
            .. from folder in row.Split(" | ")[1].Trim('|', ' ').Split("; ")
               let parts = folder.Split(": ")
               from file in parts[1].Split(", ")
               select (parts[0] == "(root)" ? "" : parts[0] + "/") + file.Trim('`') + ".cs",
        ];
        Assert.Contains($"`{way}`, {files.Length} files)", row);
        return files;
    }

    public sealed class Traced : IDisposable
    {
        private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("Ways-");
        private readonly string _assembly;

        public Traced()
        {
            _assembly = Path.Combine(_folder.FullName, "TracedAllocator.dll");
            TracedLibrary.Compile(_assembly);
        }

        public void Dispose() => _folder.Delete(recursive: true);

        // In a process of its own: other tests must not find a second library in theirs. A trim is on the background thread, a wait on
        // both, and the other ways on their caller's.
        public string[] Run(string way)
        {
            RemoteExecutor.Invoke(
                static (assembly, way) =>
                {
                    bool ofOthers = way is nameof(Ways.Trim) or nameof(Ways.WaitUnderABudget);
                    File.WriteAllLines(assembly + ".txt", TracedLibrary.Run(assembly, way, ofCaller: way != nameof(Ways.Trim), ofOthers));
                },
                _assembly,
                way).Dispose();
            return File.ReadAllLines(_assembly + ".txt");
        }
    }
}
