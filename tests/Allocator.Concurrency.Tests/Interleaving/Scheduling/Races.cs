namespace Allocator.Concurrency.Interleaving.Scheduling;

/// <summary>Which lanes can go first, so that the last step comes before an earlier one that it raced with.</summary>
internal static class Races
{
    /// <summary>
    /// Gives the lanes that can begin, from the state before the earlier step, with what did not happen after it and with the last step
    /// behind: each of them leads to that order, and one is enough ("source sets", Abdulla and others, 2014).
    /// </summary>
    /// <param name="steps">The steps so far; the last has no clock yet.</param>
    /// <param name="earlier">The index of the step that raced with the last one.</param>
    /// <param name="before">How much of each lane happened before the last step by its own lane's past.</param>
    public static uint FindInitials(List<ExecutedStep> steps, int earlier, int[] before)
    {
        ExecutedStep last = steps[^1];
        ExecutedStep raced = steps[earlier];
        List<ExecutedStep> kept = [];
        uint begun = 0;
        uint initials = 0;
        bool lastIsFree = true;
        for (int i = earlier + 1; i < last.Index; i++)
        {
            ExecutedStep step = steps[i];
            if (raced.HappenedBefore(step.Clock))
            {
                continue;
            }

            uint thread = 1u << step.Lane;
            bool isFree = (begun & thread) == 0 && !kept.Exists(other => other.HappenedBefore(step.Clock));
            initials |= isFree ? thread : 0;
            begun |= thread;
            kept.Add(step);
            lastIsFree &= !step.HappenedBefore(before) && !step.Step.Conflicts(last.Step);
        }

        uint own = 1u << last.Lane;
        return initials | ((begun & own) == 0 && lastIsFree ? own : 0);
    }
}
