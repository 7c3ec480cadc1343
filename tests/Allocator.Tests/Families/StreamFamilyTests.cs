namespace Allocator.Tests.Families;

/// <summary>
/// <see cref="PooledMemoryStream"/> as a <see cref="MemoryStream"/>: each demand on streams of each kind in each state comes to the same
/// with both.
/// </summary>
public class StreamFamilyTests
{
    private const int Much = 3 * TestSetup.BlockSize + 11;

    public enum State
    {
        Empty,
        AtTheBeginning,
        Within,
        AtTheEnd,
        BeyondTheEnd,
        InManyBlocks,
        MadeShorter,
        Disposed,
    }

    public static TheoryData<string> Demands => [.. StreamDemands.Names];

    [Theory]
    [MemberData(nameof(Demands))]
    public void EachRequirement_ComparedWithMemoryStream_IsMet(string demand)
    {
        List<string> unmet = [];
        foreach (State state in Enum.GetValues<State>())
        {
            foreach (bool isFixed in (bool[])[false, true])
            {
                using TestSetup setup = new(maximumBlocks: 64);
                using MemoryStream model = isFixed ? Fixed(state) : new MemoryStream();
                using PooledMemoryStream ours = isFixed
                    ? setup.Allocator.AllocateGroup<byte>(LengthOf(state), options: AllocationOptions.Clean).AsStream()
                    : setup.Allocator.CreateStream();
                Bring(model, state, isFixed);
                Bring(ours, state, isFixed);

                string expected = ExpectedAfterDispose(demand, state) ?? StreamDemands.Make(demand, model);
                string actual = StreamDemands.Make(demand, ours);
                if (actual != expected)
                {
                    unmet.Add($"{state}{(isFixed ? ", of a fixed length" : "")}: {actual}\n  in place of {expected}");
                }

                ours.Dispose();
                Assert.Equal(0, setup.Statistics.OutstandingAllocations);
            }
        }

        Assert.True(unmet.Count == 0, string.Join("\n", unmet));
    }

    // Where a closed MemoryStream says that it cannot be written, or works: ours has no memory any more, and says so.
    private static string? ExpectedAfterDispose(string demand, State state) =>
        state == State.Disposed && demand.StartsWith("SetLength", StringComparison.Ordinal)
            ? (demand.EndsWith("negative", StringComparison.Ordinal) || demand.EndsWith("least", StringComparison.Ordinal)
                ? Outcome.Throws<ArgumentOutOfRangeException>("value")
                : Outcome.Throws<ObjectDisposedException>())
                + string.Format(
                    System.Globalization.CultureInfo.InvariantCulture, "; at {0} of {0}: {0}", Outcome.Throws<ObjectDisposedException>())
            : null;

    private static int LengthOf(State state) => state is State.InManyBlocks or State.MadeShorter ? Much : 100;

    private static MemoryStream Fixed(State state) =>
        new(new byte[LengthOf(state)], 0, LengthOf(state), writable: true, publiclyVisible: true);

    private static void Bring(Stream stream, State state, bool isFixed)
    {
        int length = LengthOf(state);
        stream.Write(StreamDemands.Bytes(length), 0, length);
        stream.Position = 0;
        switch (state)
        {
            case State.Empty:
                stream.SetLength(0);
                break;
            case State.Within:
                stream.Position = 17;
                break;
            case State.AtTheEnd:
                stream.Position = length;
                break;
            case State.BeyondTheEnd:
                stream.Position = length + 37;
                break;
            case State.MadeShorter:
                stream.Position = length;
                stream.SetLength(length - TestSetup.BlockSize - 5);
                break;
            case State.Disposed:
                stream.Dispose();
                break;
            default:
                Assert.True(stream.Length == length || isFixed);
                break;
        }
    }
}
