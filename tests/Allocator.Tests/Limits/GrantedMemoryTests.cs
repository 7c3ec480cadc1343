using System.Globalization;
using Measuring.Cgroups;

namespace Allocator.Tests.Limits;

/// <summary>
/// In a control group that the kernel enforces: what was granted can be written, however much later and by however many threads, and
/// most of what the kernel bears is granted. <c>ALLOCATOR_CONTAINER_ROUNDS</c> says how often each is run; without it waves are closer.
/// </summary>
public sealed class GrantedMemoryTests
{
    private const long Megabyte = 1 << 20;
    private const int Waves = 3;

    private static readonly string? s_rounds = Environment.GetEnvironmentVariable("ALLOCATOR_CONTAINER_ROUNDS");

    private static int Rounds => int.Parse(s_rounds ?? "1", CultureInfo.InvariantCulture);

    [SkippableFact]
    public void Allocate_ImagesOf64ThreadsWrittenRowByRow_AllGrantedMemoryCanBeWritten() =>
        ExpectSurvival(1500, static (folder, _) => InGroup(folder, WriteImagesOfManyThreads));

    [SkippableFact]
    public void Allocate_ThousandBuffersWrittenAtTheEnd_AllGrantedMemoryCanBeWritten() =>
        ExpectSurvival(600, static (folder, _) => InGroup(folder, () => RentThenWrite(static i => 2 * Megabyte, count: 1000, least: 400)));

    // The large ones are blocks and mappings, the small ones arrays.
    [SkippableFact]
    public void Allocate_NewArraysAndNativeBuffers_AllGrantedMemoryCanBeWritten() =>
        ExpectSurvival(
            600,
            static (folder, _) => InGroup(folder, () => RentThenWrite(
                static i => i % 2 == 0 ? Megabyte : 3 * Megabyte, count: 1000, least: 350)));

    [SkippableTheory]
    [InlineData(true)]
    [InlineData(false)]
    public void MinimumFree_WavesFarApart_AllGrantedMemoryCanBeWritten(bool reserves) =>
        ExpectSurvival(
            600,
            static (folder, argument) => InGroup(folder, () => TakeInWaves(bool.Parse(argument))),
            reserves.ToString());

    // Blocks that were populated for short rents are populated further for long ones.
    [SkippableFact]
    public void Allocate_BuffersThatAreWritten_AreGrantedAtLeast85PercentOfTheLimit()
    {
        string counted = Path.GetTempFileName();
        try
        {
            long[] borne = [.. s_sizes.Select(size =>
            {
                using MemoryCgroup group = TestCgroup.CreateOrSkip(350 * Megabyte);
                Start(
                    static (folder, argument) => InGroup(folder, () => WriteUntilKilled(argument)), group, $"{counted}|{size}",
                    MemoryCgroup.KilledExitCode);
                return Read(counted)[0];
            })];
            for (int i = 0; i < Rounds; i++)
            {
                using MemoryCgroup group = TestCgroup.CreateOrSkip(350 * Megabyte);
                Start(static (folder, argument) => InGroup(folder, () => WriteUntilRefused(argument)), group, counted);
                Assert.Equal(0, group.Kills);
                long[] granted = Read(counted);
                Assert.All(
                    s_sizes.Select((size, at) => (size, borne: borne[at], granted: granted[at])),
                    static of => Assert.True(of.granted >= of.borne * 0.85, $"{of.granted} of {of.borne} buffers of {of.size} bytes"));
            }
        }
        finally
        {
            File.Delete(counted);
        }
    }

    // Then nothing but the sum of what was granted stands between the renters and the limit.
    [SkippableFact]
    public void Allocate_MemoryNotPopulated_GrantsNoMoreThanTheLimit() =>
        ExpectSurvival(
            300,
            static (folder, _) => InGroup(folder, static () =>
            {
                using MemoryAllocator allocator = Create(static options => options.PopulateMemory = false);
                List<IMemoryOwner<byte>> held = Rent(allocator, static _ => 4 * Megabyte, 1000);
                Assert.InRange(held.Sum(static owner => (long)owner.Memory.Length), 200 * Megabyte, 300 * Megabyte);
            }));

    private static readonly int[] s_sizes = [1100 << 10, 4 << 20];

