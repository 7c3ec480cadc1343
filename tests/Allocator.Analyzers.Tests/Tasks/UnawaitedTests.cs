namespace Allocator.Analyzers.Tests.Tasks;

public sealed class UnawaitedTests
{
    [Fact]
    public Task Write_OfUsing_Reported() => Snippet.Members(
        """
        public static ValueTask Run(Stream stream)
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC005:stream.WriteAsync(owner.Memory)|};
        }
        """);

    [Fact]
    public Task Write_AsTask_Reported() => Snippet.Members(
        """
        public static Task Run(Stream stream)
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC005:stream.WriteAsync(owner.Memory.Slice(1))|}.AsTask();
        }
        """);

    [Fact]
    public Task Read_OfTryFinally_Reported() => Snippet.Members(
        """
        public static ValueTask<int> Run(Stream stream)
        {
            var owner = A.Allocate<byte>(64);
            try
            {
                return {|ALLOC005:stream.ReadAsync(owner.Memory)|};
            }
            finally
            {
                owner.Dispose();
            }
        }
        """);

    [Fact]
    public Task Read_OfMemoryLocal_Reported() => Snippet.Members(
        """
        public static ValueTask<int> Run(Stream stream)
        {
            using var owner = A.Allocate<byte>(64);
            Memory<byte> memory = owner.Memory;
            return {|ALLOC005:stream.ReadAsync(memory)|};
        }
        """);

    [Fact]
    public Task File_Written_Reported() => Snippet.Members(
        """
        public static Task Run(string path)
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC005:System.IO.File.WriteAllBytesAsync(path, owner.Memory)|};
        }
        """);

    [Fact]
    public Task Write_InLambda_Reported() => Snippet.Body(
        """
        Func<Stream, ValueTask> write = static stream =>
        {
            using var owner = A.Allocate<byte>(64);
            return {|ALLOC005:stream.WriteAsync(owner.Memory)|};
        };
        Keep(write);
        """);

    [Fact]
    public Task Write_Awaited_Silent() => Snippet.Members(
        """
        public static async Task Run(Stream stream)
        {
            using var owner = A.Allocate<byte>(64);
            await stream.WriteAsync(owner.Memory);
        }
        """);

    [Fact]
    public Task Write_AwaitedAndReturned_Silent() => Snippet.Members(
        """
        public static async ValueTask<int> Run(Stream stream)
        {
            using var owner = A.Allocate<byte>(64);
            return await stream.ReadAsync(owner.Memory);
        }
        """);

    // It is done before it returns.
    [Fact]
    public Task Write_ToMemoryStream_Silent() => Snippet.Members(
        """
        public static ValueTask Run(MemoryStream stream)
        {
            using var owner = A.Allocate<byte>(64);
            return stream.WriteAsync(owner.Memory);
        }
        """);

    [Fact]
    public Task Write_OfOtherMemory_Silent() => Snippet.Members(
        """
        public static ValueTask Run(Stream stream, Memory<byte> memory)
        {
            using var owner = A.Allocate<byte>(64);
            owner.Memory.CopyTo(memory);
            return stream.WriteAsync(memory);
        }
        """);

    // It may have copied what it was given.
    [Fact]
    public Task Write_OfOwnCode_Silent() => Snippet.Members(
        """
        public static Task Run(Stream stream)
        {
            using var owner = A.Allocate<byte>(64);
            return Send(stream, owner.Memory);
        }

        private static Task Send(Stream stream, Memory<byte> memory) => Task.CompletedTask;
        """);

    [Fact]
    public Task Write_DisposedConditionally_Silent() => Snippet.Members(
        """
        public static ValueTask Run(Stream stream)
        {
            bool failed = true;
            var owner = A.Allocate<byte>(64);
            try
            {
                failed = false;
                return stream.WriteAsync(owner.Memory);
            }
            finally
            {
                if (failed)
                {
                    owner.Dispose();
                }
            }
        }
        """);

    [Fact]
    public Task Write_OwnerOfField_Silent() => Snippet.Members(
        """
        private IMemoryOwner<byte> _owner = A.Allocate<byte>(64);

        public ValueTask Run(Stream stream) => stream.WriteAsync(_owner.Memory);
        """);

    [Theory]
    [InlineData("Recording")]
    [InlineData("UnmanagedMemoryStream")]
    public Task Write_ToStreamThatWritesAtOnce_Silent(string type) => Snippet.Members(
        $$"""
        public sealed class Recording : MemoryStream
        {
        }

        public static Task Run({{type}} stream)
        {
            using var owner = A.Allocate<byte>(64);
            return stream.WriteAsync(owner.Memory).AsTask();
        }
        """);
}
