namespace Allocator.Concurrency.Engine;

/// <summary>A few random operations on two numbers by each of three threads. What they saw and left is what came out.</summary>
internal sealed class RandomProgram : Scenario
{
    private readonly int[] _cells = new int[2];
    private readonly object _lock = new();
    private int _locked;
    private readonly string[] _seen;
    private readonly ISet<string> _outcomes;

    public RandomProgram(int seed, int threads, int operations, ISet<string> outcomes)
    {
        Random random = new(seed);
        _seen = new string[threads];
        _outcomes = outcomes;
        for (int thread = 0; thread < threads; thread++)
        {
            int self = thread;
            Action[] actions = new Action[operations];
            for (int i = 0; i < operations; i++)
            {
                actions[i] = Choose(random, self);
            }

            Thread($"thread {thread}", () => Array.ForEach(actions, static action => action()));
        }
    }

    public override void Check() => _outcomes.Add($"{string.Join('|', _seen)} {_cells[0]} {_cells[1]} {_locked}");

    private Action Choose(Random random, int self)
    {
        int cell = random.Next(2);
        int value = random.Next(1, 4);
        return random.Next(6) switch
        {
            0 or 1 => () => See(self, Volatile.Read(ref _cells[cell])),
            2 => () => Volatile.Write(ref _cells[cell], value),
            3 => () => See(self, Interlocked.Add(ref _cells[cell], value)),
            4 => () => See(self, Interlocked.CompareExchange(ref _cells[cell], value, value - 1)),
            _ => () =>
            {
                lock (_lock)
                {
                    _locked = 2 * _locked + value;
                    See(self, _locked);
                }
            }
            ,
        };
    }

    private void See(int self, int value) => _seen[self] += $"{value},";
}
