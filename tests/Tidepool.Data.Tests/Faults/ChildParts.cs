using System.Data.Common;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.InteropServices;
using Npgsql;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>What tests do in processes of their own. An exception is the failure of the test.</summary>
internal static class ChildParts
{
    /// <summary>How long a process is stopped, in seconds, and what is shorter than that.</summary>
    public const int PauseSeconds = 10;

    private const int IdleSeconds = 4;

    /// <summary>
    /// Two pools before and after a pause of the process: one whose times are longer than it, and one whose idle time is over by then.
    /// </summary>
    public static async Task PauseAsync(string server)
    {
        await using PooledDbDataSource patient = NewPool(
            server,
            new()
            {
                MaxSize = 5,
                ValidateAfterIdle = TimeSpan.FromSeconds(1),
                RentTimeout = FaultTest.Never,
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        await using PooledDbDataSource strict = NewPool(
            server, new()
            {
                MaxSize = 5,
                MinSize = 2,
                IdleTimeout = TimeSpan.FromSeconds(IdleSeconds),
                ValidateAfterIdle = TimeSpan.FromSeconds(1),
                RentTimeout = FaultTest.Never,
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        int[] processes = await FaultTest.FillAsync(patient, 5);
        await FaultTest.UntilAsync(() => strict.GetStatistics().Total == 2, "its smallest size is there");
        PooledDbConnection[] held = await Task.WhenAll(Enumerable.Range(0, 5).Select(_ => strict.OpenConnectionAsync().AsTask()));
        foreach (PooledDbConnection connection in held)
        {
            await connection.DisposeAsync();
        }

        Console.WriteLine("ready");
        await Console.In.ReadLineAsync();

        await FaultTest.UntilAsync(
            () => strict.GetStatistics() is { Total: 2, Destroying: 0 },
            "those that were idle for too long are closed, and no others");
        ResourcePoolStatistics ended = strict.GetStatistics();
        Assert.Equal((3L, 3L, 5L), (ended.GetDestroyed(DestroyReason.Idle), ended.Destroyed, ended.Created));
        Assert.Equal((5, 0L), (patient.GetStatistics().Total, patient.GetStatistics().Destroyed));
        Assert.All(await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => FaultTest.TryUseAsync(patient))), Assert.Null);
        Assert.All(await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => FaultTest.TryUseAsync(strict))), Assert.Null);
        await FaultTest.SettleAsync(patient);
        Assert.Equal(processes.Order(), (await FaultTest.FillAsync(patient, 5)).Order());
        Assert.Equal(0, patient.GetStatistics().Destroyed);
        await FaultTest.SettleAsync(strict);
        await FaultTest.EndAsync(patient);
        await FaultTest.EndAsync(strict);
    }

    /// <summary>A pool in a process that has no more file descriptors.</summary>
    public static async Task RunOutOfFilesAsync(string server)
    {
        const int free = 6;
        var options = new ResourcePoolOptions
        {
            MaxSize = 20,
            ValidateAfterIdle = FaultTest.Never,
            RentTimeout = FaultTest.Never,
            BackoffMin = TimeSpan.FromMilliseconds(20),
            BackoffMax = TimeSpan.FromMilliseconds(40),
            CreateTimeout = FaultTest.Never,
            PolicyTimeout = FaultTest.Never,
        };
        await Task.Yield(); // to a thread of the pool
        PrepareForExhaustion();
        await using (PooledDbDataSource rehearsal = NewPool(server, options))
        {
            await FaultTest.FillAsync(rehearsal, 2);
            await using PooledDbDataSource refused = NewPool(server + ";Port=1", options);
            Assert.NotNull(await FaultTest.TryUseAsync(refused));
            await FaultTest.EndAsync(rehearsal);
        }

        int before = CountSockets();
        await using PooledDbDataSource pool = NewPool(server, options);
        var held = new List<PooledDbConnection>();
        var failures = new List<DbException>();
        var files = new Stack<FileStream>();
        try
        {
            while (true)
            {
                files.Push(File.OpenRead("/dev/null"));
            }
        }
        catch (IOException)
        {
            // That was the last one.
        }

        for (int i = 0; i < free; i++)
        {
            await files.Pop().DisposeAsync();
        }

        for (int i = 0; i < 2 * free; i++)
        {
            try
            {
                held.Add(await pool.OpenConnectionAsync());
            }
            catch (DbException failure)
            {
                failures.Add(failure);
            }
        }

        while (files.TryPop(out FileStream? file))
        {
            await file.DisposeAsync();
        }

        pool.Validate();
        Assert.InRange(held.Count, 1, free);
        Assert.Equal(2 * free, held.Count + failures.Count);
        Assert.All(
            failures,
            static failure =>
                Assert.True(
                    FaultTest.Has<SocketException>(failure, static e => e.SocketErrorCode == SocketError.TooManyOpenSockets),
                    failure.ToString()));
        Assert.Equal(held.Count, pool.GetStatistics().Total);
        while (held.Count < 2 * free)
        {
            try
            {
                held.Add(await pool.OpenConnectionAsync());
            }
            catch (DbException)
            {
                // An attempt that began before there was room again.
            }
        }

        Assert.All(await Task.WhenAll(held.Select(static connection => FaultTest.TryAskAsync(connection))), Assert.Null);
        await FaultTest.SettleAsync(pool);
        await FaultTest.EndAsync(pool);
        await FaultTest.UntilAsync(() => CountSockets() <= before, "every socket is closed");
    }

