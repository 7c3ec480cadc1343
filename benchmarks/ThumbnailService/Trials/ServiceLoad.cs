namespace ThumbnailService.Trials;

/// <summary>What the user asked for, checked.</summary>
/// <param name="Input">The folder of pictures; null: synthetic photographs are made first.</param>
internal sealed record ServiceLoad(string? Input, int LimitMegabytes, int Requests, int Clients, bool IsQuick);
