using System.Text;

namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>The report of one schedule, for people.</summary>
internal sealed class Trace
{
    private readonly List<(string Thread, StepSite Site, string Note)> _lines = [];

    // Numbers in order of appearance, in place of addresses.
    private readonly Dictionary<object, int> _objects = new(ReferenceEqualityComparer.Instance);

    public void Add(string thread, in StepSite site) => _lines.Add((thread, site, ""));

    public void Note<T>(T before, T after)
    {
        if (_lines.Count == 0)
        {
            return;
        }

        string was = Show(before);
        string becomes = Show(after);
        (string thread, StepSite site, string note) = _lines[^1];
        _lines[^1] = (thread, site, was == becomes ? $"{note} = {was}" : $"{note} {was} → {becomes}");
    }

    public void Clear() => _lines.Clear();

    public override string ToString()
    {
        int width = _lines.Count == 0 ? 0 : _lines.Max(static line => line.Thread.Length);
        StringBuilder text = new();
        for (int i = 0; i < _lines.Count; i++)
        {
            (string thread, StepSite site, string note) = _lines[i];
            text.Append($"{i + 1,4}  {thread.PadRight(width)}  {site} {note}\n");
        }

        return text.ToString();
    }

    private string Show<T>(T value)
    {
        switch (value)
        {
            case null:
                return "null";
            case long number when number is > 0xFFFF or < 0:
                return $"0x{number:x}";
            case ValueType:
                return value.ToString()!;
        }

        if (!_objects.TryGetValue(value, out int number1))
        {
            number1 = _objects.Count + 1;
            _objects.Add(value, number1);
        }

        string name = value.GetType().Name;
        return Unsafe.As<T, object>(ref value) is Array array ? $"{name} of {array.Length} #{number1}" : $"{name} #{number1}";
    }
}
