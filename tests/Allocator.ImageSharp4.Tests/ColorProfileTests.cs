using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using SixLabors.ImageSharp;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Metadata;
using SixLabors.ImageSharp.Web.Commands;
using SixLabors.ImageSharp.Web.Middleware;
using SixLabors.ImageSharp.Web.Providers;
using SixLabors.ImageSharp.Web.Resolvers;
using Pool = Allocator.MemoryAllocator;

namespace Allocator.ImageSharp.Tests;

/// <summary>
/// ImageSharp.Web 4 converts colours to sRGB as long as it has its own configuration, and only leaves out an sRGB profile with another. If
/// a hook returns options, those count: a picture with a profile must not look different because its memory is reserved.
/// </summary>
public class ColorProfileTests
{
    [Theory]
    [InlineData(false, ColorProfileHandling.Convert)]
    [InlineData(true, ColorProfileHandling.Compact)]
    public async Task ReserveEachImage_NoHookOfTheHost_HandlesProfilesAsImageSharpWebDoes(bool isOwn, ColorProfileHandling expected)
    {
        ImageSharpMiddlewareOptions options = new();
        if (isOwn)
        {
            options.Configuration = new Configuration();
        }

        Assert.Equal(expected, (await LoadAsync(options)).ColorProfileHandling);
    }

    [Fact]
    public async Task ReserveEachImage_HookOfTheHost_HandlesProfilesAsThatSays()
    {
        ImageSharpMiddlewareOptions options = new()
        {
            OnBeforeLoadAsync = (_, _) => Task.FromResult<DecoderOptions?>(
                new DecoderOptions { SegmentIntegrityHandling = SegmentIntegrityHandling.Strict }),
        };

        DecoderOptions decoder = await LoadAsync(options);

        Assert.Equal(
            (ColorProfileHandling.Preserve, SegmentIntegrityHandling.Strict),
            (decoder.ColorProfileHandling, decoder.SegmentIntegrityHandling));
    }

    private static async Task<DecoderOptions> LoadAsync(ImageSharpMiddlewareOptions options)
    {
        using Pool pool = Pool.Create();
        options.ReserveEachImage(pool);
        DefaultHttpContext http = new()
        {
            RequestServices = new ServiceCollection().AddSingleton<IImageProvider>(new OneImage()).BuildServiceProvider(),
        };
        ImageCommandContext command = new(http, [], new CommandParser(), CultureInfo.InvariantCulture);
        return (await options.OnBeforeLoadAsync(command, options.Configuration))!;
    }

    private sealed class OneImage : IImageProvider, IImageResolver
    {
        public Func<HttpContext, bool> Match { get; set; } = _ => true;

        public Task<IImageResolver?> GetAsync(HttpContext context) => Task.FromResult<IImageResolver?>(this);

        public Task<SixLabors.ImageSharp.Web.ImageMetadata> GetMetaDataAsync() => throw new NotSupportedException();

        public Task<Stream> OpenReadAsync() => Task.FromResult<Stream>(new DescribedFile(
            new ImageInfo
            {
                Width = 10,
                Height = 10,
                PixelType = new PixelTypeInfo(24),
                FrameMetadataCollection = [],
                Metadata = new ImageMetadata(),
            },
            100));
    }
}
