using Allocator.AspNetCore.Admission;

namespace Allocator.AspNetCore.Tests;

/// <summary>Bodies that are made to be expensive to measure.</summary>
public class UploadedPictureTests
{
    [Fact]
    public void ExpectedBytes_FormOfThousandsOfPartsThatAreCutOff_ReadsAFewOfThem()
    {
        using MemoryStream body = new([.. Enumerable.Repeat((byte[])[.. "\r\n\r\n"u8, 0xFF, 0xD8], 3000).SelectMany(static part => part)]);
        using SemaphoreSlim turns = new(1, 1);
        int opened = 0;

        long size = UploadedPicture.ExpectedBytes(
            (offset, length) =>
            {
                opened++;
                return new BodyView(body, offset, turns, length);
            },
            isForm: true);

        Assert.Equal(1, size);
        Assert.InRange(opened, 2, 32);
    }
}
