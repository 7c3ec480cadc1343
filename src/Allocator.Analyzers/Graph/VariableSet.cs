namespace Allocator.Analyzers.Graph;

/// <summary>A set of variables.</summary>
internal sealed class VariableSet
{
    private const int BitsPerWord = 64;

    private readonly ulong[] _words;

    public VariableSet(int variables)
        : this(new ulong[(variables + BitsPerWord - 1) / BitsPerWord])
    {
    }

    private VariableSet(ulong[] words) => _words = words;

    public bool Contains(int variable) => (_words[variable / BitsPerWord] >> (variable % BitsPerWord) & 1) != 0;

    public void Add(int variable) => _words[variable / BitsPerWord] |= 1UL << (variable % BitsPerWord);

    public void Remove(int variable) => _words[variable / BitsPerWord] &= ~(1UL << (variable % BitsPerWord));

    /// <summary>Adds all of <paramref name="other"/>.</summary>
    /// <returns>Whether that was anything new.</returns>
    public bool Add(VariableSet other)
    {
        ulong added = 0;
        for (int i = 0; i < _words.Length; i++)
        {
            added |= other._words[i] & ~_words[i];
            _words[i] |= other._words[i];
        }

        return added != 0;
    }

    public VariableSet Clone() => new((ulong[])_words.Clone());
}
