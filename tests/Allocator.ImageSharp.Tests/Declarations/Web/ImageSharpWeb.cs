// Written by hand from https://docs.sixlabors.com/api/ImageSharp.Web: the members that the guide uses, as documented for ImageSharp.Web
// 3. Not the library.
#pragma warning disable CS1591
using System;
using System.Collections.Generic;
using System.Collections.ObjectModel;
using System.Globalization;
using System.IO;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;
using SixLabors.ImageSharp.Formats;
using SixLabors.ImageSharp.Web.Commands;
using SixLabors.ImageSharp.Web.Resolvers;

namespace SixLabors.ImageSharp.Web
{
    public readonly struct ImageMetadata
    {
        public ImageMetadata(DateTime lastWriteTimeUtc, long contentLength) =>
            (LastWriteTimeUtc, ContentLength) = (lastWriteTimeUtc, contentLength);

        public DateTime LastWriteTimeUtc { get; }

        public long ContentLength { get; }
    }
}

namespace SixLabors.ImageSharp.Web.Commands
{
    public sealed class CommandCollection : KeyedCollection<string, KeyValuePair<string, string?>>
    {
        protected override string GetKeyForItem(KeyValuePair<string, string?> item) => item.Key;
    }

    public sealed class CommandParser;
}

namespace SixLabors.ImageSharp.Web.Processors
{
    public interface IImageWebProcessor
    {
        IEnumerable<string> Commands { get; }

        bool RequiresTrueColorPixelFormat(CommandCollection commands, CommandParser parser, CultureInfo culture);
    }
}

namespace SixLabors.ImageSharp.Web.Providers
{
    public interface IImageProvider
    {
        Func<HttpContext, bool> Match { get; set; }

        Task<IImageResolver?> GetAsync(HttpContext context);
    }
}

namespace SixLabors.ImageSharp.Web.Resolvers
{
    public interface IImageResolver
    {
        Task<ImageMetadata> GetMetaDataAsync();

        Task<Stream> OpenReadAsync();
    }
}

namespace SixLabors.ImageSharp.Web.Middleware
{
    public class ImageCommandContext
    {
        public ImageCommandContext(HttpContext context, CommandCollection commands, CommandParser parser, CultureInfo culture)
        {
            Context = context;
            Commands = commands;
            Parser = parser;
            Culture = culture;
        }

        public HttpContext Context { get; }

        public CommandCollection Commands { get; }

        public CommandParser Parser { get; }

        public CultureInfo Culture { get; }
    }

    public class ImageProcessingContext
    {
        public ImageProcessingContext(HttpContext context) => Context = context;

        public HttpContext Context { get; }
    }

    public class ImageSharpMiddlewareOptions
    {
        // All options share it, until the host sets another.
        private static readonly Configuration s_default = new();

        public Configuration Configuration { get; set; } = s_default;

        public Func<ImageCommandContext, Configuration, Task<DecoderOptions?>> OnBeforeLoadAsync { get; set; } =
            (_, _) => Task.FromResult<DecoderOptions?>(null);

        public Func<ImageProcessingContext, Task> OnProcessedAsync { get; set; } = _ => Task.CompletedTask;
    }
}
