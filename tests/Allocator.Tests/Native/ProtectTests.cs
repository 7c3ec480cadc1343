using System.Diagnostics;

namespace Allocator.Tests.Native;

/// <summary>Memory made inaccessible, in each way that a kernel may offer.</summary>
public unsafe class ProtectTests
{
    private const int Length = 1 << 20;

    public static TheoryData<string> Sources => OperatingSystem.IsWindows() ? ["system"] : ["system", "protection only"];

    [Theory]
    [MemberData(nameof(Sources))]
    public void TryProtect_AndUnprotect_KeepsTheContents(string name)
    {
        VirtualMemorySource source = Create(name);
        nint address = source.TryAllocate(Length, 64, out _);
        new Span<byte>((void*)address, Length).Fill(9);
        Assert.True(source.TryProtect(address, Length));
        Assert.True(source.TryUnprotect(address, Length));
        Assert.Equal(-1, new Span<byte>((void*)address, Length).IndexOfAnyExcept((byte)9));
        source.Free(address, Length);
    }

    [Theory]
    [MemberData(nameof(Sources))]
    public void TryProtect_Touched_Faults(string name) => AssertFault(
        static name =>
        {
            VirtualMemorySource source = Create(name);
            nint address = source.TryAllocate(Length, 64, out _);
            *(byte*)(address + Length / 2) = 1;
            Assert.True(source.TryProtect(address, Length));
            Console.Out.Write("sealed");
            Console.Out.Flush();
            *(byte*)(address + Length / 2) = 2;
        },
        name);

    [Theory]
    [MemberData(nameof(Sources))]
    public void TryDecommitAndProtect_Touched_Faults(string name) => AssertFault(
        static name =>
        {
            VirtualMemorySource source = Create(name);
            nint address = source.TryAllocate(Length, 64, out _);
            *(byte*)(address + Length / 2) = 1;
            Assert.True(source.TryDecommitAndProtect(address, Length));
            Console.Out.Write("sealed");
            Console.Out.Flush();
            Console.Error.Write(*(byte*)(address + Length / 2));
        },
        name);

    [SkippableTheory]
    [MemberData(nameof(Sources))]
    public void TryDecommitAndProtect_OnLinux_LowersTheResidentSet(string name)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(
            static name =>
            {
                VirtualMemorySource source = Create(name);
                nint address = source.TryAllocate(64 * Length, 64, out _);
                new Span<byte>((void*)address, 64 * Length).Fill(1);
                long before = ResidentSet.Bytes;
                Assert.True(source.TryDecommitAndProtect(address, 64 * Length));
                Assert.InRange(before - ResidentSet.Bytes, 60L * Length, 68L * Length);
                source.Free(address, 64 * Length);
            },
            name).Dispose();
    }

    // As on macOS for what is not writable: where no memory can be taken, the pages are not left inaccessible.
    [SkippableTheory]
    [MemberData(nameof(Sources))]
    public void TryDecommitAndProtect_LockedPages_IsRefusedAndChangesNothing(string name)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs mlock.");
        Skip.IfNot(CanLock(), "No memory may be locked here.");
        RemoteExecutor.Invoke(
            static name =>
            {
                VirtualMemorySource source = Create(name);
                nint address = source.TryAllocate(Length, 64, out _);
                Assert.Equal(0, MLock((void*)address, Length));
                new Span<byte>((void*)address, Length).Fill(9);
                Assert.False(source.TryDecommitAndProtect(address, Length));
                Assert.Equal(-1, new Span<byte>((void*)address, Length).IndexOfAnyExcept((byte)9));
            },
            name).Dispose();
    }

    // What is unmapped is no longer locked.
    private static bool CanLock()
    {
        VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Off);
        nint address = source.TryAllocate(Length, 64, out _);
        bool isLocked = MLock((void*)address, Length) == 0;
        source.Free(address, Length);
        return isLocked;
    }

    [DllImport("libc", EntryPoint = "mlock")]
    private static extern int MLock(void* address, nuint length);

    private static VirtualMemorySource Create(string name) =>
        name == "system" ? VirtualMemorySource.Create(HugePages.Off) : new UnixMemorySource(useHugePages: false, useGuardAdvice: false);

    private static void AssertFault(Action<string> method, string name)
    {
        RemoteInvokeOptions options = new()
        {
            CheckExitCode = false,
            StartInfo = new ProcessStartInfo { RedirectStandardOutput = true },
        };
        options.StartInfo.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        using RemoteInvokeHandle child = RemoteExecutor.Invoke(method, name, options);
        Assert.Equal("sealed", child.Process.StandardOutput.ReadToEnd());
        Assert.Equal(OperatingSystem.IsWindows() ? unchecked((int)0xC0000005) : 134, child.ExitCode);
    }
}
