namespace Tidepool.Misuse;

public sealed class WriterAdvancedTooFar
{
    [Fact]
    public void It_throws_says_how_much_was_handed_out_and_changes_nothing()
    {
        using var contiguous = new PooledBufferWriter<byte>();
        int length = contiguous.GetSpan().Length;
        InvalidOperationException thrown = Assert.Throws<InvalidOperationException>(() => contiguous.Advance(length + 1));
        Assert.Contains($"{length + 1}", thrown.Message, StringComparison.Ordinal);
        Assert.Contains($"{length} were handed out", thrown.Message, StringComparison.Ordinal);
        Assert.Equal(0, contiguous.WrittenCount);

        using var segmented = new PooledSequenceWriter<byte>();
        length = segmented.GetSpan().Length;
        Assert.Throws<InvalidOperationException>(() => segmented.Advance(length + 1));
        Assert.Equal(0, segmented.WrittenCount);

        using var stream = new PooledMemoryStream();
        length = stream.GetSpan().Length;
        Assert.Throws<InvalidOperationException>(() => stream.Advance(length + 1));
        Assert.Equal(0, stream.Length);
        stream.Position = 5;
        Assert.Throws<InvalidOperationException>(() => stream.Advance(1)); // what was handed out lies elsewhere
        Assert.Equal(0, stream.Length);
    }
}
