namespace LoadResizeSave.Running;

/// <summary>A picture that went all the way: its name, the size that was decoded, and the hash of the file that was written.</summary>
internal sealed record SavedPicture(string Name, long SourcePixels, string Sha256);
