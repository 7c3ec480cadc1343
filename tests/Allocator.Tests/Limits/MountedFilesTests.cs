namespace Allocator.Tests.Limits;

/// <summary>What the files of the system say when others are mounted over them. As root, in a mount namespace of its own.</summary>
public sealed partial class MountedFilesTests
{
    private const int NewMountNamespace = 0x20000;
    private const nuint Private = (1 << 18) | (1 << 14); // MS_PRIVATE, MS_REC
    private const nuint Bind = 1 << 12;

    // 610 of 300 MB were granted.
    [SkippableFact]
    public void Allocate_WhereLxcfsShowsALimit_IsRefusedWithinIt() => Run(
        "MemTotal: 307200 kB\nMemFree: 286720 kB\nMemAvailable: 286720 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        static path =>
        {
            Assert.True(TryMount(path));
            using MemoryAllocator allocator = MemoryAllocator.Create();
            List<IMemoryOwner<byte>> held = [];
            MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(void () =>
            {
                while (true)
                {
                    held.Add(allocator.Allocate<byte>(4 << 20));
                }
            });
            Assert.Equal(300 << 20, failure.LimitBytes);
            Assert.InRange(held.Count * 4, 200, 300);
            held.ForEach(static owner => owner.Dispose());
        });

    [SkippableTheory]
    [InlineData("nonsense\n")]
    [InlineData("MemTotal: 0 kB\nMemAvailable: 0 kB\n")]
    [InlineData("MemTotal: 1 kB\nMemAvailable: 1 kB\n")]
    [InlineData("MemTotal: 9999999999999999999 kB\nMemAvailable: 9999999999999999999 kB\n")]
    public void Allocate_MachineReportsAbsurdMemory_IsServed(string text) => Run(
        text,
        static path =>
        {
            Assert.True(TryMount(path));
            using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MinimumFreeMegabytes = 32 });
            allocator.Allocate<byte>(64 << 20).Dispose();
        });

    private static void Run(string text, Action<string> load)
    {
        Skip.IfNot(OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess, "Needs mounts, and so root on Linux.");
        string path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, text);

            // A container may have root and no right to mount.
            bool canMount = false;
            Thread trial = new(() => canMount = TryMount(path));
            trial.Start();
            trial.Join();
            Skip.IfNot(canMount, "Nothing may be mounted here.");
            RemoteInvokeOptions options = new();
            options.StartInfo.Environment.Remove("ALLOCATOR_SAFETY");
            using RemoteInvokeHandle child = RemoteExecutor.Invoke(load, path, options);
        }
        finally
        {
            File.Delete(path);
        }
    }

    // Of this thread alone: it is the one that opens the file, which stays open.
    private static bool TryMount(string path) =>
        Unshare(NewMountNamespace) == 0
            && Mount("none", "/", null, Private, 0) == 0
            && Mount(path, "/proc/meminfo", null, Bind, 0) == 0;

    [LibraryImport("libc", EntryPoint = "unshare")]
    private static partial int Unshare(int flags);

    [LibraryImport("libc", EntryPoint = "mount", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Mount(string source, string target, string? type, nuint flags, nint data);
}
