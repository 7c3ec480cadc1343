using System.Collections;
using Allocator.Adapters;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>One length of memory, divided into blocks of equal length; the last may be shorter. Disposed by its owner.</summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>
/// A block's <see cref="Memory{T}"/> keeps the whole group alive. After <see cref="Dispose"/>, asking for blocks, spans and pins throws
/// <see cref="ObjectDisposedException"/>.
/// </remarks>
public sealed class MemoryGroup<T> : IReadOnlyList<Memory<T>>, IDisposable, IRented
    where T : struct
{
    private readonly string _ownerName;
    private LifetimeGuard _guard = null!;
    private long _generation;
    private MemberLayout _layout;
    private Member?[]? _members;

    /// <summary>Makes a group; images have one. The name is that of the type whose use after its return is refused.</summary>
    internal MemoryGroup(string ownerName = nameof(MemoryGroup<>)) => _ownerName = ownerName;

    /// <summary>Gets the length of all blocks together, in elements.</summary>
    public long TotalLength => _layout.TotalLength;

    /// <summary>Gets the length of every block but the last, in elements; the length of the only block if there is one.</summary>
    public int BlockLength => _layout.MemberLength;

    /// <summary>Gets the number of blocks, at least 1.</summary>
    public int Count => _layout.Count;

    /// <summary>Gets whether the blocks lie without a gap. There is then one block, unless it were longer than a span can be.</summary>
    public bool IsContiguous => _layout.IsContiguous;

    internal ref readonly MemberLayout Layout => ref _layout;

    void IRented.Begin(in Allocation allocation) => Begin(allocation);

    internal void Begin(in Allocation allocation)
    {
        _guard = allocation.Guard!;
        _generation = allocation.Generation;
        _layout = allocation.Layout;
    }

    /// <summary>Gets one block. Each costs one small object when it is first asked for.</summary>
    /// <param name="index">From 0 to <see cref="Count"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in that range.</exception>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    public Memory<T> this[int index]
    {
        get
        {
            ThrowIfDisposed();
            if ((uint)index >= (uint)Count)
            {
                Throw.OutOfRange(nameof(index), index, $"must be from 0 to {Count - 1}");
            }

            Member?[] members = _members ?? Interlocked.CompareExchange(
                ref _members, new Member?[Count], null) ?? _members;
            Member member = members[index] ?? Interlocked.CompareExchange(
                ref members[index], new Member(this, index), null) ?? members[index]!;
            return member.Memory;
        }
    }

    /// <summary>Copies all elements to the beginning of another group, whatever the lengths of its blocks.</summary>
    /// <exception cref="ArgumentNullException"><paramref name="destination"/> is null.</exception>
    /// <exception cref="ArgumentException"><paramref name="destination"/> is shorter.</exception>
    /// <exception cref="ObjectDisposedException">One of the groups has been disposed.</exception>
    public void CopyTo([Borrowed] MemoryGroup<T> destination)
    {
        Throw.IfNull(destination, nameof(destination));
        Throw.IfTooShort(nameof(destination), destination.TotalLength, TotalLength);
        using Reference reference = AddReference();
        using Reference destinationReference = destination.AddReference();
        PieceCopy.Copy(new Pieces(this), new Pieces(destination), TotalLength * Unsafe.SizeOf<T>());
    }

    /// <summary>Copies all elements to the beginning of a span.</summary>
    /// <exception cref="ArgumentException"><paramref name="destination"/> is shorter.</exception>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    public void CopyTo(Span<T> destination)
    {
        Throw.IfTooShort(nameof(destination), destination.Length, TotalLength);
        using Reference reference = AddReference();
        PieceCopy.Copy(new Pieces(this), destination.Slice(0, (int)TotalLength));
    }

    /// <summary>Copies a span to the beginning of the group.</summary>
    /// <exception cref="ArgumentException">The group is shorter than <paramref name="source"/>.</exception>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    public void CopyFrom(ReadOnlySpan<T> source)
    {
        if (TotalLength < source.Length)
        {
            throw new ArgumentException(
                Invariant($"{nameof(source)} has {source.Length:N0} elements, more than the group, which has {TotalLength:N0}."),
                nameof(source));
        }

        using Reference reference = AddReference();
        PieceCopy.Copy(source, new Pieces(this));
    }

    /// <summary>Sets all elements to zero.</summary>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    public void Clear()
    {
        using Reference reference = AddReference();
        for (int i = 0; i < Count; i++)
        {
            MemberSpan(i).Clear();
        }
    }

    /// <summary>Sets all elements to a value.</summary>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    public void Fill(T value)
    {
        using Reference reference = AddReference();
        for (int i = 0; i < Count; i++)
        {
            MemberSpan(i).Fill(value);
        }
    }

    /// <summary>
    /// Returns a view of the same blocks as bytes. It shares the ownership: the memory goes back when this group and all views are
    /// disposed.
    /// </summary>
    /// <returns>The view, which the caller disposes. It ends with its own <c>Dispose</c>, not with that of this group.</returns>
    /// <remarks>Costs some small objects; no memory is taken or copied.</remarks>
    /// <exception cref="ArgumentException">Managed memory of more than 2 GiB, which <c>WrapGroup</c> made a group of.</exception>
    /// <exception cref="InvalidOperationException">There are 65,535 views, pins and uses already.</exception>
    /// <exception cref="ObjectDisposedException">The group has been disposed.</exception>
    [return: OwnedBuffer]
    public MemoryGroup<byte> AsBytes() => View<byte>();

    /// <summary>Returns a view of the same blocks as elements of another type of the same size, as <see cref="AsBytes"/> does.</summary>
    /// <typeparam name="TTo">The type; it contains no references.</typeparam>
    /// <exception cref="ArgumentException"><typeparamref name="TTo"/> has another size, or contains references.</exception>
    /// <inheritdoc cref="AsBytes" path="/returns | /remarks | /exception[not(contains(@cref, 'Argument'))]"/>
    [return: OwnedBuffer]
    public MemoryGroup<TTo> Cast<TTo>()
        where TTo : struct
    {
        MemoryAllocator.ThrowIfContainsReferences<TTo>();
        Throw.IfOtherSize<TTo>(Unsafe.SizeOf<T>());
        return View<TTo>();
    }

    /// <summary>Enumerates the blocks in order.</summary>
    public IEnumerator<Memory<T>> GetEnumerator()
    {
        for (int i = 0; i < Count; i++)
        {
            yield return this[i];
        }
    }

    /// <summary>
    /// Returns the memory as soon as nothing pins it, works on it, or views it. Never blocks; further calls have no effect.
    /// </summary>
    /// <exception cref="MemoryCorruptedException">In Guarded mode: a byte around the memory was changed. It has been returned.</exception>
    public void Dispose() => LifetimeGuard.DisposeAndForget(ref _guard, _generation);

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Describes the group in a line: its elements, its blocks, and how long it has been outstanding.</summary>
    public override string ToString() =>
        Invariant($"{nameof(MemoryGroup<>)}<{typeof(T).Name}> {TotalLength:N0} elements, {DescribeMemory()}");

    internal string DescribeMemory() => Invariant($"{Count:N0} {(Count == 1 ? "block" : "blocks")}, {_guard.Describe(_generation)}");

    /// <summary>Keeps the memory out of the pool until the result is disposed, even past <see cref="Dispose"/>.</summary>
    internal Reference AddReference()
    {
        if (!_guard.TryAddReference(_generation))
        {
            Throw.Disposed(_ownerName, _guard);
        }

        return new Reference(this);
    }

    /// <summary>Begins a view: it keeps the memory of another group, and has an end of its own.</summary>
    internal void BeginView<TFrom>(MemoryGroup<TFrom> whole)
        where TFrom : struct
    {
        whole.AddReference();
        try
        {
            (int size, int fromSize) = (Unsafe.SizeOf<T>(), Unsafe.SizeOf<TFrom>());
            WrappedGuard<T> guard = WrappedGuard<T>.Over<TFrom>(whole._guard, whole.Unpin);
            Begin(whole.IsContiguous
                ? Allocation.OfCaller(guard, whole.TotalLength * fromSize / size, fromSize)
                : new Allocation(guard, guard.Begin(), whole._layout.Scale(fromSize, size)));
        }
        catch
        {
            whole.Unpin();
            throw;
        }
    }

    private MemoryGroup<TTo> View<TTo>()
        where TTo : struct
    {
        MemoryGroup<TTo> view = new();
        view.BeginView(this);
        return view;
    }

    /// <summary>Disposes the group, for a caller whose pin keeps the memory.</summary>
    /// <returns>False, with nothing changed, if the group has been disposed already.</returns>
    internal bool TryDisposePinned() => _guard.TryDisposeReferenced(_generation);

    /// <summary>Ends <see cref="AddReference"/> or a pin.</summary>
    internal void Unpin()
    {
        LifetimeGuard.RemoveReferenceAndForget(ref _guard, _generation);
        GC.KeepAlive(this);
    }

    internal Span<T> GetMemberSpan(int index)
    {
        if (!_layout.IsSingle)
        {
            ThrowIfDisposed();
            return MemberSpan(index);
        }

        if (!_guard.TryGetSpan(_generation, (int)TotalLength, out Span<T> span))
        {
            Throw.Disposed(_ownerName, _guard);
        }

        return span;
    }

    /// <summary>Returns the managed array behind the only member, of a type of which its users may ask.</summary>
    internal bool TryGetArray<TElement>(out ArraySegment<TElement> segment)
        where TElement : struct
    {
        // Before the state is looked at, which confirms it.
        LifetimeGuard guard = _guard;
        TElement[]? array = guard.Array as TElement[];
        ThrowIfDisposed();
        segment = default;
        if (guard is WrappedGuard<T> wrapped)
        {
            return wrapped.TryGetArray(out segment);
        }

        segment = array is null ? default : new ArraySegment<TElement>(array, 0, (int)TotalLength);
        return array is not null;
    }

    /// <summary>
    /// Returns the start of the first member if it is unmanaged and others are one stride apart; otherwise 0. With a reference held.
    /// </summary>
    internal nint FirstAddress() => _layout.IsSingle ? _guard.Address : _layout.First;

    /// <summary>Returns the bytes from the start of the memory to the origin of a member. Valid if the group is held afterwards.</summary>
    internal nint OffsetOf(nint member) => _layout.IsSingle ? 0 : _layout.OriginOf(member) - _guard.Address;

    internal MemoryHandle Pin(nint offsetInBytes, IPinnable pinnable) => _guard.Pin<T>(_generation, pinnable, offsetInBytes);

    internal MemoryHandle PinMember(int index, int elementIndex, IPinnable pinnable)
    {
        LifetimeGuard guard = _guard;
        nint offset = _layout.IsSingle ? 0 : MemberAddress(index) - guard.Address;
        return guard.Pin<T>(_generation, _layout.LengthOf(index), elementIndex, pinnable, offset);
    }

    /// <summary>Returns a member's span without asking whether the group is disposed: the caller holds a reference.</summary>
    internal unsafe Span<T> MemberSpan(int index) =>
        _layout.IsSingle ? _guard.GetSpan<T>((int)TotalLength) : new Span<T>((void*)MemberAddress(index), _layout.LengthOf(index));

    internal bool IsHeld
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _guard.IsHeld(_generation);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void ThrowIfDisposed()
    {
        if (!IsHeld)
        {
            Throw.Disposed(_ownerName, _guard);
        }
    }

    private nint MemberAddress(int index) => _layout.OriginOf(index) + (nint)((long)index * _layout.MemberLength * Unsafe.SizeOf<T>());

    /// <summary>The bytes of a group, to which the caller holds a reference.</summary>
    private readonly struct Pieces(MemoryGroup<T> group) : IPieces
    {
        public Span<byte> From(long position)
        {
            int size = Unsafe.SizeOf<T>();
            (long element, int within) = (position / size, (int)(position % size));
            int length = group.BlockLength;
            Span<T> rest = length == 0 ? default : group.MemberSpan((int)(element / length)).Slice((int)(element % length));
            return MemoryMarshal.AsBytes(rest.Slice(0, Math.Min(rest.Length, int.MaxValue / size))).Slice(within);
        }
    }

    /// <summary>A reference of <see cref="AddReference"/>, to be disposed once.</summary>
    internal readonly ref struct Reference(MemoryGroup<T> group)
    {
        public void Dispose() => group.Unpin();
    }

    /// <summary>One member as <see cref="Memory{T}"/>. It references the group, so that a member keeps the whole group alive.</summary>
    private sealed class Member(MemoryGroup<T> group, int index) : MemoryManager<T>
    {
        public override Memory<T> Memory => CreateMemory(group.GetMemberSpan(index).Length);

        public override Span<T> GetSpan() => group.GetMemberSpan(index);

        public override MemoryHandle Pin(int elementIndex = 0) => group.PinMember(index, elementIndex, this);

        public override void Unpin() => group.Unpin();

        protected override bool TryGetArray(out ArraySegment<T> segment) => group.TryGetArray(out segment);

        // The group is disposed, not its members.
        protected override void Dispose(bool disposing)
        {
        }
    }
}
