namespace Allocator.Concurrency.Interleaving;

/// <summary>What a planted bug does.</summary>
public enum WeaknessKind
{
    /// <summary>A compare-exchange writes without comparing: a read, and some time later a write.</summary>
    ComparesNothing,

    /// <summary>A compare-exchange compares some of the bits.</summary>
    ComparesBits,

    /// <summary>A read gives the default value, whatever is there.</summary>
    ReadsDefault,

    /// <summary>An addition leaves the default value behind, and gives it, whatever others have added meanwhile.</summary>
    Resets,

    /// <summary>A write or a fence does not happen, and an exchange only reads.</summary>
    DoesNothing,

    /// <summary>It is as atomic as before, and orders nothing: a plain read or write, or an exchange that is no fence.</summary>
    OrdersNothing,
}
