using Allocator.Guarding;

namespace Allocator.Tests.Guarding;

public class SafetySamplerTests
{
    [Theory]
    [InlineData(2)]
    [InlineData(10)]
    [InlineData(1000)]
    public void Chooses_ManyRents_ChoosesOneInTheInterval(int interval)
    {
        SafetySampler.Seed(12345);
        SafetySampler sampler = new(interval);
        int rents = 2000 * interval;
        int chosen = Enumerable.Range(0, rents).Count(_ => sampler.Chooses());

        // Binomial: four standard deviations of a count of 2,000 are 179.
        Assert.InRange(chosen, 1821, 2179);
    }

    [Fact]
    public void Chooses_IntervalOfOne_ChoosesAll()
    {
        SafetySampler sampler = new(1);
        Assert.All(Enumerable.Range(0, 1000), _ => Assert.True(sampler.Chooses()));
    }

    [Fact]
    public void Chooses_TwoRatesOnOneThread_KeepsBoth()
    {
        SafetySampler.Seed(777);
        SafetySampler often = new(10);
        SafetySampler seldom = new(1000);
        int chosenOften = 0;
        int chosenSeldom = 0;
        for (int i = 0; i < 1_000_000; i++)
        {
            chosenOften += often.Chooses() ? 1 : 0;
            chosenSeldom += seldom.Chooses() ? 1 : 0;
        }

        Assert.InRange(chosenOften, 98_800, 101_200);
        Assert.InRange(chosenSeldom, 870, 1130);
    }

    [Fact]
    public void Chooses_ThreadsOfFewRents_AreSeenAsOftenAsOthers()
    {
        SafetySampler sampler = new(20);
        int chosen = 0;
        for (int i = 0; i < 400; i++)
        {
            // Each begins with a state of its own, as short-lived threads do.
            Thread thread = new(() =>
            {
                for (int rent = 0; rent < 5; rent++)
                {
                    chosen += sampler.Chooses() ? 1 : 0;
                }
            });
            thread.Start();
            thread.Join();
        }

        // 100 are expected; the seeds are not fixed, so five standard deviations.
        Assert.InRange(chosen, 50, 150);
    }
}
