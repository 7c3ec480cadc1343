using Allocator.Budgeting;

namespace Allocator.Tests.Fakes;

/// <summary>The figures of a job of all sizes together.</summary>
internal static class LearnedJobFigures
{
    extension(LearnedJob job)
    {
        public long Jobs => job.Total.Ended;

        public long Failures => job.Total.Refused;

        public long LearnedBytes => job.Total.AllocatedBytes;

        public long ElsewhereBytes => job.Total.ElsewhereBytes;

        private MemoryJobStatistics Total =>
            job.ReadSizes().DefaultIfEmpty().Aggregate(static (one, other) => MemoryJobStatistics.Merge(one, other));
    }
}