    /// <summary>A pool in a process that has few ports to connect from. The server is on a socket in the file system.</summary>
    public static async Task RunOutOfPortsAsync(string server)
    {
        const int callers = 24;
        var text = new NpgsqlConnectionStringBuilder(server);
        await using var proxy = new FaultProxy($"{text.Host}/.s.PGSQL.{text.Port}");
        text.Host = "127.0.0.1";
        text.Port = proxy.Port;
        await using PooledDbDataSource pool = NewPool(
            text.ConnectionString,
            new()
            {
                MaxSize = callers,
                ValidateAfterIdle = FaultTest.Never,
                RentTimeout = FaultTest.Never,
                BackoffMin = TimeSpan.FromMilliseconds(20),
                BackoffMax = TimeSpan.FromMilliseconds(40),
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        var held = new List<PooledDbConnection>();
        var failures = new List<DbException>();
        for (int i = 0; i < callers; i++)
        {
            try
            {
                held.Add(await pool.OpenConnectionAsync());
            }
            catch (DbException failure)
            {
                failures.Add(failure);
            }
        }

        Assert.InRange(held.Count, 1, 16);
        Assert.Equal(callers, held.Count + failures.Count);
        Assert.All(
            failures,
            static failure =>
                Assert.True(
                    FaultTest.Has<SocketException>(failure, static e => e.SocketErrorCode == SocketError.AddressNotAvailable),
                    failure.ToString()));
        Assert.Equal((held.Count, 0L), (pool.GetStatistics().Total, pool.GetStatistics().Destroyed));

        // Those that are there serve all callers.
        Assert.All(await Task.WhenAll(held.Select(static connection => FaultTest.TryAskAsync(connection))), Assert.Null);
        Assert.Null(await FaultTest.TryUseAsync(pool));
        await FaultTest.SettleAsync(pool);
        await FaultTest.EndAsync(pool);
    }

    private static PooledDbDataSource NewPool(string server, ResourcePoolOptions options) =>
        new(NpgsqlFactory.Instance, server + ";Timeout=0;Command Timeout=0", new PooledDbOptions { Pool = options });

    /// <summary>
    /// Gets now what the runtime itself could not get without descriptors, and would not survive: its assemblies, and the threads of its
    /// pool, which from now on are so many, no more and no less.
    /// </summary>
    private static void PrepareForExhaustion()
    {
        const int threads = 12;
        string[] assemblies = Directory.GetFiles(RuntimeEnvironment.GetRuntimeDirectory(), "System.*.dll");
        foreach (string assembly in assemblies.Where(static file => !file.Contains("Native", StringComparison.Ordinal)))
        {
            Assembly.Load(Path.GetFileNameWithoutExtension(assembly));
        }

        Assert.True(ThreadPool.SetMaxThreads(threads, threads) && ThreadPool.SetMinThreads(threads, threads));
        using var started = new CountdownEvent(threads - 1); // this thread is one of them
        using var over = new CountdownEvent(threads - 1);
        for (int i = 0; i < started.InitialCount; i++)
        {
            ThreadPool.QueueUserWorkItem(_ =>
            {
                started.Signal();
                started.Wait();
                over.Signal();
            });
        }

        over.Wait();
    }

    private static int CountSockets() =>
        Directory.GetFiles("/proc/self/fd").Count(
            static file => new FileInfo(file).LinkTarget?.StartsWith("socket:", StringComparison.Ordinal) == true);
}
