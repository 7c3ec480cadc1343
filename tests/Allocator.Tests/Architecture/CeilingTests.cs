namespace Allocator.Tests.Architecture;

/// <summary>How large the library and its documentation may be. What they gain has to be paid for with what they lose.</summary>
public sealed class CeilingTests
{
    // Raising one of these takes a line here that says what was bought, in a number. The goal for the lines is 16,800: 18,400 was what the
    // features took when the ceiling was set, and it may only fall.
    // 18,760: memory of a container is resident before it is rented, waits end without managed memory, malloc's threshold is set
    // (270 lines: 2 to 5 of 5 runs of each were killed or hung without), and 20 more contracts are asserted.
    // 19,220: reservations learned by name, and ambient ones (490 lines): 128 of 128 photographs at once in 350 MB without a number, where
    // a plain budget does 2.
    private const int MostFiles = 115;
    // 19,295: a learned job reserves the median, and one of all can always get what jobs may need (104 lines): simulated, 1.10 times the
    // time of reservations of the right size instead of 1.32.
    // 18,701; it was 18,685 before: the object that a user gets is made before its memory is rented, and shared objects of waits with the
    // allocator. Made later, they could fail without managed memory; the memory then came back with a collection, and waits never ended.
    // 18,707: over musl, a process that exits while the first trim looks for malloc_trim no longer ends with SIGABRT (9 of 96 under load).
    // 18,718: before a learned job fails in a full container, the background thread collects garbage: of 64 photographs at once by
    // ImageSharp in 350 MB, one failed in 3 of 5 runs, now in none of 8.
    // 18,762: jobs that begin each other in their flows form no chain (it ended the process after some thousands), growth waits for jobs
    // of other allocators in a container, readings that fail forget nothing, and reports that wait for a blocked handler have a bound.
    // 18,780: what reports a missing record file cannot fail later rents, and no caller waits for another that does what is due.
    // 18,766, 14 less: the cache has one search of its slots; and a lone request that waits behind something abandoned is found room for
    // even while concurrent collection is off, where it waited until the runtime happened to collect.
    // 18,527, 239 less: members with one caller, fields that copied parameters, conditions that cannot occur, comments that said a name.
    private const int MostLines = 18_527;
    private const int MostLinesOfAFile = 350;

    // 5,124 were there. Each page lost what another page, a test or a result says.
    private const int MostLinesOfTheDocumentation = 4_000;

    // What they were when libraries had taken over what they could, and 1 % more. Docs/testing.md says what is own code, and why.
    // 53,300: the tests of these six.
    // 53,600: of some thirty defects that were found by reading, in the analyzers, the guides' code and the library.
    // 53,900: of the measurements below, and of what tests let pass that could not fail.
    // 53,950: of expressions too deep for the compiler's stack, of types in a circle, and of ALLOC003 for automatic properties.
    // 54,950: of admission by name and size, of what jobs take elsewhere, and both in simulated time beside semaphores. They found seven
    // defects before the first photograph was decoded.
    private const int MostLinesOfTheTests = 54_950;
    // 19,700: pipelines show their spread and are checked to do the same job, errors are said in one line, and what failed is on the page.
    // 19,750: the uploads of the guide are measured by the command that makes all results; they were 25 hours older than the others.
    private const int MostLinesOfTheMeasurements = 19_750;

    private static readonly (string Path, int Lines)[] s_files = SourcesOf("src", "Allocator");

    [Fact]
    public void Files_OfTheLibrary_StayBelowTheCeiling() => Assert.InRange(s_files.Length, 1, MostFiles);

    [Fact]
    public void Lines_OfTheLibrary_StayBelowTheCeiling() => Assert.InRange(s_files.Sum(static file => file.Lines), 1, MostLines);

    [Fact]
    public void Lines_OfEachFile_StayBelowTheCeiling() =>
        Assert.DoesNotContain(s_files, static file => file.Lines > MostLinesOfAFile);

    [Fact]
    public void Lines_OfTheTests_StayBelowTheCeiling() =>
        Assert.InRange(SourcesOf("tests").Sum(static file => file.Lines), 1, MostLinesOfTheTests);

    [Fact]
    public void Lines_OfTheMeasurements_StayBelowTheCeiling() =>
        Assert.InRange(SourcesOf("benchmarks").Sum(static file => file.Lines), 1, MostLinesOfTheMeasurements);

    [Fact]
    public void Lines_OfTheDocumentation_StayBelowTheCeiling()
    {
        IEnumerable<string> pages = Directory.EnumerateFiles(Repository.PathTo("docs"), "*.md", SearchOption.AllDirectories);

        Assert.InRange(pages.Sum(static page => File.ReadLines(page).Count()), 1, MostLinesOfTheDocumentation);
    }

    private static (string Path, int Lines)[] SourcesOf(params string[] folder) =>
    [
        .. Directory.EnumerateFiles(Repository.PathTo(folder), "*.cs", SearchOption.AllDirectories)
            .Select(static path => (path, File.ReadLines(path).Count())),
    ];
}
