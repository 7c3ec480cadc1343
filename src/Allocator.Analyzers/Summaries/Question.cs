using System.Collections.Concurrent;
using System.Runtime.CompilerServices;

namespace Allocator.Analyzers.Summaries;

/// <summary>
/// One question, with the questions that it leads to. They may lead back to one that has no answer yet, if methods call each other: then
/// an answer is assumed. Answers that used the assumed one are dropped when the real one is known, because they depend on which of these
/// methods was asked about first. So each subject is examined once per cycle that contains it, however many paths lead to it.
/// </summary>
internal sealed class Question<TSubject, TAnswer>
    where TSubject : notnull
{
    private readonly ConcurrentDictionary<TSubject, TAnswer> _answers;

    // Questions are numbered in the order in which they are asked. RestsOn is the earliest one that the answer depends on.
    private readonly Dictionary<TSubject, (TAnswer Answer, int RestsOn)> _open;
    private int _asked;
    private int _restsOn = int.MaxValue;

    public Question(ConcurrentDictionary<TSubject, TAnswer> answers, IEqualityComparer<TSubject>? comparer = null)
    {
        _answers = answers;
        _open = new Dictionary<TSubject, (TAnswer, int)>(comparer ?? EqualityComparer<TSubject>.Default);
    }

    /// <summary>Returns the answer about a subject: an earlier one, or what <paramref name="find"/> finds.</summary>
    public TAnswer Ask(TSubject subject, TAnswer assumed, Func<TAnswer> find)
    {
        if (_answers.TryGetValue(subject, out TAnswer? known))
        {
            return known;
        }

        if (_open.TryGetValue(subject, out (TAnswer Answer, int RestsOn) open))
        {
            _restsOn = Math.Min(_restsOn, open.RestsOn);
            return open.Answer;
        }

        RuntimeHelpers.EnsureSufficientExecutionStack();
        int number = _asked++;
        int outerRestsOn = _restsOn;
        _restsOn = int.MaxValue;
        _open.Add(subject, (assumed, number));
        TAnswer answer = find();
        if (_restsOn < number)
        {
            _open[subject] = (answer, _restsOn);
            _restsOn = Math.Min(_restsOn, outerRestsOn);
            return answer;
        }

        Close(subject, number);
        _restsOn = outerRestsOn;
        return _answers.GetOrAdd(subject, answer);
    }

    // Answers that were based on the assumed one are computed again when needed.
    private void Close(TSubject subject, int number)
    {
        _open.Remove(subject);
        if (_restsOn == number)
        {
            foreach (TSubject other in _open.Where(pair => pair.Value.RestsOn >= number).Select(pair => pair.Key).ToArray())
            {
                _open.Remove(other);
            }
        }
    }
}
