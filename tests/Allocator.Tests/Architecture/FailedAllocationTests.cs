using System.Diagnostics;
using System.Reflection;
using System.Runtime.Loader;
using Xunit.Abstractions;

namespace Allocator.Tests.Architecture;

/// <summary>Whichever allocation of the library's own code fails, a wait ends, and the whole budget can be reserved afterwards.</summary>
public class FailedAllocationTests(ITestOutputHelper output)
{
    private readonly ITestOutputHelper _output = output;

    [Fact]
    public void Waits_AnyAllocationFails_EndAndLoseNothing()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("Allocations-");
        try
        {
            string copy = Path.Combine(folder.FullName, "Allocator.dll");
            string figures = Path.Combine(folder.FullName, "figures");
            string configuration = Path.GetFileName(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory));
            string weaver = Repository.PathTo("artifacts", "bin", "AccessWeaver", configuration, "AccessWeaver.dll");
            string library = typeof(MemoryAllocator).Assembly.Location;
            ProcessStartInfo start = new(RemoteExecutor.HostRunner, [weaver, "allocations", library, copy])
            {
                RedirectStandardOutput = true,
            };
            using Process weaving = Process.Start(start)!;
            _output.WriteLine(weaving.StandardOutput.ReadToEnd());
            weaving.WaitForExit();
            Assert.Equal(0, weaving.ExitCode);
            RemoteExecutor.Invoke(RunIn, copy, figures, new RemoteInvokeOptions { TimeOut = 300_000 }).Dispose();
            _output.WriteLine(File.ReadAllText(figures));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    // The copy has the library's name, and this assembly is loaded once more to use it.
    private static void RunIn(string copy, string figures)
    {
        using StringWriter written = new();
        Console.SetOut(written);
        Woven context = new(copy);
        Type runner = context.LoadFromAssemblyPath(typeof(FailedAllocations).Assembly.Location)
            .GetType(typeof(FailedAllocations).FullName!, throwOnError: true)!;
        runner.GetMethod(nameof(FailedAllocations.Run))!.Invoke(null, BindingFlags.DoNotWrapExceptions, null, null, null);
        File.WriteAllText(figures, written.ToString());
    }

    private sealed class Woven(string copy) : AssemblyLoadContext("Woven")
    {
        protected override Assembly? Load(AssemblyName assemblyName) =>
            assemblyName.Name == "Allocator" ? LoadFromAssemblyPath(copy) : null;
    }
}
