namespace Tidepool.Models.Scheduling;

/// <summary>Switches at each point with one probability; a small one gives long runs, as real machines do.</summary>
public sealed class RandomStrategy(Random random, double switchRate) : IStrategy
{
    public int Choose(int current, IReadOnlyList<int> runnable, bool isWaiting)
    {
        ArgumentNullException.ThrowIfNull(runnable);
        if (current >= 0 && !isWaiting && random.NextDouble() >= switchRate)
        {
            return current;
        }

        int choice = runnable[random.Next(runnable.Count)];
        return isWaiting && choice == current && runnable.Count > 1
            ? runnable.Where(t => t != current).ElementAt(random.Next(runnable.Count - 1))
            : choice;
    }
}
