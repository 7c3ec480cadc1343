using Allocator.Tests;

namespace Allocator.Clients.Tests;

/// <summary>What the tests need of the real libraries.</summary>
internal static class Real
{
    /// <summary>Gets the path of a progressive JPEG of 1600 x 1200.</summary>
    public static string Photograph => Repository.PathTo("tests", "Allocator.SkiaSharp.Tests", "Pictures", "progressive-420.jpg");

    /// <summary>Skips a test of OpenCvSharp if the machine lacks what its native library links to.</summary>
    public static void SkipWithout(string client)
    {
        bool isMissing = client == "opencvsharp" && !NativeLibrary.TryLoad("libgtk-3.so.0", out _);
        Skip.If(isMissing, "OpenCvSharp's native library needs libgtk-3-0.");
    }

    /// <summary>Returns a model that copies its input "x" to its output "y", 1 x 3 x 224 x 224 floats, in ONNX's protobuf.</summary>
    public static byte[] IdentityModel()
    {
        byte[] node = [.. Text(1, "x"), .. Text(2, "y"), .. Text(4, "Identity")];
        byte[] graph = [.. Field(1, node), .. Text(2, "identity"), .. Field(11, Tensor("x")), .. Field(12, Tensor("y"))];
        byte[] operators = [.. Number(2, 13)];
        return [.. Number(1, 8), .. Field(7, graph), .. Field(8, operators)];
    }

    private static byte[] Tensor(string name)
    {
        byte[] shape = [.. ((int[])[1, 3, 224, 224]).SelectMany(length => Field(1, Number(1, length)))];
        byte[] type = [.. Number(1, 1), .. Field(2, shape)];
        return [.. Text(1, name), .. Field(2, Field(1, type))];
    }

    private static byte[] Text(int field, string text) => Field(field, System.Text.Encoding.UTF8.GetBytes(text));

    private static byte[] Field(int field, byte[] content) => [(byte)((field << 3) | 2), .. Varint(content.Length), .. content];

    private static byte[] Number(int field, int value) => [(byte)(field << 3), .. Varint(value)];

    private static byte[] Varint(int value) => value < 128 ? [(byte)value] : [(byte)(value | 128), .. Varint(value >> 7)];
}
