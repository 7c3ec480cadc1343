using LoadResizeSave.Codecs;

namespace EstimateFactors.Trials;

/// <summary>A picture of the folder.</summary>
/// <param name="Path">Where it is.</param>
/// <param name="Kind">The library that decodes it, and what of the file's kind matters to memory.</param>
/// <param name="WarmUp">The smallest picture of the same kind, or else of the same library.</param>
/// <param name="Size">Its size.</param>
internal sealed record Picture(string Path, string Kind, string WarmUp, PictureSize Size);
