using CsCheck;

namespace Allocator.Tests;

/// <summary>
/// The same random operations on a stream of ours and on a <see cref="MemoryStream"/>: same results, same exceptions, same content.
/// CsCheck finds the shortest sequence that fails, and prints its seed.
/// </summary>
public class PooledMemoryStreamOracleTests
{
    private const int Reach = 6 * TestSetup.BlockSize;

    private static readonly Gen<int> s_lengths =
        Gen.OneOf(Gen.Int[0, 2], Gen.Int[0, 99], Gen.Int[0, TestSetup.BlockSize - 1], Gen.Int[0, 2 * TestSetup.BlockSize - 1]);

    private static readonly Gen<(int Operation, int Length, int Place)[]> s_steps =
        Gen.Select(Gen.Int[0, 11], s_lengths, Gen.Int[0, Reach - 1]).Array[1, 150];

    [Theory]
    [InlineData(0)]
    [InlineData(70_000)]
    [InlineData(1)]
    public void RandomOperations_ComparedWithMemoryStream_AreTheSame(int fixedLength) =>
        s_steps.Sample(steps => Compare(steps, fixedLength), iter: 60);

    private static void Compare((int Operation, int Length, int Place)[] steps, int fixedLength)
    {
        using TestSetup setup = new(maximumBlocks: 32);

        // What others left in the memory must show nowhere.
        using (PooledMemoryStream dirty = setup.Allocator.CreateStream(Reach))
        {
            dirty.Write(PooledMemoryStreamTests.Bytes(Reach));
        }

        using PooledMemoryStream stream = fixedLength == 0
            ? setup.Allocator.CreateStream()
            : setup.Allocator.AllocateGroup<byte>(fixedLength, options: AllocationOptions.Clean).AsStream();
        using MemoryStream oracle = fixedLength == 0 ? new MemoryStream() : new MemoryStream(new byte[fixedLength]);
        for (int i = 0; i < steps.Length; i++)
        {
            (int operation, int length, int place) = steps[i];
            byte[] data = PooledMemoryStreamTests.Bytes(length + i)[i..];
            string step = $"operation {i}, which is {operation} of {length} at {oracle.Position} of {oracle.Length}, place {place}";

            (object? Result, Type? Exception) expected = Do(oracle, operation, data, place);
            (object? Result, Type? Exception) actual = Do(stream, operation, data, place);

            Assert.True(expected.Exception == actual.Exception, $"{step}: {actual.Exception} in place of {expected.Exception}");
            Assert.True(Equals(expected.Result, actual.Result), $"{step}: {actual.Result} in place of {expected.Result}");
            Assert.True(
                (oracle.Position, oracle.Length) == (stream.Position, stream.Length),
                $"{step}: {stream.Position} of {stream.Length} in place of {oracle.Position} of {oracle.Length}");
            Assert.True(
                oracle.ToArray().AsSpan().SequenceEqual(stream.AsReadOnlySequence().ToArray()), $"{step}: the contents differ");
        }

        stream.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    private static (object? Result, Type? Exception) Do(Stream stream, int operation, byte[] data, long place)
    {
        try
        {
            return (Do(operation, stream, data, place), null);
        }
        catch (Exception e) when (e is IOException or ArgumentException or NotSupportedException)
        {
            return (null, e.GetType());
        }
    }

    private static object? Do(int operation, Stream stream, byte[] data, long place)
    {
        switch (operation)
        {
            case 0:
                stream.Write(data, 0, data.Length);
                return null;
            case 1:
                stream.Write(data.AsSpan());
                return null;
            case 2:
                return stream.WriteAsync(data).IsCompletedSuccessfully;
            case 3:
                stream.WriteByte((byte)place);
                return null;
            case 4:
                int count = stream.Read(data, 0, data.Length);
                return (count, Convert.ToHexString(data, 0, count));
            case 5:
                return stream.ReadByte();
            case 6:
                return stream.ReadAsync(data.AsMemory()).Result;
            case 7:
                stream.Position = place;
                return null;
            case 8:
                return stream.Seek(place - Reach / 2, (SeekOrigin)(data.Length % 3));
            case 9:
                stream.SetLength(place);
                return null;
            case 10:
                MemoryStream target = new();
                stream.CopyTo(target);
                return Convert.ToHexString(target.ToArray());
            default:
                WriteInPlace(stream, data, (int)(place % 1000));
                return null;
        }
    }

    private static void WriteInPlace(Stream stream, byte[] data, int sizeHint)
    {
        if (data.Length == 0)
        {
            return;
        }

        if (stream is IBufferWriter<byte> writer)
        {
            data.CopyTo(writer.GetSpan(Math.Max(sizeHint, data.Length)));
            writer.Advance(data.Length);
        }
        else if (stream is MemoryStream { Capacity: int capacity } oracle
            && stream.Position + Math.Max(sizeHint, data.Length) > capacity
            && IsFixed(oracle))
        {
            // Where there is no room for what is asked for, none is given, although less was going to be written.
            throw new NotSupportedException();
        }
        else
        {
            stream.Write(data);
        }
    }

    private static bool IsFixed(MemoryStream stream)
    {
        int capacity = stream.Capacity;
        try
        {
            stream.Capacity = capacity + 1;
            stream.Capacity = capacity;
            return false;
        }
        catch (NotSupportedException)
        {
            return true;
        }
    }
}
