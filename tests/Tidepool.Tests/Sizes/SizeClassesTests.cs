using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Sizes;

public sealed class SizeClassesTests(ITestOutputHelper output)
{
    private static readonly SizeClasses Odd = SizeClasses.FromLengths(1, 3, 7, 100, 101, 5000);

    public static TheoryData<string> Tables => ["default", "powers", "odd"];

    [Theory]
    [MemberData(nameof(Tables))]
    public void Every_length_maps_to_the_smallest_class_that_holds_it(string name)
    {
        SizeClasses classes = Named(name);
        int limit = Math.Min(classes.MaxLength, 300_000);
        int expected = 0;
        for (int length = 0; length <= limit; length++)
        {
            if (length > classes.LengthOf(expected))
            {
                expected++;
            }

            if (classes.IndexOf(length) != expected)
            {
                Assert.Fail(
                    $"Length {length} maps to class {classes.IndexOf(length)}, but class {expected} ({classes.LengthOf(expected)}) "
                        + "is the smallest that holds it.");
            }
        }
    }

    [Theory]
    [MemberData(nameof(Tables))]
    public void The_lengths_around_every_class_boundary_map_to_the_two_neighbours(string name)
    {
        SizeClasses classes = Named(name);
        for (int index = 0; index < classes.Count; index++)
        {
            int length = classes.LengthOf(index);
            Assert.Equal(index, classes.IndexOf(length));
            Assert.Equal(index, classes.IndexOf(index == 0 ? 1 : classes.LengthOf(index - 1) + 1));
            if (index + 1 < classes.Count)
            {
                Assert.Equal(index + 1, classes.IndexOf(length + 1));
            }
        }
    }

    [Theory]
    [MemberData(nameof(Tables))]
    public void Class_lengths_ascend(string name)
    {
        SizeClasses classes = Named(name);
        for (int index = 1; index < classes.Count; index++)
        {
            Assert.True(classes.LengthOf(index) > classes.LengthOf(index - 1), $"class {index}");
        }

        Assert.Equal(classes.MaxLength, classes.LengthOf(classes.Count - 1));
    }

    [Theory]
    [MemberData(nameof(Tables))]
    public void Random_lengths_up_to_the_largest_class_map_to_the_smallest_class_that_holds_them(string name)
    {
        SizeClasses classes = Named(name);
        Random random = Seeds.New(output);
        for (int i = 0; i < 100_000; i++)
        {
            int length = (int)Math.Min(classes.MaxLength, Math.Exp(random.NextDouble() * Math.Log(classes.MaxLength)) + random.Next(3));
            int index = classes.IndexOf(length);
            Assert.InRange(index, 0, classes.Count - 1);
            Assert.True(classes.LengthOf(index) >= length, $"length {length}");
            Assert.True(index == 0 || classes.LengthOf(index - 1) < length, $"length {length}");
        }
    }

    [Fact]
    public void A_length_beyond_the_largest_class_has_no_class()
    {
        Assert.Equal(-1, Odd.IndexOf(5001));
        Assert.Equal(-1, Odd.IndexOf(int.MaxValue));
        Assert.Equal(-1, SizeClasses.PowersOfTwo.IndexOf((1 << 30) + 1));
        Assert.Equal(-1, SizeClasses.PowersOfTwo.IndexOf(Array.MaxLength));
        Assert.Equal(-1, SizeClasses.Default.IndexOf(int.MaxValue));
    }

    [Fact]
    public void The_default_table_reaches_the_longest_array()
    {
        Assert.Equal(Array.MaxLength, SizeClasses.Default.MaxLength);
        Assert.Equal(SizeClasses.Default.Count - 1, SizeClasses.Default.IndexOf(Array.MaxLength));
    }

    [Fact]
    public void The_default_table_has_four_classes_per_octave_up_to_one_mebi_and_eight_above()
    {
        SizeClasses classes = SizeClasses.Default;
        for (int octave = 16; octave < 1 << 20; octave <<= 1)
        {
            Assert.Equal(4, classes.IndexOf(octave * 2) - classes.IndexOf(octave));
        }

        for (int octave = 1 << 20; octave < 1 << 30; octave <<= 1)
        {
            Assert.Equal(8, classes.IndexOf(octave * 2) - classes.IndexOf(octave));
        }
    }

