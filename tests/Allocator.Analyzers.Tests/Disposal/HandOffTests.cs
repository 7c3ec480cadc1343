namespace Allocator.Analyzers.Tests.Disposal;

public sealed class HandOffTests
{
    [Fact]
    public Task Buffer_UsedAfterHandOff_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        using var pixels = buffer.HandOff();
        {|ALLOC002:buffer.Clear()|};
        """);

    [Fact]
    public Task Buffer_HandedOffTwice_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        using var first = buffer.HandOff();
        using var second = {|ALLOC002:buffer.HandOff()|};
        """);

    [Fact]
    public Task Span_UsedAfterHandOff_Reported() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        Span<byte> row = buffer.DangerousGetRowSpan(0);
        using var pixels = buffer.HandOff();
        Check({|ALLOC002:row[0]|});
        """);

    [Fact]
    public Task Buffer_HandedOffAndNotDisposed_Silent() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        using var pixels = buffer.HandOff();
        Number = pixels.Width;
        """);

    [Fact]
    public Task Buffer_HandedOffWithinUsing_Silent() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        buffer.Clear();
        using var pixels = buffer.HandOff();
        Number = pixels.RowBytes;
        """);

    [Fact]
    public Task Buffer_HandedOffOnOneBranch_Silent() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        if (Yes)
        {
            buffer.HandOff().Dispose();
        }

        buffer.Clear();
        """);

    [Fact]
    public Task Buffer_HandOffFailedAndDisposedByHandler_Silent() => Snippet.Body(
        """
        var buffer = A.AllocatePixels<byte>(8, 8);
        try
        {
            Keep(buffer.HandOff());
        }
        catch (InvalidOperationException)
        {
            buffer.Clear();
            buffer.Dispose();
        }
        """);

    [Fact]
    public Task Pixels_NeverReleased_Reported() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        var pixels = {|ALLOC004:buffer.HandOff()|};
        nint address = pixels.Pointer;
        """);

    [Fact]
    public Task Pixels_ContextGivenToNativeCode_Silent() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        var pixels = buffer.HandOff();
        Keep((pixels.Pointer, pixels.ReleaseFunction, pixels.ReleaseContext));
        """);

    [Fact]
    public Task Pixels_GivenAsAnObject_Silent() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        var pixels = buffer.HandOff();
        Keep(pixels);
        """);

    [Fact]
    public Task Pixels_AddressAskedForAfterDispose_Reported() => Snippet.Body(
        """
        using var buffer = A.AllocatePixels<byte>(8, 8);
        var pixels = buffer.HandOff();
        pixels.Dispose();
        Number = (int){|ALLOC002:pixels.Pointer|};
        """);

    [Fact]
    public Task HandOff_OfSomebodyElsesType_Silent() => Snippet.File(
        """
        public sealed class Image : IDisposable
        {
            [return: OwnedBuffer]
            public static Image Load() => new Image();
            public void HandOff() { }
            public void Save() { }
            public void Dispose() { }
        }

        public static class Example
        {
            public static void Run()
            {
                using Image image = Image.Load();
                image.HandOff();
                image.Save();
            }
        }
        """);

    [Fact]
    public Task Stream_NeverDisposed_Reported() => Snippet.Body(
        """
        var stream = {|ALLOC004:A.CreateStream()|};
        stream.WriteByte(1);
        """);

    [Fact]
    public Task Stream_OverAGroup_TakesTheGroupOver() => Snippet.Body(
        """
        var group = A.AllocateGroup<byte>(100);
        using var stream = group.AsStream();
        stream.WriteByte(1);
        """);
}
