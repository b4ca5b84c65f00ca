namespace Tidepool.Tests.Support;

/// <summary>Bytes that look like nothing, the same at each run.</summary>
public static class TestData
{
    public static byte[] Random(int length)
    {
        byte[] data = new byte[length];
        new Random(length).NextBytes(data);
        return data;
    }
}
