namespace Decisions.Trimming;

/// <summary>The managed side of a program: small objects, each of which lives until a given number of others have been made.</summary>
internal sealed class SmallObjects
{
    private const int Bytes = 100;

    private readonly byte[]?[] _ring;
    private int _next;

    /// <summary>Prepares to have so many alive.</summary>
    public SmallObjects(int alive) => _ring = new byte[alive][];

    /// <summary>Allocates so many.</summary>
    public void Allocate(int count)
    {
        for (int i = 0; i < count; i++)
        {
            _ring[_next] = new byte[Bytes];
            _next = _next + 1 == _ring.Length ? 0 : _next + 1;
        }
    }
}
