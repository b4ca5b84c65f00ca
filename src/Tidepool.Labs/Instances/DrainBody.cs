namespace Tidepool.Labs;

/// <summary>Rents many objects, then returns them all, last one first; an operation is one object.</summary>
internal sealed class DrainBody<TSubject, TItem>(int count)
    where TSubject : struct, IRentalSubject<TSubject, TItem>
    where TItem : struct
{
    private readonly TItem[] _held = new TItem[count];

    /// <summary>Runs that many operations, a multiple of the count.</summary>
    public void Run(int operations)
    {
        TSubject subject = TSubject.Open(0);
        var held = _held;
        for (int done = 0; done < operations; done += held.Length)
        {
            for (int i = 0; i < held.Length; i++)
            {
                held[i] = subject.Rent(0);
            }

            for (int i = held.Length - 1; i >= 0; i--)
            {
                subject.Return(held[i]);
            }
        }

        TSubject.Close(ref subject);
    }
}