    private static void WriteImagesOfManyThreads()
    {
        const int Threads = 64;
        using MemoryAllocator allocator = Create();
        using Barrier answered = new(Threads);
        int written = 0;
        Thread[] threads = [.. Enumerable.Range(0, Threads).Select(_ => new Thread(() =>
        {
            PixelBuffer<int>? image = null;
            try
            {
                image = allocator.AllocatePixels<int>(4096, 3840);
            }
            catch (MemoryLimitExceededException)
            {
            }

            // Nothing is written before the last has its answer. Then all write, a row each in turn.
            answered.SignalAndWait();
            for (int y = 0; y < image?.Height; y++)
            {
                image.DangerousGetRowSpan(y).Fill(y);
                Thread.Yield();
            }

            Interlocked.Add(ref written, image is null ? 0 : 1);
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        Array.ForEach(threads, static thread => thread.Join());
        Assert.InRange(written, 1500 / 60 / 2, 1500 / 60);
    }

    private static void RentThenWrite(Func<int, long> length, int count, long least)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        List<IMemoryOwner<byte>> held = Rent(allocator, length, count);
        held.ForEach(static owner => owner.Memory.Span.Fill(1));
        Assert.InRange(held.Sum(static owner => (long)owner.Memory.Length), least * Megabyte, 600 * Megabyte);
    }

    private static List<IMemoryOwner<byte>> Rent(MemoryAllocator allocator, Func<int, long> length, int count)
    {
        List<IMemoryOwner<byte>> held = [];
        try
        {
            for (int i = 0; i < count; i++)
            {
                held.Add(allocator.Allocate<byte>((int)length(i)));
            }
        }
        catch (MemoryLimitExceededException)
        {
        }

        return held;
    }

    private static void TakeInWaves(bool reserves)
    {
        const int Bytes = 20 << 20;
        using MemoryAllocator allocator = Create(static options => options.MinimumFreeMegabytes = 60);
        List<MemoryReservation> reservations = [];
        List<IMemoryOwner<byte>> held = [];
        for (int wave = 0; wave < Waves; wave++)
        {
            while (reserves && allocator.TryReserve(Bytes, out MemoryReservation? reservation))
            {
                reservations.Add(reservation);
                held.Add(reservation.Allocate<byte>(Bytes));
            }

            held.AddRange(reserves ? [] : Rent(allocator, static _ => Bytes, 100));

            // Time itself is what this is about: figures and memories that grow old.
            Thread.CurrentThread.Join(TimeSpan.FromSeconds(s_rounds is null ? 3 : 11));
        }

        held.ForEach(static owner => owner.Memory.Span.Fill(1));
        Assert.InRange(held.Count * (long)Bytes, 300 * Megabyte, 540 * Megabyte);
    }

    private static void WriteUntilKilled(string argument)
    {
        string[] parts = argument.Split('|');
        int size = int.Parse(parts[1], CultureInfo.InvariantCulture);
        using MemoryAllocator allocator = Create(static options => options.HonorMemoryLimit = false);
        using BinaryWriter writer = new(File.OpenWrite(parts[0]));
        List<IMemoryOwner<byte>> held = [];
        for (long i = 1; i < 1000; i++)
        {
            held.Add(allocator.Allocate<byte>(size));
            held[^1].Memory.Span.Fill(1);
            writer.Seek(0, SeekOrigin.Begin);
            writer.Write(i);
            writer.Flush();
        }
    }

    private static void WriteUntilRefused(string path)
    {
        using MemoryAllocator allocator = Create();
        using BinaryWriter writer = new(File.OpenWrite(path));
        foreach (int size in s_sizes)
        {
            List<IMemoryOwner<byte>> held = Rent(allocator, _ => size, 1000);
            held.ForEach(static owner => owner.Memory.Span.Fill(1));
            writer.Write((long)held.Count);
            held.ForEach(static owner => owner.Dispose());
        }
    }

    // With a pool that would hold it all: by default most of it is mapped.
    private static MemoryAllocator Create(Action<MemoryAllocatorOptions>? configure = null)
    {
        MemoryAllocatorOptions options = new() { MaximumPoolSizeMegabytes = 2000 };
        configure?.Invoke(options);
        return MemoryAllocator.Create(options);
    }

    private static void ExpectSurvival(int limitInMegabytes, Func<string, string, Task> method, string argument = "")
    {
        for (int i = 0; i < Rounds; i++)
        {
            using MemoryCgroup group = TestCgroup.CreateOrSkip(limitInMegabytes * Megabyte);
            Start(method, group, argument);
            Assert.Equal(0, group.Kills);
        }
    }

    private static void Start(Func<string, string, Task> method, MemoryCgroup group, string argument, int expectedExitCode = 0)
    {
        RemoteInvokeOptions options = new();
        if (expectedExitCode != 0)
        {
            options.ExpectedExitCode = expectedExitCode;
        }

        // The machine's memory, and not the container's, would be what the collector plans with.
        options.StartInfo.Environment["DOTNET_GCHeapHardLimit"] = (500 << 20).ToString("x", CultureInfo.InvariantCulture);
        options.StartInfo.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        options.StartInfo.Environment.Remove("ALLOCATOR_SAFETY");
        RemoteExecutor.Invoke(method, group.Folder, argument, options).Dispose();
    }

    private static Task InGroup(string folder, Action load)
    {
        TestCgroup.Enter(folder);
        load();
        return Task.CompletedTask;
    }

    private static long[] Read(string path)
    {
        byte[] bytes = File.ReadAllBytes(path);
        return [.. Enumerable.Range(0, bytes.Length / sizeof(long)).Select(i => BitConverter.ToInt64(bytes, i * sizeof(long)))];
    }
}
