using System;
using System.Collections.Generic;
using System.Numerics;

namespace Interleaving.Search;

/// <summary>
/// The path from the beginning of a scenario to where the search is, with what is left to try on it. Depth first, by replay.
/// Of all orders of steps that do not conflict one is enough: dynamic partial-order reduction (Flanagan and Godefroid, 2005) with sleep sets (Godefroid, 1996).
/// </summary>
internal sealed class SearchTree
{
    private readonly List<SearchNode> _path = [];

    /// <summary>Gets how far the next schedule goes the way of the one before.</summary>
    public int Depth => _path.Count;

    public uint SleepAt(int depth) => _path[depth].Sleep;

    /// <summary>Gives the thread to move; -1 where all that could happen from here has been seen.</summary>
    public int ChooseThread(int depth, uint enabled, uint sleep, int current)
    {
        if (depth < _path.Count)
        {
            CheckReplay(depth, enabled, isWay: false);
            return _path[depth].Chosen;
        }

        uint candidates = enabled & ~sleep;
        if (candidates == 0)
        {
            return -1;
        }

        // Whoever is at it goes on where possible: a change of thread costs most.
        int chosen = current >= 0 && (candidates & (1u << current)) != 0 ? current : BitOperations.TrailingZeroCount(candidates);
        _path.Add(new SearchNode { Enabled = enabled, Slept = sleep, Wanted = 1u << chosen, Chosen = chosen });
        return chosen;
    }

    /// <summary>Gives the way to take, 0 or 1.</summary>
    public int ChooseWay(int depth, uint sleep)
    {
        if (depth < _path.Count)
        {
            CheckReplay(depth, 0b11, isWay: true);
            return _path[depth].Chosen;
        }

        _path.Add(new SearchNode { Enabled = 0b11, Slept = sleep, IsWay = true, Wanted = 0b11 });
        return 0;
    }

    /// <summary>Asks for another thread at an earlier node: the one whose step raced, or one that leads there, or else all.</summary>
    public void AddBacktracking(int depth, uint thread, uint leading)
    {
        SearchNode node = _path[depth];
        uint useful = node.Enabled & (thread | leading);
        if ((useful & thread) != 0)
        {
            node.Wanted |= thread;
        }
        else if (useful == 0)
        {
            node.Wanted |= node.Enabled;
        }
        else if ((useful & node.Wanted) == 0)
        {
            node.Wanted |= useful & (~useful + 1);
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
            uint left = last.Wanted & ~last.Tried & ~(last.IsWay ? 0 : last.Slept);
            if (left != 0)
            {
                last.Chosen = BitOperations.TrailingZeroCount(left);
                return true;
            }

            _path.RemoveAt(_path.Count - 1);
        }

        return false;
    }

    private void CheckReplay(int depth, uint enabled, bool isWay)
    {
        if (_path[depth].Enabled != enabled || _path[depth].IsWay != isWay)
        {
            throw new InvalidOperationException($"The scenario is not the same each time: at step {depth} the threads {enabled:b} can move, and {_path[depth].Enabled:b} could before.");
        }
    }
}
