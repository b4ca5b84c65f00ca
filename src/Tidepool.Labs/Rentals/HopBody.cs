namespace Tidepool.Labs;

/// <summary>Renters that give up their thread between rent and return: twice as many as cores, each a chain of hops.</summary>
internal static class HopBody<TSubject, TItem>
    where TSubject : struct, IRentalSubject<TSubject, TItem>
    where TItem : struct
{
    /// <summary>Renters at the same time.</summary>
    public static int Renters { get; } = 2 * Environment.ProcessorCount;

    /// <summary>Lets all renters together do that many operations.</summary>
    public static Task RunAsync(int operations, int length)
    {
        var renters = new Task[Renters];
        for (int renter = 0; renter < renters.Length; renter++)
        {
            int share = (operations / Renters) + (renter < operations % Renters ? 1 : 0);
            renters[renter] = Task.Run(() => RentAsync(share, length));
        }

        return Task.WhenAll(renters);
    }

    private static async Task RentAsync(int operations, int length)
    {
        TSubject subject = TSubject.Open(length);
        for (int i = 0; i < operations; i++)
        {
            TItem item = subject.Rent(length);
            subject.Touch(item);
            await Task.Yield();
            subject.Return(item);
        }

        TSubject.Close(ref subject);
    }
}
