using System.Buffers;

namespace Allocator.Lifetime;

/// <summary>
/// Guards an array of <see cref="ArrayPool{T}.Shared"/>. It has no finalizer: an abandoned array is collected, and a span into it keeps it alive.
/// Guards are kept by the thread that returned them, for its next rents of the same allocator.
/// </summary>
internal sealed class ArrayGuard : LifetimeGuard
{
    private readonly ArrayRenter _renter;

    public ArrayGuard(ArrayRenter renter)
        : base(new GuardRecord[1], 0) => _renter = renter;

    /// <summary>Starts a rent. pre: nobody has the guard.</summary>
    /// <returns>The generation that the user keeps.</returns>
    public long Begin(byte[] array, int usedBytes)
    {
        Array = array;
        Record.UsedBytes = usedBytes;
        return Begin();
    }

    protected override void GiveBack()
    {
        byte[] array = Array!;
        Array = null;
        _renter.Return(array, this);
    }
}
