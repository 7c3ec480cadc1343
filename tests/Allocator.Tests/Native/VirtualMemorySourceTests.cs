using System;
using Allocator.Native;
using Microsoft.DotNet.RemoteExecutor;
using Xunit;

namespace Allocator.Tests.Native;

public class VirtualMemorySourceTests
{
    private const int Block = 4 * 1024 * 1024;

    [Theory]
    [InlineData(HugePages.Auto)]
    [InlineData(HugePages.Off)]
    public unsafe void TryPurge_CommittedPart_TakesTheMemoryAndKeepsAddressesAndNeighbours(HugePages hugePages)
    {
        VirtualMemorySource source = VirtualMemorySource.Create(hugePages);
        nint address = source.TryReserve(4 * Block);
        Assert.NotEqual(0, address);
        Assert.Equal(0, address % NativeMemorySource.MaximumAlignment);

        for (int i = 0; i < 3; i++)
        {
            Assert.True(source.TryCommit(address + i * Block, Block, out bool zeroed));
            Span<byte> block = new((void*)(address + i * Block), Block);
            Assert.True(!zeroed || block.IndexOfAnyExcept((byte)0) < 0);
            block.Fill((byte)(i + 1));
        }

        Assert.True(source.TryPurge(address + Block, Block));
        Assert.True(source.TryCommit(address + Block, Block, out bool zeroedAgain));
        Assert.True(!zeroedAgain || new Span<byte>((void*)(address + Block), Block).IndexOfAnyExcept((byte)0) < 0);
        Assert.Equal(-1, new Span<byte>((void*)address, Block).IndexOfAnyExcept((byte)1));
        Assert.Equal(-1, new Span<byte>((void*)(address + 2 * Block), Block).IndexOfAnyExcept((byte)3));
        source.Release(address, 4 * Block);
    }

    // Figures of the whole process: in one of its own.
    [SkippableFact]
    public void TryPurge_OnLinux_LowersTheResidentSet()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(static () =>
        {
            VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Auto);
            nint address = source.TryReserve(16 * Block);
            Assert.True(source.TryCommit(address, 16 * Block, out _));
            Fill(address, 16 * Block);
            long before = ResidentSet.Bytes;
            Assert.True(source.TryPurge(address, 16 * Block));
            Assert.InRange(before - ResidentSet.Bytes, 15L * Block, 17L * Block);
            source.Release(address, 16 * Block);
        }).Dispose();
    }

    [SkippableFact]
    public void Populate_OnLinux_MakesPagesResidentAndKeepsContents()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(static () =>
        {
            VirtualMemorySource source = VirtualMemorySource.Create(HugePages.Auto);
            nint address = source.TryReserve(8 * Block);
            Assert.True(source.TryCommit(address, 8 * Block, out _));
            Fill(address, 1);
            long before = ResidentSet.Bytes;
            source.Populate(address, 8 * Block);
            Assert.InRange(ResidentSet.Bytes - before, 5L * Block, 9L * Block);
            Assert.Equal(1, Read(address));
            source.Release(address, 8 * Block);
        }).Dispose();
    }

    private static unsafe void Fill(nint address, int length) => new Span<byte>((void*)address, length).Fill(1);

    private static unsafe byte Read(nint address) => *(byte*)address;
}
