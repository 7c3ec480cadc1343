namespace ThumbnailService.Loading;

/// <summary>What became of one request.</summary>
/// <param name="Thumbnail">The hash of what came back; null where it failed.</param>
internal sealed record RequestOutcome(string File, double Seconds, string? Thumbnail, string? Failure);
