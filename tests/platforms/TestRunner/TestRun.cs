using System.Reflection;
using System.Runtime.Loader;
using Xunit;
using Xunit.Abstractions;
using Xunit.Sdk;

namespace TestRunner;

/// <summary>Runs the tests of an assembly, or of the named classes, as `dotnet test` does, and prints a line for each.</summary>
internal static class TestRun
{
    /// <summary>Returns whether tests ran, and none failed.</summary>
    /// <param name="path">The assembly.</param>
    /// <param name="classes">Parts of the names of classes; with a minus, of those to leave out.</param>
    public static bool Run(string path, string[] classes)
    {
        string[] left = [.. classes.Where(static name => name.StartsWith('-')).Select(static name => name[1..])];
        string[] taken = [.. classes.Where(static name => !name.StartsWith('-'))];
        Assembly assembly = AssemblyLoadContext.Default.LoadFromAssemblyPath(path);
        TestOptions options = new();
        using Outcomes found = new();
        using Outcomes ran = new();
        using XunitTestFramework framework = new(ran);
        using ITestFrameworkDiscoverer discoverer = framework.GetDiscoverer(Reflector.Wrap(assembly));
        discoverer.Find(includeSourceInformation: false, found, options);
        found.Done.Wait();

        using ITestFrameworkExecutor executor = framework.GetExecutor(assembly.GetName());
        executor.RunTests(
            found.Cases.Where(test => (taken.Length == 0 || IsAmong(test, taken)) && !IsAmong(test, left)),
            ran,
            options);
        ran.Done.Wait();
        Console.WriteLine($"{ran.Passed} passed, {ran.Failed} failed, {ran.Skipped} skipped");
        return ran.Failed == 0 && ran.Passed > 0;
    }

    private static bool IsAmong(ITestCase test, string[] names) =>
        names.Any(name => test.TestMethod.TestClass.Class.Name.Contains(name, StringComparison.Ordinal));

    private sealed class TestOptions : ITestFrameworkDiscoveryOptions, ITestFrameworkExecutionOptions
    {
        private readonly Dictionary<string, object?> _values = [];

        public TValue GetValue<TValue>(string name) =>
            _values.TryGetValue(name, out object? value) && value is TValue typed ? typed : default!;

        public void SetValue<TValue>(string name, TValue value) => _values[name] = value;
    }

    private sealed class Outcomes : LongLivedMarshalByRefObject, IMessageSink, IDisposable
    {
        public ManualResetEventSlim Done { get; } = new();

        public List<ITestCase> Cases { get; } = [];

        public int Passed { get; private set; }

        public int Failed { get; private set; }

        public int Skipped { get; private set; }

        public bool OnMessage(IMessageSinkMessage message)
        {
            switch (message)
            {
                case ITestCaseDiscoveryMessage discovered:
                    Cases.Add(discovered.TestCase);
                    break;
                case ITestPassed passed:
                    Passed++;
                    Console.WriteLine($"ok {passed.Test.DisplayName}, {passed.ExecutionTime:F1} s");
                    break;
                case ITestSkipped skipped:
                    Skipped++;
                    Console.WriteLine($"SKIP {skipped.Test.DisplayName}: {skipped.Reason}");
                    break;
                case IFailureInformation failure:
                    Failed++;
                    Console.WriteLine($"FAIL {(failure as ITestFailed)?.Test.DisplayName}");
                    Console.WriteLine(string.Join(Environment.NewLine, [.. failure.Messages, .. failure.StackTraces]));
                    break;
                case IDiscoveryCompleteMessage or ITestAssemblyFinished:
                    Done.Set();
                    break;
            }

            return true;
        }

        public void Dispose() => Done.Dispose();
    }
}
