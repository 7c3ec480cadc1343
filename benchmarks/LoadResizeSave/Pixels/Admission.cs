namespace LoadResizeSave.Pixels;

/// <summary>A job that may begin: the store that lends to it. Disposed when the job is done, it lets others in.</summary>
internal sealed class Admission : IDisposable
{
    private readonly IDisposable? _reservation;

    /// <summary>Admits to <paramref name="store"/>; <paramref name="reservation"/> is what was set aside for the job.</summary>
    public Admission(PixelStore store, IDisposable? reservation = null)
    {
        Store = store;
        _reservation = reservation;
    }

    public PixelStore Store { get; }

    public void Dispose() => _reservation?.Dispose();
}
