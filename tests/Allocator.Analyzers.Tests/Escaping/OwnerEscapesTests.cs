namespace Allocator.Analyzers.Tests.Escaping;

public sealed class OwnerEscapesTests
{
    [Fact]
    public Task Owner_StoredInField_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Field = owner;
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Owner_PassedToMethod_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Keep(owner);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Owner_CapturedByLambda_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Action later = () => owner.Dispose();
        Keep(later);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Owner_CapturedByLocalFunction_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        Done();
        void Done() => owner.Dispose();
        """);

    [Fact]
    public Task Owner_AssignedInLambda_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte>? owner = null;
        Action allocate = () => owner = A.Allocate<byte>(64);
        allocate();
        Check(owner!.Memory.Span[0]);
        """);

    [Fact]
    public Task Owner_PassedAndDisposedLater_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Keep(owner);
        owner.Dispose();
        """);

    [Fact]
    public Task Owner_OutParameter_Silent() => Snippet.Members(
        """
        public static void Run(out IMemoryOwner<byte> owner)
        {
            owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }
        """);

    [Fact]
    public Task Owner_RefParameter_Silent() => Snippet.Members(
        """
        public static void Run(ref IMemoryOwner<byte> owner)
        {
            owner.Dispose();
            owner = A.Allocate<byte>(64);
            Check(owner.Memory.Span[0]);
        }
        """);

    [Fact]
    public Task Owner_AcrossAwait_OnlyLeak() => Snippet.Members(
        """
        public static async Task Run()
        {
            var owner = {|ALLOC004:A.Allocate<byte>(64)|};
            await Task.Yield();
            Read(owner.Memory.Span);
        }
        """);

    [Fact]
    public Task Owner_InTuple_Silent() => Snippet.Members(
        """
        public static (IMemoryOwner<byte>, int) Run()
        {
            var owner = A.Allocate<byte>(64);
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
            return (owner, 3);
        }
        """);

    [Fact]
    public Task Owner_InDeconstruction_Silent() => Snippet.Body(
        """
        var (owner, number) = (A.Allocate<byte>(64), 1);
        Span<byte> s = owner.Memory.Span;
        Check(s[0]);
        Number = number;
        owner.Dispose();
        """);

    [Fact]
    public Task Owners_Swapped_Silent() => Snippet.Body(
        """
        var first = A.Allocate<byte>(64);
        var second = A.Allocate<byte>(64);
        (first, second) = (second, first);
        Check(first.Memory.Span[0]);
        second.Dispose();
        first.Dispose();
        """);

    [Fact]
    public Task Owner_InArray_Silent() => Snippet.Body(
        """
        var owners = new IMemoryOwner<byte>[2];
        for (int i = 0; i < 2; i++)
        {
            var owner = A.Allocate<byte>(64);
            owners[i] = owner;
            Span<byte> s = owner.Memory.Span;
            Gc();
            Check(s[0]);
        }

        foreach (var owner in owners)
        {
            owner.Dispose();
        }
        """);

    [Fact]
    public Task Owner_InCollectionInitializer_Silent() => Snippet.Body(
        """
        var owners = new List<IMemoryOwner<byte>> { A.Allocate<byte>(64) };
        Keep(owners);
        """);

    [Fact]
    public Task Owner_InCollectionExpression_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        List<IMemoryOwner<byte>> owners = [owner];
        Check(owner.Memory.Span[0]);
        Keep(owners);
        """);

    // The base library's collections keep what they are given.
    [Fact]
    public Task Owner_AddedToList_Silent() => Snippet.Body(
        """
        var owners = new List<IMemoryOwner<byte>>();
        var owner = A.Allocate<byte>(64);
        owners.Add(owner);
        Span<byte> s = owner.Memory.Span;
        Gc();
        Check(s[0]);
        Keep(owners);
        """);

    [Fact]
    public Task Owner_EnqueuedAndPushed_Silent() => Snippet.Body(
        """
        var queue = new Queue<IMemoryOwner<byte>>();
        var stack = new Stack<IMemoryOwner<byte>>();
        queue.Enqueue(A.Allocate<byte>(64));
        stack.Push(A.Allocate<byte>(64));
        Keep(queue);
        Keep(stack);
        """);

    [Fact]
    public Task Owner_AsDictionaryValue_Silent() => Snippet.Body(
        """
        var owners = new Dictionary<int, IMemoryOwner<byte>>();
        owners[1] = A.Allocate<byte>(64);
        Check(owners[1].Memory.Span[0]);
        Keep(owners);
        """);

    [Fact]
    public Task Owner_Exchanged_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte>? owner = A.Allocate<byte>(64);
        Interlocked.Exchange(ref owner, null)?.Dispose();
        """);

    [Fact]
    public Task Owner_GivenToUsersOperator_Silent() => Snippet.File(
        """
        public sealed class Container
        {
            private readonly List<object> _parts = new();
            public static Container operator +(Container container, IMemoryOwner<byte> owner)
            {
                container._parts.Add(owner);
                return container;
            }
        }

        public static class Example
        {
            public static void Run(Container container)
            {
                var owner = A.Allocate<byte>(64);
                container = container + owner;
                Check(owner.Memory.Span[0]);
                Keep(container);
            }
        }
        """);

    [Fact]
    public Task Owner_GivenToUsersCompoundOperator_Silent() => Snippet.File(
        """
        public sealed class Container
        {
            private readonly List<object> _parts = new();
            public static Container operator +(Container container, IMemoryOwner<byte> owner)
            {
                container._parts.Add(owner);
                return container;
            }
        }

        public static class Example
        {
            public static void Run(Container container)
            {
                var owner = A.Allocate<byte>(64);
                container += owner;
                Check(owner.Memory.Span[0]);
                Keep(container);
            }
        }
        """);

    [Fact]
    public Task Owner_GivenToUsersConversion_Silent() => Snippet.File(
        """
        public sealed class Wrapper
        {
            private readonly PixelBuffer<byte> _buffer;
            public Wrapper(PixelBuffer<byte> buffer) => _buffer = buffer;
            public static implicit operator Wrapper(PixelBuffer<byte> buffer) => new Wrapper(buffer);
            public int Width => _buffer.Width;
        }

        public static class Example
        {
            public static Wrapper Run()
            {
                var buffer = A.AllocatePixels<byte>(8, 8);
                Check(buffer.DangerousGetRowSpan(0)[0]);
                return buffer;
            }
        }
        """);

    [Fact]
    public Task Owner_AssignedInCondition_Silent() => Snippet.Members(
        """
        public static void Run(Queue<int> lengths)
        {
            IMemoryOwner<byte>? owner;
            while ((owner = Next(lengths)) != null)
            {
                Check(owner.Memory.Span[0]);
                owner.Dispose();
            }
        }

        [return: OwnedBuffer]
        private static IMemoryOwner<byte>? Next(Queue<int> lengths) =>
            lengths.TryDequeue(out int length) ? A.Allocate<byte>(length) : null;
        """);

    [Fact]
    public Task Owner_AssignedInConditionUntilLimit_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte> owner;
        while ((owner = A.Allocate<byte>(64)) is { Memory.Length: < 64 })
        {
            owner.Dispose();
        }

        owner.Memory.Span.Clear();
        owner.Dispose();
        """);

    [Fact]
    public Task Memory_HandedToConstructor_Silent() => Snippet.File(
        """
        public sealed class Frame
        {
            public Frame(Memory<byte> memory) => Memory = memory;
            public Memory<byte> Memory { get; }
        }

        public static class Example
        {
            public static Frame Run()
            {
                var owner = A.Allocate<byte>(64);
                Span<byte> s = owner.Memory.Span;
                var frame = new Frame(owner.Memory);
                Check(s[0]);
                return frame;
            }
        }
        """);

    [Fact]
    public Task Owner_HandedToConstructor_Silent() => Snippet.File(
        """
        public sealed class Frame : IDisposable
        {
            private readonly IMemoryOwner<byte> _owner;
            public Frame(IMemoryOwner<byte> owner) => _owner = owner;
            public void Dispose() => _owner.Dispose();
        }

        public static class Example
        {
            public static void Run()
            {
                var owner = A.Allocate<byte>(64);
                using var frame = new Frame(owner);
                Check(owner.Memory.Span[0]);
            }
        }
        """);

    [Fact]
    public Task Owner_InObjectInitializer_Silent() => Snippet.File(
        """
        public sealed class Frame
        {
            public IMemoryOwner<byte>? Owner { get; init; }
        }

        public static class Example
        {
            public static Frame Run()
            {
                var frame = new Frame { Owner = A.Allocate<byte>(64) };
                Check(frame.Owner.Memory.Span[0]);
                return frame;
            }
        }
        """);

    [Fact]
    public Task Owner_InPrimaryConstructorParameter_Silent() => Snippet.File(
        """
        public sealed class Frame(IMemoryOwner<byte> owner)
        {
            public void Replace() => owner = A.Allocate<byte>(64);
            public void Use() => Check(owner.Memory.Span[0]);
        }
        """);

    [Fact]
    public Task Owner_InPropertyOrField_Silent() => Snippet.Members(
        """
        private readonly IMemoryOwner<byte> _owner = A.Allocate<byte>(64);
        private IMemoryOwner<byte> Second { get; } = A.Allocate<byte>(64);

        public void Run() => Check((byte)(_owner.Memory.Span[0] + Second.Memory.Span[0]));
        """);

    [Fact]
    public Task Owner_MatchedByPattern_Silent() => Snippet.Body(
        """
        object o = A.Allocate<byte>(64);
        if (o is IMemoryOwner<byte> m)
        {
            Span<byte> s = m.Memory.Span;
            Gc();
            Check(s[0]);
            m.Dispose();
        }
        """);

    [Fact]
    public Task Owner_ReachedByRefLocal_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte>? owner = null;
        ref IMemoryOwner<byte>? alias = ref owner;
        owner = A.Allocate<byte>(64);
        alias!.Dispose();
        """);

    [Fact]
    public Task Owner_Locked_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        lock (owner)
        {
            Check(owner.Memory.Span[0]);
        }
        """);

    [Fact]
    public Task Owner_Dynamic_Silent() => Snippet.Body(
        """
        dynamic owner = A.Allocate<byte>(64);
        owner.Dispose();
        """);

    [Fact]
    public Task Owner_InAnonymousObject_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        var pair = new { owner, Length = 1 };
        Check(owner.Memory.Span[0]);
        Keep(pair);
        """);

    [Fact]
    public Task Owner_DisposedAsync_Silent() => Snippet.File(
        """
        public sealed class Frames : IAsyncDisposable
        {
            public ValueTask DisposeAsync() => default;
        }

        public static class Example
        {
            [return: OwnedBuffer]
            public static Frames Make() => new Frames();

            public static async Task Run()
            {
                await using var frames = Make();
            }
        }
        """);

    [Fact]
    public Task Owner_CheckedForNull_OnlyLeak() => Snippet.Body(
        """
        var owner = {|ALLOC004:A.Allocate<byte>(64)|};
        ArgumentNullException.ThrowIfNull(owner);
        if (owner == null || ReferenceEquals(owner, null))
        {
            return;
        }
        """);

    [Fact]
    public Task Owner_ThrownInException_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        throw new InvalidOperationException() { Data = { ["owner"] = owner } };
        """);

    [Fact]
    public Task Owner_InYield_Silent() => Snippet.Members(
        """
        public static IEnumerable<IMemoryOwner<byte>> Run()
        {
            for (int i = 0; i < 3; i++)
            {
                yield return A.Allocate<byte>(64);
            }
        }
        """);

    [Fact]
    public Task Owners_SelectedByLinq_Silent() => Snippet.Body(
        """
        IMemoryOwner<byte>[] owners = Enumerable.Range(0, 3).Select(i => A.Allocate<byte>(64)).ToArray();
        Keep(owners);
        """);

    // An awaited call borrows memory that its declaration names, not what a type argument makes of it.
    [Fact]
    public Task Memory_GivenToChannel_Silent() => Snippet.Members(
        """
        public static async Task Run(System.Threading.Channels.ChannelWriter<Memory<byte>> writer)
        {
            var owner = A.Allocate<byte>(64);
            await writer.WriteAsync(owner.Memory);
        }
        """);

    [Fact]
    public Task Memory_GivenToTaskThatGoesOn_Silent() => Snippet.Members(
        """
        public static Task Run(Stream stream)
        {
            var owner = A.Allocate<byte>(64);
            return stream.WriteAsync(owner.Memory).AsTask();
        }
        """);

    [Fact]
    public Task Memory_CapturedAndKept_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Memory<byte> m = owner.Memory;
        Action clear = () => m.Span.Clear();
        Keep(clear);
        Span<byte> s = m.Span;
        Gc();
        Check(s[0]);
        """);

    [Fact]
    public Task Memory_OfTryGetArray_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        Span<byte> s = owner.Memory.Span;
        MemoryMarshal.TryGetArray<byte>(owner.Memory, out ArraySegment<byte> segment);
        Check(s[0]);
        Keep(segment);
        """);

    [Fact]
    public Task Memory_InSequence_Silent() => Snippet.Body(
        """
        var owner = A.Allocate<byte>(64);
        var sequence = new ReadOnlySequence<byte>(owner.Memory);
        Span<byte> s = owner.Memory.Span;
        Check(s[0]);
        Number = (int)sequence.Length;
        """);
}
