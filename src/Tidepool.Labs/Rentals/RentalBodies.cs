using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>The loops over rent, touch and return of one subject; an operation is one of each.</summary>
internal static class RentalBodies<TSubject, TItem>
    where TSubject : struct, IRentalSubject<TSubject, TItem>, allows ref struct
    where TItem : struct, allows ref struct
{
    /// <summary>Buffers held at once in the deep loops.</summary>
    public const int Depth = 8;

    /// <summary>The loop of a pattern at depth 1 or 8.</summary>
    public static Action<int, int> Of(string pattern, int depth) => (pattern, depth) switch
    {
        (RentalPattern.Inlined, 1) => Inlined,
        (RentalPattern.Inlined, Depth) => InlinedDeep,
        (RentalPattern.CallSite, 1) => CallSite,
        (RentalPattern.CallSite, Depth) => CallSiteDeep,
        _ => throw new ArgumentException($"There is no loop for pattern '{pattern}' at depth {depth}."),
    };

    private static void Inlined(int operations, int length)
    {
        TSubject subject = TSubject.Open(length);
        for (int i = 0; i < operations; i++)
        {
            TItem item = subject.Rent(length);
            subject.Touch(item);
            subject.Return(item);
        }

        TSubject.Close(ref subject);
    }

    private static void InlinedDeep(int operations, int length)
    {
        TSubject subject = TSubject.Open(length);
        for (int i = 0; i < operations; i += Depth)
        {
            TItem a = subject.Rent(length);
            TItem b = subject.Rent(length);
            TItem c = subject.Rent(length);
            TItem d = subject.Rent(length);
            TItem e = subject.Rent(length);
            TItem f = subject.Rent(length);
            TItem g = subject.Rent(length);
            TItem h = subject.Rent(length);
            subject.Touch(a);
            subject.Touch(b);
            subject.Touch(c);
            subject.Touch(d);
            subject.Touch(e);
            subject.Touch(f);
            subject.Touch(g);
            subject.Touch(h);
            subject.Return(h);
            subject.Return(g);
            subject.Return(f);
            subject.Return(e);
            subject.Return(d);
            subject.Return(c);
            subject.Return(b);
            subject.Return(a);
        }

        TSubject.Close(ref subject);
    }

    private static void CallSite(int operations, int length)
    {
        TSubject subject = TSubject.Open(length);
        for (int i = 0; i < operations; i++)
        {
            TItem item = RentSite(ref subject, length);
            subject.Touch(item);
            ReturnSite(ref subject, item);
        }

        TSubject.Close(ref subject);
    }

    private static void CallSiteDeep(int operations, int length)
    {
        TSubject subject = TSubject.Open(length);
        for (int i = 0; i < operations; i += Depth)
        {
            TItem a = RentSite(ref subject, length);
            TItem b = RentSite(ref subject, length);
            TItem c = RentSite(ref subject, length);
            TItem d = RentSite(ref subject, length);
            TItem e = RentSite(ref subject, length);
            TItem f = RentSite(ref subject, length);
            TItem g = RentSite(ref subject, length);
            TItem h = RentSite(ref subject, length);
            subject.Touch(a);
            subject.Touch(b);
            subject.Touch(c);
            subject.Touch(d);
            subject.Touch(e);
            subject.Touch(f);
            subject.Touch(g);
            subject.Touch(h);
            ReturnSite(ref subject, h);
            ReturnSite(ref subject, g);
            ReturnSite(ref subject, f);
            ReturnSite(ref subject, e);
            ReturnSite(ref subject, d);
            ReturnSite(ref subject, c);
            ReturnSite(ref subject, b);
            ReturnSite(ref subject, a);
        }

        TSubject.Close(ref subject);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TItem RentSite(scoped ref TSubject subject, int length) => subject.Rent(length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnSite(scoped ref TSubject subject, TItem item) => subject.Return(item);
}
