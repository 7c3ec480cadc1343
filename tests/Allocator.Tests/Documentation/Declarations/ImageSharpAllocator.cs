// Written by hand from https://docs.sixlabors.com/api/ImageSharp: the members that the guide uses, as documented for versions 2 and 3. Not the library.
using System.Buffers;

namespace SixLabors.ImageSharp.Memory;

public enum AllocationOptions
{
    None = 0,
    Clean = 1,
}

public abstract class MemoryAllocator
{
    protected abstract int GetBufferCapacityInBytes();

    public abstract IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None)
        where T : struct;

    public virtual void ReleaseRetainedResources()
    {
    }
}
