namespace Allocator.AspNetCore.Tests;

/// <summary>One folder for all tests of bodies: ASP.NET Core asks for the name once, and keeps it.</summary>
public sealed class TemporaryFolder : IDisposable
{
    public const string Variable = "ASPNETCORE_TEMP";

    public DirectoryInfo Directory { get; } = System.IO.Directory.CreateTempSubdirectory("Allocator.AspNetCore.Tests-");

    public void Dispose() => Directory.Delete(recursive: true);
}
