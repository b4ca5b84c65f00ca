namespace Tidepool.Labs;

/// <summary>Rents many objects, then returns them all, last one first; an operation is one object.</summary>
/// <param name="count">How many.</param>
/// <param name="touches">Whether each is touched in between.</param>
internal sealed class DrainBody<TSubject, TItem>(int count, bool touches = false)
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

            for (int i = 0; touches && i < held.Length; i++)
            {
                subject.Touch(held[i]);
            }

            for (int i = held.Length - 1; i >= 0; i--)
            {
                subject.Return(held[i]);
            }
        }

        TSubject.Close(ref subject);
    }
}
