using System.Diagnostics;
using Allocator.Tests.Documentation;

namespace Allocator.PackageTests;

/// <summary>New applications that have the package for web applications.</summary>
[Collection(nameof(PackedLibrary))]
public class WebPackageTests(PackedLibrary library)
{
    [Fact]
    public void WebConsumer_WithThisPackageAlone_ServesARequest() => Assert.Equal(["200 1000"], library.Consumers.RunWeb());

    /// <summary>What a newcomer types, as the guide has it: a new project, the package, the first example.</summary>
    [Fact]
    public async Task NewWebProject_WithThePackageAdded_IsTheServiceOfTheGuide()
    {
        string folder = library.Folder("FirstService");
        library.Dotnet(folder, "new", "web", "--no-restore");
        library.Dotnet(folder, "add", "package", "Allocator.AspNetCore", "--version", library.Version, "--source", library.Feed);
        CodeBlock example = CodeBlock.All().First(static block => block.Document == "docs/integrations/aspnetcore.md");
        File.WriteAllText(Path.Combine(folder, "Program.cs"), example.Code);
        Assert.DoesNotContain("warning", library.Dotnet(folder, "build", "--output", "built"), StringComparison.Ordinal);
        ProcessStartInfo start = new("dotnet", ["built/FirstService.dll", "--urls=http://127.0.0.1:0"])
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
        };
        using Process process = Process.Start(start)!;
        try
        {
            const string Listening = "Now listening on: ";
            string? line;
            while ((line = await process.StandardOutput.ReadLineAsync())?.Contains(Listening, StringComparison.Ordinal) == false)
            {
            }

            Uri address = new(line![(line!.IndexOf(Listening, StringComparison.Ordinal) + Listening.Length)..]);
            using HttpClient client = new();
            using HttpResponseMessage response =
                await client.PostAsync(new Uri(address, "/thumbnails"), new ByteArrayContent(new byte[200_000]));
            Assert.Equal("5120 x 2880", await response.Content.ReadAsStringAsync());
            // Degraded on a machine that is 90 % full.
            Assert.Contains(await client.GetStringAsync(new Uri(address, "/health")), (string[])["Healthy", "Degraded"]);
        }
        finally
        {
            process.Kill();
        }
    }
}
