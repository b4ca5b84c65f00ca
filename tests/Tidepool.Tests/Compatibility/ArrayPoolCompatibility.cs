using System.Buffers;
using System.Numerics;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Compatibility;

/// <summary>
/// What a program may rely on from an <see cref="ArrayPool{T}"/>, over any pool that passes for one. The runtime's own pools run it too:
/// that keeps the suite honest.
/// </summary>
public abstract class ArrayPoolCompatibility(ITestOutputHelper output) : PoolTest
{
    /// <summary>A pool for one test; the one a process shares, or a new one.</summary>
    protected abstract ArrayPool<T> Pool<T>();

    /// <summary>Whether a second return of one array is refused (ours) or accepted (the runtime's).</summary>
    protected abstract bool IsOurs { get; }

    [Theory]
    [InlineData(-1)]
    [InlineData(-17)]
    [InlineData(int.MinValue)]
    public void A_negative_length_is_refused_under_the_name_of_the_parameter(int minimumLength) =>
        Assert.Throws<ArgumentOutOfRangeException>(nameof(minimumLength), () => Pool<byte>().Rent(minimumLength));

    [Theory]
    [InlineData(int.MaxValue)]
    [InlineData(0x7FFFFFC8)]
    public void A_length_that_no_array_can_have_runs_out_of_memory(int length) =>
        Assert.Throws<OutOfMemoryException>(() => Pool<byte>().Rent(length));

    [Fact]
    public void No_array_is_refused_under_the_name_of_the_parameter()
    {
        Assert.Throws<ArgumentNullException>("array", () => Pool<byte>().Return(null!));
        Assert.Throws<ArgumentNullException>("array", () => Pool<byte>().Return(null!, clearArray: true));
    }

    [Fact]
    public void Length_zero_is_always_the_same_empty_array()
    {
        ArrayPool<byte> pool = Pool<byte>();
        byte[] zero = pool.Rent(0);
        Assert.Empty(zero);
        Assert.Same(zero, pool.Rent(0));
        byte[] one = pool.Rent(1);
        Assert.NotSame(zero, one);
        pool.Return(zero);
        pool.Return(zero);
        pool.Return(zero, clearArray: true);
        pool.Return(one);
        Assert.Same(zero, pool.Rent(0));
        Assert.Same(Array.Empty<byte>(), zero);
    }

    [Fact]
    public void Any_empty_array_may_be_returned() => Pool<byte>().Return(GC.AllocateUninitializedArray<byte>(0));

    [Fact]
    public void Lengths_are_the_powers_of_two_from_sixteen_for_bytes() => LengthsArePowersOfTwo<byte>(10_000);

    [Fact]
    public void Lengths_are_the_powers_of_two_from_sixteen_for_chars() => LengthsArePowersOfTwo<char>(10_000);

    [Fact]
    public void Lengths_are_the_powers_of_two_from_sixteen_for_strings() => LengthsArePowersOfTwo<string>(3000);

    [Fact]
    public void Lengths_are_the_powers_of_two_from_sixteen_for_elements_of_twelve_bytes() => LengthsArePowersOfTwo<Triple>(3000);

    [Theory]
    [InlineData(1, 16)]
    [InlineData(15, 16)]
    [InlineData(16, 16)]
    [InlineData(17, 32)]
    [InlineData(1023, 1024)]
    [InlineData(1024, 1024)]
    [InlineData(4096, 4096)]
    [InlineData(1 << 20, 1 << 20)]
    [InlineData((1 << 20) + 1, 1 << 21)]
    [InlineData(1 << 21, 1 << 21)]
    public void Two_rentals_of_one_length_are_two_arrays_of_the_expected_length(int asked, int expected)
    {
        TwoRentals<byte>(asked, expected);
        TwoRentals<char>(asked, expected);
        TwoRentals<string>(asked, expected);
    }

    [Fact]
    public void A_larger_idle_array_is_never_handed_out_for_a_smaller_length()
    {
        ArrayPool<byte> pool = Pool<byte>();
        byte[][] larger = [.. Enumerable.Range(0, 20).Select(_ => pool.Rent(256))];
        Array.ForEach(larger, a => pool.Return(a));
        byte[] smaller = pool.Rent(128);
        Assert.Equal(128, smaller.Length);
        pool.Return(smaller);
    }

