namespace Tidepool.Labs.Tests.Servers;

public sealed class PostgresProgramsTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("programs").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void The_path_comes_before_the_version_folders_and_a_link_is_followed()
    {
        Install("versions/15/bin");
        string installed = Install("opt/bin");
        string links = Path.Combine(_folder, "links");
        Directory.CreateDirectory(links);
        File.CreateSymbolicLink(Path.Combine(links, "initdb"), Path.Combine(installed, "initdb"));

        Assert.Equal(installed, PostgresPrograms.Find($"/no/such{Path.PathSeparator}{links}", Path.Combine(_folder, "versions")));
    }

    [Fact]
    public void Of_several_versions_the_highest_that_is_complete_is_taken()
    {
        Install("versions/9.6/bin");
        string highest = Install("versions/14/bin");
        Directory.CreateDirectory(Path.Combine(_folder, "versions/16/bin")); // the clients only

        Assert.Equal(highest, PostgresPrograms.Find("", Path.Combine(_folder, "versions")));
    }

    [Fact]
    public void Nothing_is_found_where_nothing_is() => Assert.Null(PostgresPrograms.Find(_folder, Path.Combine(_folder, "absent")));

    [Fact]
    public void What_is_missing_comes_with_the_line_that_installs_it()
    {
        if (PostgresPrograms.Missing is { } missing)
        {
            Assert.Contains("apt-get install postgresql", missing, StringComparison.Ordinal);
        }
        else
        {
            Assert.True(File.Exists(Path.Combine(PostgresPrograms.Folder!, "initdb")));
        }
    }

    private string Install(string folder)
    {
        string path = Path.Combine(_folder, folder);
        Directory.CreateDirectory(path);
        File.WriteAllText(Path.Combine(path, "initdb"), "");
        File.WriteAllText(Path.Combine(path, "postgres"), "");
        return path;
    }
}
