using System.Runtime.InteropServices;
using LoadResizeSave.Pipelines;
using SkiaSharp;

namespace LoadResizeSave.Tests.Pipelines;

public sealed class PipelineTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("pipeline-tests-");

    public static TheoryData<string> Names => [.. Pipeline.All.Select(pipeline => pipeline.Name)];

    public void Dispose() => _folder.Delete(recursive: true);

    [SkippableTheory]
    [MemberData(nameof(Names))]
    public async Task Run_APhotograph_IsMadeSmallerAndLooksTheSame(string name)
    {
        Skip.If(name.StartsWith("opencv", StringComparison.Ordinal) && !NativeLibrary.TryLoad("libgtk-3.so.0", out _), "OpenCvSharp's native library needs libgtk-3-0.");
        (string source, string target) = (Draw(1600, 1000), Path.Combine(_folder.FullName, "small.jpg"));

        await Pipeline.Get(name).Run(source, target);

        using SKBitmap small = SKBitmap.Decode(target);
        Assert.Equal((Pipeline.Side, 500), (small.Width, small.Height));
        SKColor left = small.GetPixel(100, 250);
        SKColor right = small.GetPixel(700, 250);
        Assert.True(left.Red > 200 && left.Blue < 50 && right.Red < 50 && right.Blue > 200, $"{left} {right}");
    }

    [SkippableTheory]
    [MemberData(nameof(Names))]
    public async Task Run_ASmallPhotograph_KeepsItsSize(string name)
    {
        Skip.If(name.StartsWith("opencv", StringComparison.Ordinal) && !NativeLibrary.TryLoad("libgtk-3.so.0", out _), "OpenCvSharp's native library needs libgtk-3-0.");
        (string source, string target) = (Draw(64, 40), Path.Combine(_folder.FullName, "same.jpg"));

        await Pipeline.Get(name).Run(source, target);

        using SKBitmap same = SKBitmap.Decode(target);
        Assert.Equal((64, 40), (same.Width, same.Height));
    }

    [Fact]
    public async Task RunAsync_ChildWithPictures_ReportsEachAndWhatItCost()
    {
        List<ContainerMessage> messages = [];
        string broken = Path.Combine(_folder.FullName, "broken.jpg");
        await File.WriteAllTextAsync(broken, "no picture");
        string list = Path.Combine(_folder.FullName, "pictures.txt");
        await File.WriteAllLinesAsync(list, [Draw(1600, 1000), broken]);
        PipelineRequest request = new("pooled", list, _folder.FullName, 2, 6, LimitMegabytes: 350, SettleSeconds: 0);

        await new PipelineChild(request, messages.Add).RunAsync();

        Assert.True(messages[0].Begins);
        Assert.Equal(3, messages.Count(message => message.Job?.End == JobEnd.Done));
        Assert.Equal(3, messages.Count(message => message.Job is { End: JobEnd.Failed, Reason.Length: > 0 }));
        RunMessage run = messages[^1].Run!;
        Assert.True(run.Seconds > 0 && run.Cost!.UserTime > TimeSpan.Zero);
        Assert.InRange(run.FinalResidentBytes, 1, run.PeakResidentBytes);
    }

    private string Draw(int width, int height)
    {
        using SKBitmap bitmap = new(width, height);
        using SKCanvas canvas = new(bitmap);
        canvas.Clear(SKColors.Red);
        using SKPaint paint = new() { Color = SKColors.Blue };
        canvas.DrawRect(width / 2f, 0, width / 2f, height, paint);
        string path = Path.Combine(_folder.FullName, $"{width}x{height}.jpg");
        using FileStream file = File.Create(path);
        Assert.True(bitmap.Encode(file, SKEncodedImageFormat.Jpeg, 95));
        return path;
    }
}