    [Fact]
    public void The_power_of_two_table_has_the_lengths_of_the_array_pool()
    {
        Assert.Equal(27, SizeClasses.PowersOfTwo.Count);
        for (int index = 0; index < 27; index++)
        {
            Assert.Equal(16 << index, SizeClasses.PowersOfTwo.LengthOf(index));
        }
    }

    [Fact]
    public void The_default_table_wastes_at_most_nine_percent_of_log_uniform_lengths()
    {
        double computed = SizeClasses.Default.AverageWaste(SizeClasses.SmallestLength, Array.MaxLength);
        Assert.InRange(computed, 0.01, 0.09);
        Assert.InRange(SizeClasses.Default.AverageWaste(16, 1 << 20), 0.01, 0.09);
    }

    [Theory]
    [InlineData("default", 0.09)]
    [InlineData("powers", 0.30)]
    public void The_computed_waste_equals_the_sum_over_every_length(string name, double atMost)
    {
        // Log-uniform over whole lengths: length n has the weight 1/n. No closed form, no shared code with the product.
        SizeClasses classes = Named(name);
        const int Shortest = 17;
        const int Longest = 1 << 20;
        double weight = 0;
        double waste = 0;
        int index = 0;
        for (int length = Shortest; length <= Longest; length++)
        {
            while (classes.LengthOf(index) < length)
            {
                index++;
            }

            weight += 1.0 / length;
            waste += (1.0 - ((double)length / classes.LengthOf(index))) / length;
        }

        double summed = waste / weight;
        Assert.True(summed <= atMost, $"waste {summed:P2}");
        Assert.Equal(summed, classes.AverageWaste(Shortest - 1, Longest), tolerance: 0.003);
    }

    [Fact]
    public void No_default_class_wastes_more_than_a_fifth()
    {
        for (int index = 1; index < SizeClasses.Default.Count; index++)
        {
            int shortest = SizeClasses.Default.LengthOf(index - 1) + 1;
            double worst = 1.0 - ((double)shortest / SizeClasses.Default.LengthOf(index));
            Assert.True(worst < 0.2, $"class {SizeClasses.Default.LengthOf(index)} wastes {worst:P1} of a rental of {shortest}");
        }
    }

    [Fact]
    public void A_negative_length_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>("length", () => SizeClasses.Default.IndexOf(-1));

    [Fact]
    public void A_class_outside_the_table_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>("index", () => SizeClasses.Default.LengthOf(-1));
        Assert.Throws<ArgumentOutOfRangeException>("index", () => SizeClasses.Default.LengthOf(SizeClasses.Default.Count));
    }

    [Fact]
    public void A_table_of_lengths_must_ascend_within_the_longest_array()
    {
        Assert.Throws<ArgumentException>("lengths", () => SizeClasses.FromLengths());
        Assert.Throws<ArgumentException>("lengths", () => SizeClasses.FromLengths(0));
        Assert.Throws<ArgumentException>("lengths", () => SizeClasses.FromLengths(-5, 3));
        Assert.Throws<ArgumentException>("lengths", () => SizeClasses.FromLengths(4, 4));
        Assert.Throws<ArgumentException>("lengths", () => SizeClasses.FromLengths(8, 4));
        Assert.Throws<ArgumentException>("lengths", () => SizeClasses.FromLengths(8, int.MaxValue));
    }

    [Fact]
    public void A_range_without_lengths_has_no_average_waste()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => SizeClasses.Default.AverageWaste(0, 100));
        Assert.Throws<ArgumentOutOfRangeException>(() => SizeClasses.Default.AverageWaste(100, 100));
        Assert.Throws<ArgumentOutOfRangeException>(() => SizeClasses.PowersOfTwo.AverageWaste(16, int.MaxValue));
    }

    private static SizeClasses Named(string name) => name switch
    {
        "default" => SizeClasses.Default,
        "powers" => SizeClasses.PowersOfTwo,
        _ => Odd,
    };
}
