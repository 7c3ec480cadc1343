namespace Allocator.Analyzers.Tests.Outliving;

public sealed class StoreTests
{
    [Fact]
    public Task Memory_OfUsingLeftInField_Reported() => Snippet.Members(
        """
        private Memory<byte> _memory;

        public void Run()
        {
            using var owner = A.Allocate<byte>(64);
            {|ALLOC003:_memory|} = owner.Memory;
        }

        public int Length => _memory.Length;
        """);

    [Fact]
    public Task Memory_OfUsingLeftInStatic_Reported() => Snippet.Members(
        """
        private static ReadOnlyMemory<byte> s_memory;

        public static void Run()
        {
            using var owner = A.Allocate<byte>(64);
            {|ALLOC003:s_memory|} = owner.Memory.Slice(1);
        }

        public int Length => s_memory.Length;
        """);

    [Fact]
    public Task Memory_OfUsingLeftInOutParameter_Reported() => Snippet.Members(
        """
        public static void Run(out Memory<byte> memory)
        {
            using var owner = A.Allocate<byte>(64);
            {|ALLOC003:memory|} = owner.Memory;
        }
        """);

    [Fact]
    public Task Memory_OfDisposedLeftInField_Reported() => Snippet.Members(
        """
        private Memory<byte> _memory;

        public void Run()
        {
            var owner = A.Allocate<byte>(64);
            {|ALLOC003:_memory|} = owner.Memory;
            owner.Dispose();
        }

        public int Length => _memory.Length;
        """);

    [Fact]
    public Task Memory_TakenBack_Silent() => Snippet.Members(
        """
        private Memory<byte> _memory;

        public void Run()
        {
            using var owner = A.Allocate<byte>(64);
            _memory = owner.Memory;
            _memory = default;
        }

        public int Length => _memory.Length;
        """);

    [Fact]
    public Task Memory_TakenBackInFinally_Silent() => Snippet.Members(
        """
        private Memory<byte> _memory;

        public void Run()
        {
            using var owner = A.Allocate<byte>(64);
            try
            {
                _memory = owner.Memory;
                Gc();
            }
            finally
            {
                _memory = default;
            }
        }

        public int Length => _memory.Length;
        """);

    [Fact]
    public Task Memory_TakenBackByAnotherMethod_Silent() => Snippet.Members(
        """
        private Memory<byte> _memory;

        public void Run()
        {
            using var owner = A.Allocate<byte>(64);
            _memory = owner.Memory;
            Reset();
        }

        public void Reset() => _memory = default;
        """);

    [Fact]
    public Task Memory_InObjectOfThisMethod_Silent() => Snippet.File(
        """
        public sealed class Work
        {
            public Memory<byte> Memory;
        }

        public static class Example
        {
            public static void Run()
            {
                using var owner = A.Allocate<byte>(64);
                Work work = new Work();
                work.Memory = owner.Memory;
            }
        }
        """);

    [Fact]
    public Task Memory_WithOwnerInField_Silent() => Snippet.Members(
        """
        private IMemoryOwner<byte>? _owner;
        private Memory<byte> _memory;

        public void Run()
        {
            _owner = A.Allocate<byte>(64);
            _memory = _owner.Memory;
        }

        public int Length => _memory.Length;
        """);

    [Fact]
    public Task Memory_OfOwnerInFieldReplaced_Silent() => Snippet.Members(
        """
        private IMemoryOwner<byte>? _owner;
        private Memory<byte> _memory;

        public void Run()
        {
            IMemoryOwner<byte> owner = A.Allocate<byte>(64);
            _memory = owner.Memory;
            _owner?.Dispose();
            _owner = owner;
        }

        public int Length => _memory.Length;
        """);
}