    [Fact]
    public void An_array_is_handed_out_again_after_its_return()
    {
        ArrayPool<byte> pool = Pool<byte>();
        byte[] array = pool.Rent(1000);
        pool.Return(array);
        byte[] again = pool.Rent(1000);
        Assert.Same(array, again);
        pool.Return(again);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(16)]
    [InlineData(127)]
    [InlineData(4096)]
    [InlineData(4097)]
    public void A_hundred_rentals_of_one_length_are_a_hundred_arrays_again_and_again(int length)
    {
        ArrayPool<byte> pool = Pool<byte>();
        for (int round = 0; round < 3; round++)
        {
            HashSet<byte[]> arrays = [];
            for (int i = 0; i < 100; i++)
            {
                Assert.True(arrays.Add(pool.Rent(length)));
            }

            foreach (byte[] array in arrays)
            {
                pool.Return(array);
            }
        }
    }

    [Fact]
    public void However_many_arrays_are_out_a_rental_succeeds_with_the_length_of_its_class()
    {
        ArrayPool<byte> pool = Pool<byte>();
        byte[][] arrays = [.. Enumerable.Range(0, 5000).Select(_ => pool.Rent(63))];
        Assert.All(arrays, a => Assert.Equal(64, a.Length));
        Assert.Equal(5000, arrays.Distinct().Count());
        Array.ForEach(arrays, a => pool.Return(a));
    }

    [Fact]
    public void A_return_without_the_flag_leaves_the_elements_as_they_are()
    {
        ArrayPool<byte> bytes = Pool<byte>();
        byte[] filled = bytes.Rent(16);
        for (int i = 0; i < filled.Length; i++)
        {
            filled[i] = (byte)(i + 1);
        }

        bytes.Return(filled, clearArray: false);
        Assert.Equal(Enumerable.Range(1, 16).Select(i => (byte)i), filled);

        ArrayPool<string> strings = Pool<string>();
        string[] names = strings.Rent(2);
        names[0] = "first";
        names[1] = "second";
        strings.Return(names);
        Assert.Equal("first", names[0]);
        Assert.Equal("second", names[1]);
    }

    [Fact]
    public void A_return_with_the_flag_clears_the_whole_array()
    {
        CheckClear(Sample.Of<byte>(3));
        CheckClear(Sample.Of<string>(3));
        CheckClear(Sample.Of<Named>(3));
        CheckClear(Sample.Of<decimal>(3));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(15)]
    [InlineData(17)]
    [InlineData(24)]
    [InlineData(1000)]
    [InlineData(3 << 20)]
    public void An_array_of_a_length_that_is_never_rented_is_refused_under_the_name_of_the_parameter(int length) =>
        Assert.Throws<ArgumentException>("array", () => Pool<byte>().Return(new byte[length]));

    [Fact]
    public void A_refused_array_is_never_handed_out()
    {
        ArrayPool<byte> pool = Pool<byte>();
        byte[] odd = new byte[17];
        Assert.Throws<ArgumentException>("array", () => pool.Return(odd));
        for (int i = 0; i < 50; i++)
        {
            byte[] array = pool.Rent(17);
            Assert.NotSame(odd, array);
            Assert.Equal(32, array.Length);
            pool.Return(array);
        }
    }

    [Fact]
    public void An_array_of_a_valid_length_from_elsewhere_is_accepted()
    {
        ArrayPool<Guid> pool = Pool<Guid>();
        pool.Return(new Guid[64]);
        Guid[] rented = pool.Rent(64);
        Assert.Equal(64, rented.Length);
    }

    [Fact]
    public void An_array_of_a_derived_element_type_is_accepted_and_a_rental_can_still_store_any_element()
    {
        ArrayPool<object> pool = Pool<object>();
        pool.Return(new string[128]);
        object[] rented = pool.Rent(128);
        Assert.Equal(128, rented.Length);
        if (IsOurs)
        {
            Assert.Equal(typeof(object[]), rented.GetType());
            rented[0] = 42;
        }
    }

