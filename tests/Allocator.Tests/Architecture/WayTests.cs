using System;
using System.IO;
using Microsoft.DotNet.RemoteExecutor;
using Xunit;

namespace Allocator.Tests.Architecture;

/// <summary>A reader meets few files on each way through the library.</summary>
public sealed class WayTests(WayTests.Traced traced) : IClassFixture<WayTests.Traced>
{
    [Theory]
    [InlineData(nameof(Ways.RentOneBlock), 16)]
    [InlineData(nameof(Ways.RentPixels), 26)]
    [InlineData(nameof(Ways.AwaitUnderABudget), 27)]
    [InlineData(nameof(Ways.WaitUnderABudget), 39)]
    [InlineData(nameof(Ways.Trim), 37)]
    public void Way_ThroughTheLibrary_PassesFewFiles(string way, int most)
    {
        string[] files = traced.Run(way);

        Assert.True(files.Length <= most, $"{way} passes {files.Length} files:\n{string.Join('\n', files)}");
        Assert.NotEmpty(files);
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

        // In a process of its own: other tests must not find a second library in theirs. What the timer does, other threads do.
        public string[] Run(string way)
        {
            RemoteExecutor.Invoke(
                static (assembly, way) => File.WriteAllLines(
                    assembly + ".txt", TracedLibrary.Run(assembly, way, onlyOtherThreads: way == nameof(Ways.Trim))),
                _assembly,
                way).Dispose();
            return File.ReadAllLines(_assembly + ".txt");
        }
    }
}
