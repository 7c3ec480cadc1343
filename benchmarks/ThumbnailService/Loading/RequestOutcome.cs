namespace ThumbnailService.Loading;

/// <summary>What became of one request.</summary>
/// <param name="File">The picture that was sent.</param>
/// <param name="Seconds">From its first byte to the answer's last.</param>
/// <param name="Thumbnail">The hash of what came back; null where it failed.</param>
/// <param name="Failure">Why it failed.</param>
internal sealed record RequestOutcome(string File, double Seconds, string? Thumbnail, string? Failure);