    [Fact]
    public void An_array_of_elements_of_the_other_sign_is_accepted()
    {
        ArrayPool<int> pool = Pool<int>();
        pool.Return((int[])(object)new uint[512]);
        int[] rented = pool.Rent(512);
        Assert.Equal(512, rented.Length);
        rented[0] = -1;
        pool.Return(rented);
    }

    [Fact]
    public void Threads_that_rent_and_return_at_the_same_time_never_share_an_array()
    {
        ArrayPool<int> pool = Pool<int>();
        Threads.RunAll(4, thread =>
        {
            for (int i = 0; i < 20_000; i++)
            {
                int length = 16 << (i & 3);
                int[] array = pool.Rent(length);
                array[0] = thread;
                array[^1] = thread;
                if (array.Length != length || array[0] != thread || array[^1] != thread)
                {
                    Assert.Fail("The array is not this thread's alone.");
                }

                pool.Return(array);
            }
        });
    }

    [Fact]
    public void An_array_may_be_returned_on_another_thread()
    {
        ArrayPool<int> pool = Pool<int>();
        HashSet<int[]> arrays = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent(77))];
        Threads.Run(() =>
        {
            foreach (int[] array in arrays)
            {
                pool.Return(array);
            }
        });
        int[][] again = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent(77))];
        Assert.Equal(100, again.Distinct().Count());
        Array.ForEach(again, a => pool.Return(a));
    }

    [Fact]
    public void Random_rentals_and_returns_never_hand_one_array_to_two_renters()
    {
        Random random = Seeds.New(output);
        ArrayPool<short> pool = Pool<short>();
        List<short[]> order = [];
        HashSet<short[]> live = [];
        for (int step = 0; step < 30_000; step++)
        {
            if (order.Count > 0 && random.Next(100) < 52)
            {
                int index = random.Next(order.Count);
                short[] array = order[index];
                order[index] = order[^1];
                order.RemoveAt(order.Count - 1);
                live.Remove(array);
                pool.Return(array, clearArray: random.Next(4) == 0);
            }
            else
            {
                short[] array = pool.Rent(random.Next(1, 3000));
                Assert.True(live.Add(array), "An array that is out was rented again.");
                order.Add(array);
            }
        }

        order.ForEach(a => pool.Return(a));
    }

    [Theory]
    [Trait("Category", "Slow")]
    [InlineData((1 << 30) - 1, true)]
    [InlineData(1 << 30, true)]
    [InlineData((1 << 30) + 1, false)]
    [InlineData(0x7FFFFFC7, false)]
    public void A_gigantic_array_is_rented_and_returned_or_memory_is_exhausted(int length, bool ofClass)
    {
        ArrayPool<byte> pool = Pool<byte>();
        byte[] array;
        try
        {
            array = pool.Rent(length);
        }
        catch (OutOfMemoryException)
        {
            return;
        }

        Assert.Equal(ofClass ? 1 << 30 : length, array.Length);
        pool.Return(array);
    }

    private void LengthsArePowersOfTwo<T>(int limit)
    {
        ArrayPool<T> pool = Pool<T>();
        for (int length = 1; length < limit; length++)
        {
            T[] array = pool.Rent(length);
            int expected = length <= 16 ? 16 : (int)BitOperations.RoundUpToPowerOf2((uint)length);
            if (array.Length != expected)
            {
                Assert.Fail($"Rent({length}) gave {array.Length} instead of {expected}.");
            }

            pool.Return(array);
        }
    }

    private void TwoRentals<T>(int asked, int expected)
    {
        ArrayPool<T> pool = Pool<T>();
        T[] first = pool.Rent(asked);
        T[] second = pool.Rent(asked);
        Assert.Equal(expected, first.Length);
        Assert.Equal(expected, second.Length);
        Assert.NotSame(first, second);
        pool.Return(second);
        pool.Return(first);
    }

    private void CheckClear<T>(T value)
    {
        ArrayPool<T> pool = Pool<T>();
        T[] array = pool.Rent(40);
        Array.Fill(array, value);
        pool.Return(array, clearArray: true);
        Assert.True(
            Array.TrueForAll(array, element => EqualityComparer<T>.Default.Equals(element, default)),
            $"Not every {typeof(T).Name} is cleared.");
    }
}
