using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Allocator;

namespace ContractSuite;

/// <summary>
/// The 64 bytes behind every unmanaged buffer can be read. Where they cannot, the process ends: the name of the case is the last line
/// then.
/// </summary>
internal static unsafe class OverreadContract
{
    private const int Block = 4 << 20;
    private const int Tail = 64;

    private static int s_sum;

    /// <summary>Gets the cases, by name.</summary>
    public static Dictionary<string, Action<MemoryAllocatorOptions>> Cases { get; } = new()
    {
        ["block beside one without memory"] = BlockBesideOneWithoutMemory,
        ["block beside a purged one"] = BlockBesideAPurgedOne,
        ["last block of an arena"] = LastBlockOfAnArena,
        ["run at the end of an arena"] = RunAtTheEndOfAnArena,
        ["run beside purged blocks"] = RunBesidePurgedBlocks,
        ["members in blocks"] = MembersInBlocks,
        ["members in segments"] = MembersInSegments,
        ["oversize of whole pages"] = OversizeOfWholePages,
        ["image of whole pages"] = ImageOfWholePages,
        ["aligned, small"] = AlignedSmall,
        ["aligned, large"] = AlignedLarge,
        ["hand-off"] = HandOff,
    };

    /// <summary>Runs all cases for a kind of memory, in one safety mode.</summary>
    public static void ReadAll(NativeMemoryKind kind, SafetyMode safety)
    {
        foreach (string name in Cases.Keys)
        {
            Console.WriteLine($"{kind}, {safety}: {name}");
            Read(kind, safety, name);
        }
    }

    /// <summary>Runs one case.</summary>
    public static void Read(NativeMemoryKind kind, SafetyMode safety, string name) => Cases[name](new MemoryAllocatorOptions
    {
        NativeMemory = kind,
        Safety = safety,
        SafetySampleInterval = 1,
        MaximumPoolSizeMegabytes = name switch
        {
            "last block of an arena" or "run at the end of an arena" => 8,
            "members in segments" or "oversize of whole pages" or "image of whole pages" or "aligned, large" => 0,
            _ => 64,
        },
    });

    private static void BlockBesideOneWithoutMemory(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(Block);
        ReadBehind(owner);
    }

    private static void BlockBesideAPurgedOne(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        List<IMemoryOwner<byte>> owners = AllocateAndFill(allocator, 4, Block);
        owners[1].Dispose();
        owners[3].Dispose();
        allocator.ReleaseRetainedResources();
        ReadBehind(owners[0]);
        ReadBehind(owners[2]);
        DisposeAll(owners);
    }

    private static void LastBlockOfAnArena(MemoryAllocatorOptions options) =>
        ReadBehindRemaining(() => new FullPool(options, blocks: 2, length: Block), static pool => pool.Owners.ForEach(ReadBehind));

    private static void RunAtTheEndOfAnArena(MemoryAllocatorOptions options) =>
        ReadBehindRemaining(() => new FullPool(options, blocks: 1, length: 2 * Block), static pool => pool.Owners.ForEach(ReadBehind));

    private static void RunBesidePurgedBlocks(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        List<IMemoryOwner<byte>> owners = AllocateAndFill(allocator, 3, 2 * Block);
        owners[1].Dispose();
        allocator.ReleaseRetainedResources();
        ReadBehind(owners[0]);
        ReadBehind(owners[2]);
        DisposeAll(owners);
    }

    private static void MembersInBlocks(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(6L * Block);
        ReadBehind(group);
    }

    private static void MembersInSegments(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        ReadBehindRemaining(() => allocator.AllocateGroup<byte>(10L * Block), ReadBehind);
    }

    private static void OversizeOfWholePages(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);

        // 65536: whole pages everywhere.
        foreach (int length in (int[])[17 * 65536, 32 * 65536, Block, 10 * Block])
        {
            ReadBehindRemaining(() => allocator.Allocate<byte>(length), ReadBehind);
        }
    }

    private static void ImageOfWholePages(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        ReadBehindRemaining(
            () => allocator.AllocatePixels<Rgb>(1280, 720),
            static pixels => ReadBehind(MemoryMarshal.AsBytes(pixels.DangerousGetRowSpan(719))));
    }

    private static void AlignedSmall(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        for (int i = 6; i <= 21; i += 3)
        {
            int alignment = 1 << i;
            foreach (int length in (int[])[1, 64, 4096, 65536, 1 << 20])
            {
                ReadBehindRemaining(() => allocator.AllocateAligned<byte>(length, alignment), ReadBehind);
            }
        }
    }

    private static void AlignedLarge(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        foreach (int length in (int[])[2 << 20, Block, 3 * Block])
        {
            ReadBehindRemaining(() => allocator.AllocateAligned<byte>(length, 2 << 20), ReadBehind);
        }
    }

    private static void HandOff(MemoryAllocatorOptions options)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        using NativePixels pixels = allocator.AllocatePixels<int>(1024, 1024).HandOff();
        ReadBehind(new Span<byte>((void*)pixels.Pointer, 1024 * 1024 * sizeof(int)));
    }

    // Of several, every other is freed: its addresses are not in use then.
    private static void ReadBehindRemaining<T>(Func<T> allocate, Action<T> read)
        where T : IDisposable
    {
        T[] all = new T[8];
        for (int i = 0; i < all.Length; i++)
        {
            all[i] = allocate();
        }

        for (int i = 0; i < all.Length; i += 2)
        {
            all[i].Dispose();
        }

        for (int i = 1; i < all.Length; i += 2)
        {
            read(all[i]);
        }

        for (int i = 1; i < all.Length; i += 2)
        {
            all[i].Dispose();
        }
    }

    // In the order of their addresses.
    private static List<IMemoryOwner<byte>> AllocateAndFill(MemoryAllocator allocator, int count, int length)
    {
        List<IMemoryOwner<byte>> owners = [];
        for (int i = 0; i < count; i++)
        {
            owners.Add(allocator.Allocate<byte>(length));
            owners[i].Memory.Span.Fill(1);
        }

        owners.Sort((a, b) => ((long)AddressOf(a.Memory.Span)).CompareTo((long)AddressOf(b.Memory.Span)));
        return owners;
    }

    private static void DisposeAll(List<IMemoryOwner<byte>> owners)
    {
        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
        }
    }

    private static void ReadBehind([Borrowed] MemoryGroup<byte> group)
    {
        foreach (Memory<byte> member in group)
        {
            ReadBehind(member.Span);
        }
    }

    private static void ReadBehind([Borrowed] IMemoryOwner<byte> owner) => ReadBehind(owner.Memory.Span);

    private static void ReadBehind(Span<byte> buffer)
    {
        byte* behind = AddressOf(buffer) + buffer.Length;
        for (int i = 0; i < Tail; i++)
        {
            s_sum += Volatile.Read(ref behind[i]);
        }
    }

    private static byte* AddressOf(Span<byte> buffer) => (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(buffer));

    private sealed class FullPool : IDisposable
    {
        private readonly MemoryAllocator _allocator;

        public FullPool(MemoryAllocatorOptions options, int blocks, int length)
        {
            _allocator = MemoryAllocator.Create(options);
            Owners = AllocateAndFill(_allocator, blocks, length);
        }

        public List<IMemoryOwner<byte>> Owners { get; }

        public void Dispose()
        {
            DisposeAll(Owners);
            _allocator.Dispose();
        }
    }

    [StructLayout(LayoutKind.Sequential, Size = 3)]
    private struct Rgb
    {
    }
}
