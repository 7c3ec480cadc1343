using System.Diagnostics;
using System.Security.Cryptography;

namespace Allocator.AspNetCore.Tests;

/// <summary>Many uploads at once, and a file system of 8 MiB for their temporary files: it is full in earnest.</summary>
[Collection(nameof(BodyTests))]
public sealed class FullDiskTests : IDisposable
{
    private const int Uploads = 64;
    private const int UploadLength = 1 << 20;
    private const int MostStored = 8;

    private readonly DirectoryInfo _disk;
    private bool _isMounted;

    public FullDiskTests(TemporaryFolder folder) => _disk = folder.Directory.CreateSubdirectory("disk");

    public void Dispose()
    {
        Environment.SetEnvironmentVariable(TemporaryFolder.Variable, null);
        if (_isMounted)
        {
            Run("umount", "--lazy", _disk.FullName);
        }

        _disk.Delete();
    }

    [SkippableFact]
    public async Task Uploads_MoreThanTheDiskHolds_Are503AndTheOthersAreServed()
    {
        string? complaint = OperatingSystem.IsLinux()
            ? Run("mount", "-t", "tmpfs", "-o", $"size={MostStored}m", "tmpfs", _disk.FullName)
            : "this is not Linux";
        Skip.If(complaint is not null, $"No file system can be mounted here: {complaint}");
        _isMounted = true;
        Environment.SetEnvironmentVariable(TemporaryFolder.Variable, _disk.FullName);
        await using Service service = await Service.StartAsync(app => app
            .MapPost("/", async context => await context.Response.WriteAsync(
                Convert.ToHexString(await SHA256.HashDataAsync(context.Request.Body, context.RequestAborted))))
            .RequireMemory(_ => new ValueTask<long>(Service.Budget), Timeout.InfiniteTimeSpan));
        byte[] body = new byte[UploadLength];
        new Random(1).NextBytes(body);
        string hash = Convert.ToHexString(SHA256.HashData(body));

        // What was stored waits for memory, with its file. So the disk stays full, and no more than it holds can ever be admitted.
        Task<HttpResponseMessage>[] answers;
        using (await service.Allocator.ReserveAsync(Service.Budget))
        {
            answers = [.. Enumerable.Range(0, Uploads).Select(_ => service.Client.PostAsync("/", new ByteArrayContent(body)))];
            await Patience.UntilAsync(() => answers.Count(answer => answer.IsCompleted) >= Uploads - MostStored);
        }

        int served = 0;
        foreach (Task<HttpResponseMessage> answer in answers)
        {
            using HttpResponseMessage response = await answer;
            if (response.StatusCode == HttpStatusCode.OK)
            {
                served++;
                Assert.Equal(hash, await response.Content.ReadAsStringAsync());
            }
            else
            {
                Assert.Equal(HttpStatusCode.ServiceUnavailable, response.StatusCode);
                Assert.NotNull(response.Headers.RetryAfter);
            }
        }

        Assert.InRange(served, 0, MostStored);
        using (HttpResponseMessage next = await service.Client.PostAsync("/", new ByteArrayContent(body)))
        {
            Assert.Equal(hash, await next.Content.ReadAsStringAsync());
        }

        await service.UntilUnusedAsync();
        DriveInfo drive = new(_disk.FullName);
        await Patience.UntilAsync(() => drive.AvailableFreeSpace == drive.TotalSize);
    }

    // Returns what it complained of; null where it did not.
    private static string? Run(string program, params string[] arguments)
    {
        try
        {
            using Process process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
            string complaint = process.StandardError.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0 ? null : $"{program}: {complaint}";
        }
        catch (System.ComponentModel.Win32Exception exception)
        {
            return exception.Message;
        }
    }
}
