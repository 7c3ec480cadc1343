namespace LoadResizeSave.Codecs;

/// <summary>Says, in words for whoever ran the program, why a file cannot be decoded. The file is then reported and skipped.</summary>
internal sealed class UnreadablePictureException : Exception
{
    public UnreadablePictureException(string reason)
        : base(reason)
    {
    }
}
