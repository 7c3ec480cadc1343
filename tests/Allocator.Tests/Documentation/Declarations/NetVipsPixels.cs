// Written by hand from https://kleisauke.github.io/net-vips: the members that the guide uses. Not the library, but it calls libvips as
// NetVips does: operations by name, with their arguments as properties, through libvips' cache of operations.
#pragma warning disable CS1591
using System;
using System.Runtime.InteropServices;

namespace NetVips;

public static class Enums
{
    public enum BandFormat
    {
        Uchar = 0,
    }
}

public sealed class VipsException : Exception
{
    public VipsException()
        : base(Native.TakeError())
    {
    }
}

public class Image : IDisposable
{
    private IntPtr _image;

    private Image(IntPtr image) => _image = image != IntPtr.Zero ? image : throw new VipsException();

    public int Width => Native.vips_image_get_width(_image);

    public int Height => Native.vips_image_get_height(_image);

    public static Image NewFromMemory(IntPtr data, ulong size, int width, int height, int bands, Enums.BandFormat format)
    {
        Native.Start();
        return new Image(Native.vips_image_new_from_memory(data, (UIntPtr)size, width, height, bands, (int)format));
    }

    public static Image NewFromMemoryCopy(IntPtr data, ulong size, int width, int height, int bands, Enums.BandFormat format)
    {
        Native.Start();
        return new Image(Native.vips_image_new_from_memory_copy(data, (UIntPtr)size, width, height, bands, (int)format));
    }

    public Image CopyMemory() => new(Native.vips_image_copy_memory(_image));

    public Image Resize(double scale)
    {
        using Operation operation = new("resize");
        operation.Set("in", _image);
        operation.Set("scale", scale);
        return new Image(operation.Build("out"));
    }

    public void WriteToFile(string filename)
    {
        using Operation operation = new(Marshal.PtrToStringUTF8(Native.vips_foreign_find_save(filename)) ?? throw new VipsException());
        operation.Set("in", _image);
        operation.Set("filename", filename);
        operation.Build(output: null);
    }

    public byte[] WriteToMemory()
    {
        IntPtr memory = Native.vips_image_write_to_memory(_image, out UIntPtr size);
        if (memory == IntPtr.Zero)
        {
            throw new VipsException();
        }

        byte[] pixels = new byte[(int)size];
        Marshal.Copy(memory, pixels, 0, pixels.Length);
        Native.g_free(memory);
        return pixels;
    }

    public void Dispose()
    {
        if (_image != IntPtr.Zero)
        {
            Native.g_object_unref(_image);
            _image = IntPtr.Zero;
        }

        GC.SuppressFinalize(this);
    }
}

internal sealed class Operation : IDisposable
{
    private const nuint Double = 15 << 2;
    private const nuint String = 16 << 2;

    private IntPtr _operation;

    public Operation(string name)
    {
        _operation = Native.vips_operation_new(name);
        if (_operation == IntPtr.Zero)
        {
            throw new VipsException();
        }
    }

    public void Set(string name, IntPtr image) => Set(name, Native.vips_image_get_type(), (ref Value value) =>
        Native.g_value_set_object(ref value, image));

    public void Set(string name, double number) => Set(name, Double, (ref Value value) => Native.g_value_set_double(ref value, number));

    public void Set(string name, string text) => Set(name, String, (ref Value value) => Native.g_value_set_string(ref value, text));

    public IntPtr Build(string? output)
    {
        IntPtr built = Native.vips_cache_operation_build(_operation);
        if (built == IntPtr.Zero)
        {
            Native.vips_object_unref_outputs(_operation);
            throw new VipsException();
        }

        // Another object where the cache has the same operation already.
        Native.g_object_unref(_operation);
        _operation = built;
        IntPtr result = IntPtr.Zero;
        if (output is not null)
        {
            Value value = default;
            Native.g_value_init(ref value, Native.vips_image_get_type());
            Native.g_object_get_property(_operation, output, ref value);
            result = Native.g_object_ref(Native.g_value_get_object(ref value));
            Native.g_value_unset(ref value);
        }

        Native.vips_object_unref_outputs(_operation);
        return result;
    }

