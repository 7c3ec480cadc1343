using System.Numerics;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Interleaving.Search;

/// <summary>
/// The path from the beginning of a scenario to where the search is, with what is left to try on it. Depth first, by replay.
/// Of all orders of steps that do not conflict one is enough: dynamic partial-order reduction by source sets (Abdulla, Aronis, Jonsson and
/// Sagonas, 2014), with sleep sets (Godefroid, 1996).
/// </summary>
internal sealed class SearchTree
{
    private readonly List<SearchNode> _path = [];
    private readonly bool _leavesOutEquivalents;

    public SearchTree(bool leavesOutEquivalents) => _leavesOutEquivalents = leavesOutEquivalents;

    /// <summary>Gets how far the next schedule goes the way of the one before.</summary>
    public int Depth => _path.Count;

    public uint SleepAt(int depth) => _leavesOutEquivalents ? _path[depth].Sleep : 0;

    /// <summary>Chooses the lane to move; -1 where all that could happen from here has been seen.</summary>
    /// <returns>False where other lanes could move when the search came here before.</returns>
    public bool TryChooseLane(int depth, uint enabled, uint sleep, int first, out int chosen)
    {
        chosen = -1;
        if (depth < _path.Count)
        {
            return TryReplay(depth, enabled, out chosen);
        }

        uint candidates = enabled & ~sleep;
        if (candidates == 0)
        {
            return true;
        }

        // The one that is asked for, if possible: the running thread, for a change of thread costs most.
        chosen = first >= 0 && (candidates & (1u << first)) != 0 ? first : BitOperations.TrailingZeroCount(candidates);
        _path.Add(
            new SearchNode { Enabled = enabled, Slept = sleep, Wanted = _leavesOutEquivalents ? 1u << chosen : enabled, Chosen = chosen });
        return true;
    }

    /// <summary>Gives whether the step that follows from the choice is the one that followed from it before.</summary>
    public bool IsAsBefore(int depth, in StepSite site)
    {
        SearchNode node = _path[depth];
        node.Site ??= site;
        return node.Site == site;
    }

    /// <summary>
    /// Asks for one of some threads at an earlier node, unless one of them is asked for, or asleep because all that begins with it has
    /// been seen.
    /// </summary>
    public void AddBacktracking(int depth, uint threads)
    {
        SearchNode node = _path[depth];
        uint able = threads & node.Enabled;
        if (able == 0)
        {
            node.Wanted |= node.Enabled;
        }
        else if ((able & (node.Wanted | node.Slept)) == 0)
        {
            node.Wanted |= able & (~able + 1);
        }
    }

    /// <summary>Forgets what was found beyond a depth: the schedule is run again.</summary>
    public void Cut(int depth) => _path.RemoveRange(depth, _path.Count - depth);

    /// <summary>Goes back to the last node from which something is left to try. False where there is none: all has been seen.</summary>
    public bool TryGoOn()
    {
        while (_path.Count > 0)
        {
            SearchNode last = _path[^1];
            last.Tried |= 1u << last.Chosen;
            uint left = last.Wanted & ~last.Tried & ~last.Slept;
            if (left != 0)
            {
                last.Chosen = BitOperations.TrailingZeroCount(left);
                last.Site = null;
                return true;
            }

            _path.RemoveAt(_path.Count - 1);
        }

        return false;
    }

    private bool TryReplay(int depth, uint enabled, out int chosen)
    {
        SearchNode node = _path[depth];
        bool isAsBefore = node.Enabled == enabled;
        chosen = isAsBefore ? node.Chosen : -1;
        return isAsBefore;
    }
}
