namespace Tidepool;

/// <summary>An object that can be made as good as new, so that a pool may lease it again.</summary>
public interface IResettable
{
    /// <summary>Forgets the content and gives back what was rented for it. The object is ready for its next renter afterwards.</summary>
    /// <returns>False when the object cannot be used again, because it was disposed: then a pool drops it.</returns>
    bool TryReset();
}