    public void Dispose() => Native.g_object_unref(_operation);

    private delegate void Fill(ref Value value);

    private void Set(string name, nuint type, Fill fill)
    {
        Value value = default;
        Native.g_value_init(ref value, type);
        fill(ref value);
        Native.g_object_set_property(_operation, name, ref value);
        Native.g_value_unset(ref value);
    }
}

/// <summary>A <c>GValue</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct Value
{
    public nuint Type;
    public long Data0;
    public long Data1;
}

/// <summary>The functions of libvips and of GLib.</summary>
internal static class Native
{
    private const string Vips = "libvips.so.42";
    private const string Objects = "libgobject-2.0.so.0";

    public static void Start()
    {
        if (vips_init("NetVips") != 0)
        {
            throw new VipsException();
        }
    }

    public static string TakeError()
    {
        string error = Marshal.PtrToStringUTF8(vips_error_buffer()) ?? "";
        vips_error_clear();
        return error;
    }

    [DllImport(Vips)]
    public static extern int vips_init([MarshalAs(UnmanagedType.LPUTF8Str)] string name);

    [DllImport(Vips)]
    public static extern IntPtr vips_error_buffer();

    [DllImport(Vips)]
    public static extern void vips_error_clear();

    [DllImport(Vips)]
    public static extern void vips_cache_drop_all();

    [DllImport(Vips)]
    public static extern IntPtr vips_image_new_from_memory(IntPtr data, UIntPtr size, int width, int height, int bands, int format);

    [DllImport(Vips)]
    public static extern IntPtr vips_image_new_from_memory_copy(IntPtr data, UIntPtr size, int width, int height, int bands, int format);

    [DllImport(Vips)]
    public static extern IntPtr vips_image_copy_memory(IntPtr image);

    [DllImport(Vips)]
    public static extern IntPtr vips_image_write_to_memory(IntPtr image, out UIntPtr size);

    [DllImport(Vips)]
    public static extern int vips_image_get_width(IntPtr image);

    [DllImport(Vips)]
    public static extern int vips_image_get_height(IntPtr image);

    [DllImport(Vips)]
    public static extern nuint vips_image_get_type();

    [DllImport(Vips)]
    public static extern IntPtr vips_foreign_find_save([MarshalAs(UnmanagedType.LPUTF8Str)] string name);

    [DllImport(Vips)]
    public static extern IntPtr vips_operation_new([MarshalAs(UnmanagedType.LPUTF8Str)] string name);

    [DllImport(Vips)]
    public static extern IntPtr vips_cache_operation_build(IntPtr operation);

    [DllImport(Vips)]
    public static extern void vips_object_unref_outputs(IntPtr operation);

    [DllImport(Objects)]
    public static extern IntPtr g_value_init(ref Value value, nuint type);

    [DllImport(Objects)]
    public static extern void g_value_unset(ref Value value);

    [DllImport(Objects)]
    public static extern void g_value_set_object(ref Value value, IntPtr item);

    [DllImport(Objects)]
    public static extern IntPtr g_value_get_object(ref Value value);

    [DllImport(Objects)]
    public static extern void g_value_set_double(ref Value value, double number);

    [DllImport(Objects)]
    public static extern void g_value_set_string(ref Value value, [MarshalAs(UnmanagedType.LPUTF8Str)] string text);

    [DllImport(Objects)]
    public static extern void g_object_set_property(IntPtr item, [MarshalAs(UnmanagedType.LPUTF8Str)] string name, ref Value value);

    [DllImport(Objects)]
    public static extern void g_object_get_property(IntPtr item, [MarshalAs(UnmanagedType.LPUTF8Str)] string name, ref Value value);

    [DllImport(Objects)]
    public static extern IntPtr g_object_ref(IntPtr item);

    [DllImport(Objects)]
    public static extern void g_object_unref(IntPtr item);

    [DllImport("libglib-2.0.so.0")]
    public static extern void g_free(IntPtr memory);
}
