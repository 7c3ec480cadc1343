using System;
using System.Linq;
using System.Reflection;
using Microsoft.DotNet.RemoteExecutor;
using Xunit;

namespace Allocator.Tests.Documentation;

/// <summary>The examples of the documents are programs: each compiles without a warning and runs.</summary>
public class ReadmeTests
{
    public static TheoryData<string, int> Blocks()
    {
        TheoryData<string, int> blocks = [];
        foreach (CodeBlock block in CodeBlock.All().Where(block => !block.IsWeb))
        {
            blocks.Add(block.Document, block.Line);
        }

        return blocks;
    }

    [Fact]
    public void Readme_ForItsReaders_HasAnExampleThatRuns() =>
        Assert.Contains(CodeBlock.All(), block => block is { Document: "README.md", IsRun: true });

    [Theory]
    [MemberData(nameof(Blocks))]
    public void Example_OfADocument_CompilesAndRuns(string document, int line) =>
        ExampleCompiler.TryOut(document, line, RunInItsOwnProcess);

    // In a process of its own: an example may use the default allocator, subscribe to events, or write files where it stands.
    private static void RunInItsOwnProcess(string program, string folder)
    {
        RemoteInvokeOptions options = new();
        options.StartInfo.WorkingDirectory = folder;
        options.StartInfo.RedirectStandardOutput = true;
        using RemoteInvokeHandle handle = RemoteExecutor.Invoke(
            static path =>
            {
                MethodInfo main = Assembly.LoadFrom(path).EntryPoint!;
                object?[] arguments = main.GetParameters().Length == 0 ? [] : [Array.Empty<string>()];
                return main.Invoke(null, arguments) is int exitCode and not 0 ? exitCode : RemoteExecutor.SuccessExitCode;
            },
            program,
            options);

        // Read to the end, or a talkative example would wait for ever on a full pipe.
        handle.Process.StandardOutput.ReadToEnd();
    }
}
