namespace Tidepool.Tests.Resources;

/// <summary>The list whose nodes hold their neighbours is a list.</summary>
public sealed class IntrusiveListTests
{
    public static TheoryData<int> Seeds => [.. Enumerable.Range(0, 20)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void It_changes_as_a_plain_list_does(int seed)
    {
        var random = new Random(seed);
        var list = new IntrusiveList<Node, First>();
        var plain = new List<Node>();
        for (int step = 0; step < 300; step++)
        {
            if (plain.Count > 0 && random.Next(5) < 2)
            {
                Node node = plain[random.Next(plain.Count)];
                list.Remove(node);
                plain.Remove(node);
                Assert.False(list.Contains(node));
                Assert.Equal((null, null), (node.InFirst.Older, node.InFirst.Newer));
            }
            else
            {
                var node = new Node();
                int place = random.Next(3) == 0 ? random.Next(plain.Count + 1) : plain.Count;
                if (place == plain.Count)
                {
                    list.Add(node);
                }
                else
                {
                    list.AddAfter(place == 0 ? null : plain[place - 1], node);
                }

                plain.Insert(place, node);
            }

            Assert.Equal(plain, Nodes(list));
            Assert.Same(plain.LastOrDefault(), list.Newest);
            Assert.True(list.IsValid(list.Contains));
            Assert.Equal(plain.Count, list.Count);
        }
    }

    [Fact]
    public void A_node_stands_in_one_list_of_each_kind()
    {
        Node[] nodes = [new(), new(), new()];
        var first = new IntrusiveList<Node, First>();
        var second = new IntrusiveList<Node, Second>();
        Array.ForEach(nodes, node => first.Add(node));
        Array.ForEach(nodes, node => second.AddAfter(null, node));
        first.Remove(nodes[1]);
        Assert.Equal([nodes[0], nodes[2]], Nodes(first));
        Assert.Same(nodes[2], second.Oldest);
        Assert.True(second.Contains(nodes[1]));
        Assert.True(first.IsValid(_ => true) && second.IsValid(_ => true));
    }

    [Fact]
    public void Neighbours_that_disagree_and_nodes_that_do_not_belong_are_found()
    {
        Node[] nodes = [new(), new(), new()];
        var list = new IntrusiveList<Node, First>();
        Array.ForEach(nodes, node => list.Add(node));
        Assert.False(list.IsValid(node => node != nodes[0]));
        nodes[0].InFirst.Newer = nodes[2];
        Assert.False(list.IsValid(_ => true));
        nodes[0].InFirst.Newer = nodes[1];
        Assert.True(list.IsValid(_ => true));
        nodes[1].InFirst.Older = null;
        Assert.False(list.IsValid(_ => true));
    }

    private static IEnumerable<Node> Nodes(IntrusiveList<Node, First> list)
    {
        for (Node? node = list.Oldest; node is not null; node = node.InFirst.Newer)
        {
            yield return node;
        }
    }

    private sealed class Node
    {
        internal Links<Node> InFirst;
        internal Links<Node> InSecond;
    }

    private readonly struct First : ILinks<Node>
    {
        public static ref Links<Node> Of(Node node) => ref node.InFirst;
    }

    private readonly struct Second : ILinks<Node>
    {
        public static ref Links<Node> Of(Node node) => ref node.InSecond;
    }
}
