using System.Diagnostics;
using System.Globalization;

namespace Measuring.Cgroups;

/// <summary>No memory cgroup can be made here; the message says why.</summary>
public sealed class CgroupUnavailableException : Exception
{
    /// <summary>Says why.</summary>
    public CgroupUnavailableException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}

/// <summary>
/// A memory cgroup of one's own, as a container has: the kernel charges it with what its processes use, and ends one of them where that
/// would exceed the limit. Made below the group of this process, and removed when disposed.
/// </summary>
/// <remarks>Wants the rights of an administrator, or a group that was delegated to this user.</remarks>
public sealed class MemoryCgroup : IDisposable
{
    /// <summary>The exit code of a process that the kernel has killed: 128 and the number of the signal.</summary>
    public const int KilledExitCode = 128 + 9;

    private const string Enter = """echo $$ > "$0" && exec "$@" """;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(2);
    private static int s_created;

    private readonly CgroupFiles _files;

    private MemoryCgroup(string folder, CgroupFiles files)
    {
        Folder = folder;
        Memory = new CgroupMemory(folder, files);
        _files = files;
    }

    /// <summary>Gets the folder that stands for the group.</summary>
    public string Folder { get; }

    /// <summary>Gets what is charged to the group now, by kind.</summary>
    public CgroupMemory Memory { get; }

    /// <summary>
    /// Gets what is charged to the group now: memory of its processes, and files that they read and wrote as far as they are still cached.
    /// </summary>
    public long UsedBytes => Memory.UsedBytes;

    /// <summary>Gets the most that ever was charged, or null where the kernel does not keep it.</summary>
    public long? PeakBytes => ReadNumber(_files.Peak);

    /// <summary>Gets how many processes of the group the kernel has killed because the limit was reached.</summary>
    public int Kills => (int)(ReadKey(_files.Events, "oom_kill") ?? 0);

    /// <summary>Gets the page faults of all processes that were in the group, those that were killed included.</summary>
    public long PageFaults => ReadKey("memory.stat", "pgfault") ?? 0;

    /// <summary>Makes a group that may hold <paramref name="limitInBytes"/> and no swap; null: it only counts.</summary>
    public static MemoryCgroup Create(long? limitInBytes)
    {
        if (!OperatingSystem.IsLinux())
        {
            throw new CgroupUnavailableException("Memory cgroups are a thing of Linux.");
        }

        CgroupHierarchy hierarchy = CgroupHierarchy.Find(File.ReadAllText("/proc/self/cgroup"), File.ReadAllText("/proc/self/mountinfo"))
            ?? throw new CgroupUnavailableException("The memory controller of cgroups is mounted nowhere.");
        return Create(hierarchy, limitInBytes);
    }

    /// <summary>Returns why <see cref="Create(long?)"/> would fail here, or null where it would not.</summary>
    public static string? WhyUnavailable()
    {
        try
        {
            Create(64 << 20).Dispose();
            return null;
        }
        catch (CgroupUnavailableException exception)
        {
            return exception.Message;
        }
    }

    /// <summary>
    /// Has what <paramref name="start"/> describes begin its life in the group, by way of a shell that enters it first and then becomes
    /// that program.
    /// </summary>
    public void Wrap(ProcessStartInfo start)
    {
        List<string> command = ["-c", Enter.Trim(), Path.Combine(Folder, CgroupFiles.Processes), start.FileName, .. start.ArgumentList];
        start.FileName = "/bin/sh";
        start.ArgumentList.Clear();
        command.ForEach(start.ArgumentList.Add);
    }

    /// <summary>
    /// Sets another limit while processes run in the group, swap again excluded. Returns false where the kernel could not reclaim enough
    /// to reach it: version 1 then keeps the old limit. Version 2 sets it in any case, and kills.
    /// </summary>
    public bool TrySetLimit(long limitInBytes)
    {
        bool hasSwapLimit = _files.SwapLimitIsTotal && File.Exists(Path.Combine(Folder, _files.SwapLimit));
        try
        {
            // The limit of memory and swap together is never below that of memory alone, not even between two writes.
            bool isLower = Memory.LimitBytes is not { } current || limitInBytes < current;
            foreach (string file in isLower ? (string[])[_files.Limit, _files.SwapLimit] : [_files.SwapLimit, _files.Limit])
            {
                if (file == _files.Limit || hasSwapLimit)
                {
                    Write(file, limitInBytes);
                }
            }

            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>Ends whatever still runs in the group, and removes it.</summary>
    public void Dispose()
    {
        Stopwatch waited = Stopwatch.StartNew();
        while (Directory.Exists(Folder))
        {
            EndProcesses();
            try
            {
                Directory.Delete(Folder);
            }
            catch (IOException) when (waited.Elapsed < s_patience)
            {
                // A process that has ended leaves its group a moment later.
                Thread.Sleep(TimeSpan.FromMilliseconds(10));
            }
        }
    }

    /// <summary>Makes a group in <paramref name="hierarchy"/>.</summary>
    internal static MemoryCgroup Create(CgroupHierarchy hierarchy, long? limitInBytes)
    {
        string name = string.Create(
            CultureInfo.InvariantCulture, $"measuring-{Environment.ProcessId}-{Interlocked.Increment(ref s_created)}");
        try
        {
            MemoryCgroup group = new(Path.Combine(hierarchy.FindParent(), name), hierarchy.Files);
            _ = Directory.CreateDirectory(group.Folder);
            group.Limit(limitInBytes);
            return group;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new CgroupUnavailableException($"No memory cgroup can be made below {hierarchy.Folder}: {exception.Message}", exception);
        }
    }

    private void Limit(long? bytes)
    {
        if (bytes is not long limit)
        {
            return;
        }

        try
        {
            Write(_files.Limit, limit);
            if (File.Exists(Path.Combine(Folder, _files.SwapLimit)))
            {
                Write(_files.SwapLimit, _files.SwapLimitIsTotal ? limit : 0);
            }
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    private void EndProcesses()
    {
        foreach (string line in ReadLines(CgroupFiles.Processes))
        {
            try
            {
                using Process process = Process.GetProcessById(int.Parse(line, CultureInfo.InvariantCulture));
                process.Kill();
            }
            catch (Exception exception) when (exception is ArgumentException or InvalidOperationException)
            {
                // It has ended meanwhile.
            }
        }
    }

    private long? ReadKey(string file, string key)
        => ReadLines(file).FirstOrDefault(line => line.StartsWith(key + " ", StringComparison.Ordinal)) is { } line
            ? long.Parse(line.AsSpan(key.Length), NumberStyles.AllowLeadingWhite, CultureInfo.InvariantCulture)
            : null;

    private long? ReadNumber(string file)
        => ReadLines(file) is [{ } line, ..] ? long.Parse(line, CultureInfo.InvariantCulture) : null;

    private string[] ReadLines(string file)
        => File.Exists(Path.Combine(Folder, file)) ? File.ReadAllLines(Path.Combine(Folder, file)) : [];

    private void Write(string file, long value)
        => File.WriteAllText(Path.Combine(Folder, file), value.ToString(CultureInfo.InvariantCulture));
}
