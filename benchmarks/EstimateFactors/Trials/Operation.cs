namespace EstimateFactors.Trials;

/// <summary>What is done with a picture.</summary>
internal enum Operation
{
    /// <summary>To pixels.</summary>
    Decode,

    /// <summary>To pixels, and those to a smaller picture beside them.</summary>
    DecodeResize,

    /// <summary>The same, after which the large picture goes and the small one becomes a JPEG.</summary>
    DecodeResizeEncode,
}
