using System.Buffers;
using Microsoft.ML.OnnxRuntime;
using Microsoft.ML.OnnxRuntime.Tensors;
using Xunit.Abstractions;

namespace Allocator.Clients.Tests;

/// <summary>What an inference takes of the managed heap: with tensors over pooled memory, and with arrays.</summary>
public class OnnxRuntimeTests(ITestOutputHelper output)
{
    private const int Length = 3 * 224 * 224;
    private const int Rounds = 20;

    private static readonly long[] s_shape = [1, 3, 224, 224];

    [Fact]
    public void Run_WithPooledTensors_TakesAThousandthOfWhatArraysTake()
    {
        using InferenceSession session = new(Real.IdentityModel());
        using MemoryAllocator allocator = MemoryAllocator.Create();
        long pooled = Measure(() => RunPooled(session, allocator));
        long arrays = Measure(() => RunWithArrays(session));
        output.WriteLine($"bytes an inference: {pooled:N0} pooled, {arrays:N0} with arrays");

        Assert.InRange(pooled, 1, arrays / 500);
        Assert.InRange(arrays, 2 * Length * sizeof(float), 2.1 * Length * sizeof(float));
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    private static long Measure(Action run)
    {
        run();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < Rounds; i++)
        {
            run();
        }

        return (GC.GetAllocatedBytesForCurrentThread() - before) / Rounds;
    }

    private static void RunPooled(InferenceSession session, MemoryAllocator allocator)
    {
        using IMemoryOwner<float> input = allocator.Allocate<float>(Length);
        using IMemoryOwner<float> output = allocator.Allocate<float>(Length);
        input.Memory.Span.Fill(2);
        using (OrtValue tensor = OrtValue.CreateTensorValueFromMemory(OrtMemoryInfo.DefaultInstance, input.Memory, s_shape))
        using (OrtValue result = OrtValue.CreateTensorValueFromMemory(OrtMemoryInfo.DefaultInstance, output.Memory, s_shape))
        using (RunOptions run = new())
        {
            session.Run(run, ["x"], [tensor], ["y"], [result]);
        }

        Assert.Equal(2, output.Memory.Span[Length - 1]);
    }

    // As most examples show it.
    private static void RunWithArrays(InferenceSession session)
    {
        DenseTensor<float> input = new([1, 3, 224, 224]);
        input.Fill(2);
        using IDisposableReadOnlyCollection<DisposableNamedOnnxValue> results =
            session.Run([NamedOnnxValue.CreateFromTensor("x", input)]);
        float[] output = [.. results[0].AsEnumerable<float>()];

        Assert.Equal(2, output[^1]);
    }
}
