namespace Measurements.Latency;

/// <summary>A way to have 4 MB for a moment, with what may be going on meanwhile.</summary>
internal abstract class LatencySubject : IDisposable
{
    public const int Length = 4 << 20;

    /// <summary>The most blocks of those that have a limit: more than threads use at once.</summary>
    public const int Blocks = 1024;

    public static string[] Names { get; } = ["this library", "classic model", "ArrayPool"];

    public static LatencySubject Create(string name, int blocks) => name switch
    {
        "this library" => new OfLibrary(blocks),
        "classic model" => new OfModel(blocks),
        _ => new OfArrays(keeps: blocks == Blocks),
    };

    public abstract object Rent();

    public abstract void Return(object memory);

    /// <summary>Gives idle memory back to the system.</summary>
    public abstract void Trim();

    public abstract void Touch(object memory);

    public virtual void Dispose()
    {
    }

    private sealed class OfLibrary(int blocks) : LatencySubject
    {
        private readonly MemoryAllocator _allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = blocks * (Length >> 20) });

        public override object Rent() => _allocator.Allocate<byte>(Length);

        public override void Return(object memory) => ((IMemoryOwner<byte>)memory).Dispose();

        public override void Trim() => _allocator.ReleaseRetainedResources();

        public override void Touch(object memory) => PageTouch.Write(((IMemoryOwner<byte>)memory).Memory.Span);

        public override void Dispose() => _allocator.Dispose();
    }

    private sealed class OfModel(int blocks) : LatencySubject
    {
        private readonly ClassicAllocator _allocator = new(blocks);

        public override object Rent() => _allocator.Allocate<byte>(Length);

        public override void Return(object memory) => ((IMemoryOwner<byte>)memory).Dispose();

        public override void Trim() => _allocator.Release();

        public override void Touch(object memory) => PageTouch.Write(((IMemoryOwner<byte>)memory).Memory.Span);

        public override void Dispose() => _allocator.Release();
    }

    /// <summary>An array pool has no limit and no call that trims. Where it has nothing it makes an array: one that keeps none.</summary>
    private sealed class OfArrays(bool keeps) : LatencySubject
    {
        public override object Rent() => keeps ? ArrayPool<byte>.Shared.Rent(Length) : GC.AllocateUninitializedArray<byte>(Length);

        public override void Return(object memory)
        {
            if (keeps)
            {
                ArrayPool<byte>.Shared.Return((byte[])memory);
            }
        }

        public override void Trim()
        {
        }

        public override void Touch(object memory) => PageTouch.Write((byte[])memory);
    }
}
