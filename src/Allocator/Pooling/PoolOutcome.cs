namespace Allocator.Pooling;

/// <summary>How a request to the pool ended.</summary>
internal enum PoolOutcome
{
    /// <summary>Idle memory served it.</summary>
    Hit,

    /// <summary>The pool served it, with memory that the system had to give.</summary>
    Cold,

    /// <summary>The pool has nothing free, or no such run.</summary>
    Full,

    /// <summary>The system refused.</summary>
    Refused,
}
