namespace Tidepool.Labs;

/// <summary>
/// Every bar of the product, in one place. <see cref="Bar.Row"/> is the row of the design's table; a test reads the
/// ids of each row and fails when no lab judges one of them.
/// </summary>
internal static class Bars
{
    public static readonly Bar RawInlined = Ratio(
        "arrays.raw.inlined", "raw arrays, depth 1", "raw arrays at depth 1, inlined: at most 0.85 of ArrayPool.Shared", 0.85);

    public static readonly Bar RawCallSite = Ratio(
        "arrays.raw.callsite", "raw arrays, depth 1", "raw arrays at depth 1, at call sites: at most 0.75 of ArrayPool.Shared", 0.75);

    public static readonly Bar LeaseInlined = Ratio(
        "arrays.lease.inlined", "lease, depth 1", "leases at depth 1, inlined: at most 0.85 of ArrayPool.Shared", 0.85);

    public static readonly Bar LeaseCallSite = Ratio(
        "arrays.lease.callsite", "lease, depth 1", "leases at depth 1, at call sites: at most 0.88 of ArrayPool.Shared", 0.88);

    public static readonly Bar LeaseBytes = Count(
        "arrays.lease.bytes", "lease, depth 1", "leases allocate nothing", 0);

    public static readonly Bar ScopeOwn = Ratio(
        "arrays.scope.own", "scope", "scopes: at most 1.20 of our raw arrays", 1.20);

    public static readonly Bar ScopeInlined = Ratio(
        "arrays.scope.inlined", "scope", "scopes, inlined: at most 0.65 of ArrayPool.Shared", 0.65);

    public static readonly Bar ScopeCallSite = Ratio(
        "arrays.scope.callsite", "scope", "scopes at call sites: at most 0.85 of ArrayPool.Shared", 0.85);

    public static readonly Bar ScopeLease = Ratio(
        "arrays.scope.lease", "scope", "scopes: never slower than our leases; near that, interval at most 0.04 wide", 1) with
    {
        Width = 0.04,
    };

    public static readonly Bar Handle = Ratio(
        "arrays.handle", "thread handle", "thread handle: at most 0.70 of our own lease", 0.70);

    public static readonly Bar Depth8Inlined = Ratio(
        "arrays.depth8.inlined", "depth 8, one thread", "depth 8, inlined: at most 0.30 of ArrayPool.Shared", 0.30);

    public static readonly Bar Depth8CallSite = Ratio(
        "arrays.depth8.callsite", "depth 8, one thread", "depth 8, at call sites: at most 0.48 of ArrayPool.Shared", 0.48);

    public static readonly Bar Depth8Own = Ratio(
        "arrays.depth8.own", "depth 8, one thread", "depth 8: at most 1.60 of our own depth 1", 1.60);

    public static readonly Bar ThreadsDepth8 = Ratio(
        "arrays.threads.depth8", "two threads", "two threads at depth 8: at most 0.25 of ArrayPool.Shared", 0.25);

    public static readonly Bar ThreadsScaling = Ratio(
        "arrays.threads.scaling", "two threads", "from one thread to two, depth 1 and 8: time changes by at most 1.25 of "
            + "what a loop of additions does", 1.25);

    public static readonly Bar ThreadsOwn = Ratio(
        "arrays.threads.own", "two threads", "from one thread to two, depth 1 and 8: time changes by at most 1.15 of what the "
            + "thread handle's does", 1.15);

    public static readonly Bar ThreadsCrowd = Ratio(
        "arrays.threads.crowd", "two threads", "from one thread for each core to eight, depth 1 and 8: time changes by at most 1.10 "
            + "of what a loop of additions does", 1.10);

    public static readonly Bar RingShared = Ratio(
        "arrays.ring.shared", "producer/consumer", "producer/consumer: at most 0.40 of ArrayPool.Shared", 0.40);

    public static readonly Bar RingLease = Ratio(
        "arrays.ring.lease", "producer/consumer", "producer/consumer, leases: at most 0.95 of Kestrel's pool", 0.95);

    public static readonly Bar RingRaw = Ratio(
        "arrays.ring.raw", "producer/consumer", "producer/consumer, raw arrays: at most 0.70 of Kestrel's pool", 0.70);

    public static readonly Bar PingPong = Ratio(
        "arrays.pingpong", "producer/consumer", "ping-pong of one buffer: at most 1.20 of Kestrel's pool", 1.20);

    public static readonly Bar Hop = Ratio(
        "arrays.hop", "async hop", "async hop: at most 1.25 of ArrayPool.Shared", 1.25);

    public static readonly Bar Objects = Ratio(
        "arrays.objects", "object arrays", "object arrays of 1000: at most 1.10 of ArrayPool.Shared with clearArray", 1.10);

    public static readonly Bar Grid = Ratio(
        "arrays.grid", "every length", "every length and element type: never above 1.10 of ArrayPool.Shared", 1.10);

    public static readonly Bar GridEmpty = Ratio(
        "arrays.grid.empty", "every length", "leases of length 0: at most 2.00 of ArrayPool.Shared, whose array is always the same", 2);

    public static readonly Bar GridLarge = Ratio(
        "arrays.grid.large", "every length", "eight arrays of which a thread keeps a few, held by one thread: at most 1.50 of "
            + "ArrayPool.Shared", 1.5);

    public static readonly Bar Empty = Ratio(
        "arrays.empty", "every length", "raw arrays of length 0, inlined: the least time is at most 2.0 ns", 2);

    public static readonly Bar Waste = Count(
        "arrays.waste", "waste", "memory wasted by rounding lengths up, default classes, log-uniform lengths: at most 9 %", 9);

    public static readonly Bar FullChecks = Ratio(
        "arrays.checks.full", "full checks", "full checks at 4 KiB, without stacks: at most 3.5 times filling 4 KiB and comparing "
            + "them, 64 buffers in turn", 3.5);

    public static readonly Bar Overflow = Ratio(
        "arrays.overflow", "beyond the budget", "4 KiB from a pool whose budget is used up: at most 2.2 times new T[n]", 2.2);

    public static readonly Bar ReusedKestrel = Ratio(
        "memory.reused.kestrel", "memory pools", "reused owners: at most 0.70 of Kestrel's pool", 0.70);

    public static readonly Bar ReusedInlined = Ratio(
        "memory.reused.inlined",
        "memory pools",
        "reused owners of arrays at depth 1, inlined: at most 1.00 of MemoryPool.Shared; near that, interval at most 0.04 wide",
        1) with
    {
        Width = 0.04,
    };

    public static readonly Bar ReusedCallSite = Ratio(
        "memory.reused.callsite",
        "memory pools",
        "reused owners of arrays at depth 1, at call sites: at most 0.95 of MemoryPool.Shared",
        0.95);

    public static readonly Bar ReusedDepth8 = Ratio(
        "memory.reused.depth8", "memory pools", "reused owners of arrays at depth 8: at most 0.45 of MemoryPool.Shared", 0.45);

    public static readonly Bar ReusedBytes = Count(
        "memory.reused.bytes", "memory pools", "reused owners allocate nothing", 0);

    public static readonly Bar HeldBytes = Count(
        "memory.reused.hold", "memory pools", "1000 reused owners rented again allocate nothing", 0);

    public static readonly Bar NativeReusedBytes = Count(
        "memory.native.bytes", "memory pools", "native memory, reused owners: allocate nothing", 0);

    public static readonly Bar NativeHeldBytes = Count(
        "memory.native.hold", "memory pools", "native memory, 1000 reused owners rented again: allocate nothing", 0);

    public static readonly Bar IdleHeld = Count(
        "memory.idle.held", "idle", "60 s after 1 GiB was returned: at most 10 % is still held", 10);

    public static readonly Bar IdleAlive = Count(
        "memory.idle.alive", "idle", "60 s after 1 GiB was returned: at most 10 % survives one collection", 10);

    public static readonly Bar EpochTime = Ratio(
        "memory.epoch.time", "idle", "one epoch of trimming, 256 threads with magazines of 20 pools: at most 10,000 µs",
        10_000);

    public static readonly Bar EpochGate = Ratio(
        "memory.epoch.gate", "idle", "no thread waits longer than 1,000 µs for the thread tier's lock during one", 1000);

    public static readonly Bar TrimHeld = Count(
        "memory.trim.held", "idle", "Trim() after 1 GiB was returned: at most 10 % is still held", 10);

    public static readonly Bar TrimAlive = Count(
        "memory.trim.alive", "idle", "Trim() after 1 GiB was returned: at most 10 % survives one collection", 10);

    public static readonly Bar IdleCollected = Ratio(
        "memory.idle.collected", "idle", "an idle process that collects (aggressive): resident size at most half of that without", 0.5);

    public static readonly Bar StreamSmall = Ratio(
        "streams.small.time", "streams, 100 B and 1 KB", "100 B and 1 KB in one write: at most 0.85 of MemoryStream", 0.85);

    public static readonly Bar StreamNewBytes = Count(
        "streams.small.new", "streams, 100 B and 1 KB", "a new small stream allocates at most 96 B", 96);

    public static readonly Bar StreamRentedBytes = Count(
        "streams.small.rented", "streams, 100 B and 1 KB", "a rented small stream allocates nothing", 0);

    public static readonly Bar StreamSmallRecyclable = Ratio(
        "streams.small.recyclable", "streams, 100 B and 1 KB",
        "100 B and 1 KB in one write: at most 0.15 of RecyclableMemoryStream", 0.15);

    public static readonly Bar StreamSmallSlim = Ratio(
        "streams.small.slim", "streams, 100 B and 1 KB", "100 B and 1 KB in one write: at most 0.15 of MemoryStreamSlim", 0.15);

    public static readonly Bar StreamTiny = Ratio(
        "streams.tiny.time", "streams, 6-byte writes", "6-byte writes: at most 0.60 of MemoryStream", 0.60);

    public static readonly Bar StreamTinyRecyclable = Ratio(
        "streams.tiny.recyclable", "streams, 6-byte writes", "6-byte writes: at most 0.45 of RecyclableMemoryStream", 0.45);

    public static readonly Bar StreamTinySlim = Ratio(
        "streams.tiny.slim", "streams, 6-byte writes", "6-byte writes: at most 0.45 of MemoryStreamSlim", 0.45);

    public static readonly Bar StreamMediumOnce = Ratio(
        "streams.medium.once", "streams, 50 KB", "50 KB in one write: at most 0.40 of MemoryStream", 0.4);

    public static readonly Bar StreamMediumParts = Ratio(
        "streams.medium.parts", "streams, 50 KB", "50 KB in 4 KB writes: at most 0.25 of MemoryStream", 0.25);

    public static readonly Bar StreamMediumRecyclable = Ratio(
        "streams.medium.recyclable", "streams, 50 KB", "50 KB, either way: at most 0.90 of RecyclableMemoryStream", 0.9);

    public static readonly Bar StreamLarge = Ratio(
        "streams.large.time", "streams, 1 to 200 MB", "1, 16 and 200 MiB: at most 0.55 of MemoryStream", 0.55);

    public static readonly Bar StreamLargeBytes = Count(
        "streams.large.bytes", "streams, 1 to 200 MB", "16 MiB allocate at most 1.3 KB", 1300);

    public static readonly Bar StreamLongBytes = Count(
        "streams.large.bytes.long", "streams, 1 to 200 MB", "a new stream of 200 MiB allocates at most 20 KB: its list of segments, "
            + "after a trim", 20_000);

    public static readonly Bar StreamLargeRented = Count(
        "streams.large.rented", "streams, 1 to 200 MB", "a rented large stream allocates nothing", 0);

    public static readonly Bar StreamLargeObjects = Count(
        "streams.large.loh", "streams, 1 to 200 MB", "once warm, no byte on the large object heap", 0);

    public static readonly Bar StreamLargeRecyclable = Ratio(
        "streams.large.recyclable", "streams, 1 to 200 MB", "1, 16 and 200 MiB: at most 1.10 of RecyclableMemoryStream", 1.1);

    public static readonly Bar StreamLargeSlim = Ratio(
        "streams.large.slim", "streams, 1 to 200 MB", "1, 16 and 200 MiB: at most 0.95 of MemoryStreamSlim", 0.95);

    public static readonly Bar StreamByteExact = Ratio(
        "streams.byte.exact", "streams, WriteByte", "WriteByte on the exact type: at most 1.05 of MemoryStream", 1.05);

    public static readonly Bar StreamByteBase = Ratio(
        "streams.byte.base", "streams, WriteByte", "WriteByte through Stream: at most 1.05 of MemoryStream", 1.05);

    public static readonly Bar StreamKnownSmall = Ratio(
        "streams.known.small",
        "streams, known length",
        "100 B of a known length, rented: at most 1.10 of MemoryStream",
        1.1);

    public static readonly Bar StreamKnownLarge = Ratio(
        "streams.known.large",
        "streams, known length",
        "131,073 B of a known length: at most 1.00 of RecyclableMemoryStream; near that, interval at most 0.04 wide",
        1) with
    {
        Width = 0.04,
    };

    public static readonly Bar StreamCopy = Ratio(
        "streams.copy", "streams, CopyTo", "CopyTo of 1 KB and 1 MiB: at most 1.05 of MemoryStream", 1.05);

    public static readonly Bar StreamParallel = Ratio(
        "streams.parallel", "streams, parallel", "5 and 10 threads: wall time per stream at most 0.85 of MemoryStream", 0.85);

    public static readonly Bar StreamCompared = Count(
        "streams.compared", "streams, like MemoryStream", "random operations that do another thing than MemoryStream", 0);

    public static readonly Bar PdfSame = Count(
        "pdf.same", "pdf", "streams whose output differs from that of MemoryStream", 0);

    public static readonly Bar PdfReversed = Count(
        "pdf.reversed", "pdf", "pages that are not in reversed order", 0);

    public static readonly Bar PdfLargeObjects = Count(
        "pdf.loh", "pdf", "bytes on the large object heap beyond the best rival", 0);

    public static readonly Bar PdfGen2 = Count(
        "pdf.gen2", "pdf", "collections of generation 2 beyond the best rival", 0);
    public static readonly Bar PairSmall = Ratio(
        "native.pair.small", "malloc groups", "malloc, pair up to 1 KiB, 1 thread: at most 1.10 of every peer", 1.10);

    public static readonly Bar PairLarge = Ratio(
        "native.pair.large", "malloc groups", "malloc, pair 2-4 KiB, 1 thread: at most 1.10 of every peer", 1.10);

    public static readonly Bar PairCores = Ratio(
        "native.pair.cores", "malloc groups", "malloc, pair, a thread for each core: at most 1.10 of every peer", 1.10);

    public static readonly Bar PairMany = Ratio(
        "native.pair.threads", "malloc groups", "malloc, pair, 16 threads: at most 1.10 of every peer", 1.10);

    public static readonly Bar BulkSmall = Ratio(
        "native.bulk.small", "malloc groups", "malloc, bulk up to 256 B, 1 thread: at most 1.15 of every peer", 1.15);

    public static readonly Bar BulkLarge = Ratio(
        "native.bulk.large", "malloc groups", "malloc, bulk 512 B-4 KiB, 1 thread: at most 1.10 of every peer", 1.10);

    public static readonly Bar BulkCores = Ratio(
        "native.bulk.cores", "malloc groups", "malloc, bulk, a thread for each core: at most 1.10 of every peer", 1.10);

    public static readonly Bar BulkMany = Ratio(
        "native.bulk.threads", "malloc groups", "malloc, bulk, 16 threads: at most 1.10 of every peer", 1.10);

    public static readonly Bar StressOne = Ratio(
        "native.stress.one", "malloc groups", "malloc, stress, 1 thread: at most 1.15 of every peer", 1.15);

    public static readonly Bar StressCores = Ratio(
        "native.stress.cores", "malloc groups", "malloc, stress, a thread for each core: at most 1.10 of every peer", 1.10);

    public static readonly Bar StressMany = Ratio(
        "native.stress.threads", "malloc groups", "malloc, stress, 16 threads: at most 1.10 of every peer", 1.10);

    public static readonly Bar MixedOne = Ratio(
        "native.mixed.one", "malloc groups", "malloc, mixed sizes, 1 thread: at most 1.10 of every peer", 1.10);

    public static readonly Bar MixedCores = Ratio(
        "native.mixed.cores", "malloc groups", "malloc, mixed sizes, a thread for each core: at most 1.10 of every peer", 1.10);

    public static readonly Bar MixedMany = Ratio(
        "native.mixed.threads", "malloc groups", "malloc, mixed sizes, 16 threads: at most 1.10 of every peer", 1.10);

    public static readonly Bar ProducerConsumer = Ratio(
        "native.ring", "malloc groups", "malloc, producer/consumer: at most 1.10 of every peer", 1.10);

    public static readonly Bar MallocOverall = Ratio(
        "native.overall", "malloc groups", "malloc, all groups: at most 0.73 of the best peer", 0.73);

    public static readonly Bar PairShared = Ratio(
        "native.pair.shared", "pair", "pair through the shared library: at most 0.60 of mimalloc 2.0", 0.60);

    public static readonly Bar PairInline = Ratio(
        "native.pair.inline", "pair", "pair through the inline header: at most 0.40 of mimalloc 2.0", 0.40);

    public static readonly Bar PoolBoost = Ratio(
        "native.pool.boost", "pool<T>", "pool<T>, pair: at most 1.60 of boost::pool", 1.60);

    public static readonly Bar PoolSingleton = Ratio(
        "native.pool.singleton", "pool<T>", "pool<T>, pair, 1 thread: at most 0.15 of boost::singleton_pool", 0.15);

    public static readonly Bar PoolSingletonMany = Ratio(
        "native.pool.singleton.threads", "pool<T>", "pool<T>, pair, 16 threads: at most 0.15 of boost::singleton_pool", 0.15);

    public static readonly Bar PoolRemote = Count(
        "native.pool.remote", "pool<T>", "pool<T>: no block is left rented that another thread returned", 0);

    public static readonly Bar ResourceSynchronized = Ratio(
        "native.pmr.synchronized", "pmr resource", "memory resource, 1 thread: at most 0.11 of std::pmr::synchronized_pool_resource", 0.11);

    public static readonly Bar ResourceSynchronizedMany = Ratio(
        "native.pmr.synchronized.threads", "pmr resource", "memory resource, 16 threads: at most 0.10 of "
            + "std::pmr::synchronized_pool_resource", 0.10);

    public static readonly Bar ResourceUnsynchronized = Ratio(
        "native.pmr.unsynchronized", "pmr resource", "memory resource: at most 0.25 of std::pmr::unsynchronized_pool_resource", 0.25);

    public static readonly Bar VectorMean = Ratio(
        "native.vector.mean", "std::vector", "the classic experiment: at most 0.25 of std::vector on average (4 times as fast)", 0.25);

    public static readonly Bar VectorCell = Ratio(
        "native.vector.cell", "std::vector", "the classic experiment: at most 0.40 of std::vector in every cell (2.5 times as fast)", 0.40);

    public static readonly Bar VectorZeroed = Ratio(
        "native.vector.zeroed", "std::vector", "the classic experiment, zeroed and with a header object: at most 0.67 of std::vector "
            + "on average (1.5 times as fast)", 0.667);

    public static readonly Bar IdleResident = Count(
        "native.idle.resident", "idle memory", "2 s after 256 MiB were returned: at most 16 MiB resident", 16);

    public static readonly Bar PausedBulk = Ratio(
        "native.idle.paused", "idle memory", "bulk with pauses of 3 s: at most 2.50 of mimalloc", 2.50);

    public static readonly Bar PeakOverhead = Count(
        "native.peak", "peak memory", "256 MiB of blocks: at most 10 % more resident than requested", 10);

    public static readonly Bar StartResident = Count(
        "native.start", "start-up memory", "a C program at its start: at most 0.3 MiB anonymous memory resident", 0.3);

    public static readonly Bar SmallRounding = Count(
        "native.rounding.small",
        "resident memory",
        "blocks of 2 to 32 KiB: resident over requested bytes at most 0.05 above the worst of mimalloc, jemalloc and tcmalloc",
        0.05);

    public static readonly Bar LargeRounding = Count(
        "native.rounding", "resident memory", "blocks of 33,000 to 132,000 bytes: at most 1.15 of the requested bytes resident", 1.15);

    public static readonly Bar ThreadResident = Count(
        "native.thread", "resident memory", "a thread that used a little of 28 sizes: at most 0.8 MB resident", 0.8);

    public static readonly Bar LimitedProgram = Count(
        "native.limited", "resident memory", "a program limits its own address space to 4 GiB: mappings and threads that fail, or "
            + "memory beyond the limit: none", 0);

    public static readonly Bar Growth = Ratio(
        "native.growth", "growing a block", "a block grows to 256 MiB by 64 KiB, alone and with neighbours: realloc takes at most 3 times "
            + "glibc's", 3);

    public static readonly Bar MallocInstructions = Count(
        "native.count.malloc", "instructions", "malloc(64): at most 16 instructions", 16);

    public static readonly Bar FreeInstructions = Count(
        "native.count.free", "instructions", "free: at most 20 instructions", 20);

    public static readonly Bar MallocBranches = Count(
        "native.count.malloc.branches", "instructions", "malloc(64): at most 2 conditional branches", 2);

    public static readonly Bar FreeBranches = Count(
        "native.count.free.branches", "instructions", "free: at most 3 conditional branches", 3);

    public static readonly Bar ProgramPython = Ratio(
        "native.program.python", "programs", "python3's own tests: no malloc is faster by 5 %", 1.05);

    public static readonly Bar ProgramSqlite = Ratio(
        "native.program.sqlite", "programs", "sqlite3 bulk load: no malloc is faster by 5 %", 1.05);

    public static readonly Bar ProgramRedis = Ratio(
        "native.program.redis", "programs", "redis-server: no malloc is faster by 5 %; near that, interval at most 0.03 wide", 1.05) with
    {
        Width = 0.03,
    };

    public static readonly Bar ProgramGit = Ratio(
        "native.program.git", "programs", "git gc: no malloc is faster by 5 %", 1.05);

    public static readonly Bar ProgramCompiler = Ratio(
        "native.program.compiler", "programs", "g++: no malloc is faster by 5 %", 1.05);

    public static readonly Bar ProgramsCorrect = Count(
        "native.programs.correct", "programs", "programs that fail under our library: none", 0);

    public static readonly Bar TunedWaste = Count(
        "native.tuner", "tuner", "size classes from a recorded profile: at most 70 % of the waste is left", 70);

    public static readonly Bar NetLease = Ratio(
        "native.net.lease", ".NET", "native lease on a hit: at most 1.10 of a managed lease", 1.10);

    public static readonly Bar NetSmall = Ratio(
        "native.net.alloc.small", ".NET", "native lease of 64 B: at most 0.70 of NativeMemory.Alloc", 0.70);

    public static readonly Bar NetLarge = Ratio(
        "native.net.alloc.large", ".NET", "native lease from 4 KiB: at most 0.35 of NativeMemory.Alloc", 0.35);

    public static readonly Bar NetAligned = Ratio(
        "native.net.aligned", ".NET", "native lease: at most 0.20 of NativeMemory.AlignedAlloc", 0.20);

    public static readonly Bar ObjectsDepth1 = Ratio(
        "objects.depth1", "object pool, one thread", "objects, one thread, depth 1: at most 0.70 of Microsoft.Extensions.ObjectPool", 0.70);

    public static readonly Bar ObjectsLease = Ratio(
        "objects.lease", "object pool, one thread", "leased objects, depth 1: at most 0.85 of Microsoft.Extensions.ObjectPool", 0.85);

    public static readonly Bar ObjectsDeep = Ratio(
        "objects.deep", "object pool, two threads", "64 builders of 1 KB held by each of two threads: never slower than new ones", 1) with
    {
        Width = 0.04,
    };

    public static readonly Bar ObjectsCrowd = Ratio(
        "objects.threads.crowd", "object pool, two threads", "from one thread for each core to eight, depth 1 and 8: time "
            + "changes by at most 1.10 of what a loop of additions does", 1.10);

    public static readonly Bar ObjectsDepth8 = Ratio(
        "objects.depth8", "object pool, one thread", "objects, one thread, depth 8: at most 0.70 of Microsoft.Extensions.ObjectPool", 0.70);

    public static readonly Bar ObjectsBytes = Count(
        "objects.bytes", "object pool, one thread", "rented objects, raw and leased, allocate nothing", 0);

    public static readonly Bar ObjectsThreads = Ratio(
        "objects.threads", "object pool, two threads", "objects, two threads, depth 1 and 8: at most 0.25 of "
            + "Microsoft.Extensions.ObjectPool", 0.25);

    public static readonly Bar ObjectsScaling = Ratio(
        "objects.threads.scaling", "object pool, two threads", "from one thread to two, depth 1 and 8: time changes by at "
            + "most 1.25 of what a loop of additions does", 1.25);

    public static readonly Bar ObjectsDrain = Ratio(
        "objects.drain", "object pool, drain and refill", "2048 objects rented and returned: at most 0.95 of "
            + "Microsoft.Extensions.ObjectPool", 0.95);

    public static readonly Bar ObjectsDrainLease = Ratio(
        "objects.drain.lease", "object pool, drain and refill", "2048 objects leased and returned: at most 1.00 of "
            + "Microsoft.Extensions.ObjectPool; near that, interval at most 0.04 wide", 1) with
    {
        Width = 0.04,
    };

    public static readonly Bar ObjectsLinear = Ratio(
        "objects.drain.linear", "object pool, drain and refill", "2048 objects rented and returned: at most "
            + "1.50 of ours for each of 256", 1.50);

    public static readonly Bar ResourceSync = Ratio(
        "resources.one.sync", "resources, one caller", "synchronous rental of an idle resource: at most 1.10 "
            + "of SemaphoreSlim + ConcurrentQueue", 1.10);

    public static readonly Bar ResourceAsync = Ratio(
        "resources.one.async", "resources, one caller", "asynchronous rental of an idle resource: at most 1.10 "
            + "of SemaphoreSlim + ConcurrentQueue", 1.10);

    public static readonly Bar ResourceTwo = Ratio(
        "resources.two.async", "resources, one caller", "asynchronous rental of two idle resources: at most 1.60 "
            + "of SemaphoreSlim + ConcurrentQueue", 1.60);

    public static readonly Bar ResourceBytes = Count(
        "resources.one.bytes", "resources, one caller", "renting an idle resource allocates nothing", 0);

    public static readonly Bar ResourceMany64 = Ratio(
        "resources.many.64", "resources, many callers", "64 callers on 8: at most 1.50 of SemaphoreSlim + ConcurrentQueue, which wait "
            + "without a limit", 1.5);

    public static readonly Bar ResourceMany64Alike = Ratio(
        "resources.many.64.alike", "resources, many callers", "64 callers on 8: at most 1.05 of a semaphore with a time limit", 1.05);

    public static readonly Bar ResourceMany1000 = Ratio(
        "resources.many.1000", "resources, many callers", "1000 callers on 50: at most 1.35 of SemaphoreSlim + ConcurrentQueue, which "
            + "wait without a limit", 1.35);

    public static readonly Bar ResourceMany1000Alike = Ratio(
        "resources.many.1000.alike", "resources, many callers", "1000 callers on 50: at most 1.05 of a semaphore with a time limit", 1.05);

    public static readonly Bar ResourceFair = Ratio(
        "resources.fair", "resources, many callers", "99.9 % of the rentals wait at most 1.5 times as many turns as half of them", 1.5);

    public static readonly Bar ResourceThreads = Ratio(
        "resources.sync.time", "resources, sync callers", "8 threads on 4, parked: at most 1.05 of "
            + "SemaphoreSlim.Wait + ConcurrentQueue", 1.05);

    public static readonly Bar ResourceInjection = Count(
        "resources.sync.threads", "resources, sync callers", "synchronous callers make the thread pool add no thread", 0);

    public static readonly Bar ResourceWork = Ratio(
        "resources.work", "resources, 5 ms work", "200 callers, 5 ms each, 10 resources: at most 1.10 of 10 workers without a pool", 1.10);

    public static readonly Bar ResourceBurst = Ratio(
        "resources.burst", "resources, cold burst", "100 callers at a cold pool, 20 ms to create, 4 "
            + "creators: at most 1.10 of 500 ms", 1.10);

    public static readonly Bar ResourceKilled = Count(
        "resources.killed", "resources, server killed", "all connections closed by the server: no failed "
            + "request beyond the leases that were out", 0);

    public static readonly Bar KeyedHot = Ratio(
        "resources.keyed.hot", "resources, keyed", "one hot key: at most 1.5 of the pool without keys", 1.5);

    public static readonly Bar KeyedBytes = Count(
        "resources.keyed.bytes", "resources, keyed", "a key that was forgotten leaves nothing behind", 0);

    public static readonly Bar KestrelHttp1 = RequestRate("http1", "HTTP/1.1");

    public static readonly Bar KestrelHttp2 = RequestRate("http2", "HTTP/2");

    public static readonly Bar KestrelTls = RequestRate("tls", "HTTP/1.1 over TLS");

    public static readonly Bar KestrelBytes = Count(
        "kestrel.bytes", "kestrel, requests", "bytes allocated for a request: not above Kestrel's own pool (to half a byte)", 0.5);

    public static readonly Bar KestrelIdle = Count(
        "kestrel.idle", "kestrel, memory", "60 s after a burst the pool has at most 10 % of its peak", 10);

    public static readonly Bar KestrelLeased = Count("kestrel.leased", "kestrel, memory", "no block is leased at the end", 0);

    public static readonly Bar KestrelFailed = Count(
        "kestrel.failed", "kestrel, memory", "no request fails, by any protocol and in the burst", 0);

    public static readonly Bar HttpShared = Count(
        "http.shared.sockets", "http, sockets", "one HttpClient leaves at most 2 sockets in TIME_WAIT", 2);

    public static readonly Bar HttpPerRequest = Count(
        "http.each.sockets", "http, sockets", "an HttpClient per request: at most 10 % of the requests leave no "
            + "socket (at least 0.9 sockets for each)", 10);

    public static readonly Bar HttpOurs = Count(
        "http.ours.sockets", "http, sockets", "shared leases of a handler leave as few sockets as one HttpClient", 0);

    public static readonly Bar HttpFollows = Count(
        "http.ours.follows", "http, change of address", "shared leases of a handler: no answer of the old server later "
            + "than their lifetime after the change", 0);

    public static readonly Bar HttpPorts = Count(
        "http.ours.ports", "http, ports", "shared leases of a handler: no request fails for want of a port", 0);

    public static readonly Bar HttpPortsPerRequest = Count(
        "http.each.ports", "http, ports", "an HttpClient per request: no answer beyond as many as there are ports", 0);

    public static readonly Bar ThreadsPooled = Ratio(
        "threads.pooled", "threads, 10,000 empty items", "thread pool and tasks, 10,000 empty items: at "
            + "most 0.5 of a thread for each", 0.5);

    public static readonly Bar ThreadsAsync = Ratio(
        "threads.async", "threads, async delay", "items that await 10 ms: at most 0.5 of items that block for 10 ms", 0.5);

    public static readonly Bar ThreadsDistinct = Count(
        "threads.distinct", "threads, distinct", "no more threads work than there are items", 1);

    public static readonly SessionBars FileSessions = new("sqlite", "SQLite");

    public static readonly SessionBars ServerSessions = new("postgres", "PostgreSQL");

    public static readonly Bar ConnectionOpen = Ratio(
        "connections.open", "connections, opening", "open and dispose an idle connection, no reset: at "
            + "most 0.60 of NpgsqlDataSource", 0.60);

    public static readonly Bar ConnectionLatency = Ratio(
        "connections.latency", "connections, PostgreSQL", "open, SELECT 1, dispose, 1 caller on 4: at most 1.10 of Npgsql", 1.10);

    public static readonly Bar ConnectionManyResets = Ratio(
        "connections.many.reset", "connections, PostgreSQL", "64 callers on 8, reset between users: at most 1.60 of Npgsql, which "
            + "sends its reset with the next statement", 1.6);

    public static readonly Bar ConnectionLatencyAlike = Ratio(
        "connections.latency.alike", "connections, PostgreSQL", "1 caller on 4, both pools reset with the next statement, or both "
            + "immediately: at most 1.10 of Npgsql", 1.10);

    public static readonly Bar ConnectionManyResetsAlike = Ratio(
        "connections.many.reset.alike", "connections, PostgreSQL", "64 callers on 8, both pools reset with the next statement, or both "
            + "immediately: at most 1.10 of Npgsql", 1.10);

    public static readonly Bar ConnectionManyPlain = Ratio(
        "connections.many.plain", "connections, PostgreSQL", "64 callers on 8, no reset: throughput at least 1.1 "
            + "of Npgsql (time at most 0.909)", 1 / 1.1);

    public static readonly Bar ConnectionUnpooled = Ratio(
        "connections.unpooled", "connections, PostgreSQL", "open, SELECT 1, dispose: at least 30 times as fast as "
            + "without a pool (time at most 0.033)", 1 / 30.0);

    public static readonly Bar ConnectionKilled = Count(
        "connections.killed", "connections, sessions ended", "all sessions ended: no failed request beyond "
            + "the connections that were open", 0);

    public static readonly Bar ConnectionFaults = Count(
        "connections.faults.failed",
        "connections, faults",
        "a restart and a planned switchover fail at most a tenth of the writes that fail with Npgsql's pool",
        0.1);

    public static readonly Bar ConnectionFaultsServed = Count(
        "connections.faults.served", "connections, faults", "after a fault every caller that writes is served again", 0);

    public static readonly Bar ConnectionRecovery = Ratio(
        "connections.recovery.late",
        "connections, recovery",
        "half of the callers are served within 15 % of an outage after its end (0.2 s after a short one)",
        15);

    public static readonly Bar ConnectionRecoveryFailed = Count(
        "connections.recovery.failed", "connections, recovery", "an outage fails no more requests than with Npgsql's pool", 1);

    public static readonly Bar ConnectionRecoveryAttempts = Count(
        "connections.recovery.tries", "connections, recovery", "a server that is away is tried at most 50 times a second", 50);

    public static readonly Bar MySqlFaults = Count(
        "connections.mysql.failed",
        "connections, MariaDB",
        "no fault fails more writes to MariaDB than with MySqlConnector's own pool (ends of all sessions apart: one for each caller)",
        1);

    public static readonly Bar FleetTransaction = Count(
        "fleet.transaction",
        "fleet, together",
        "8 processes with 20 callers on 20 connections, pooler in transaction mode: no request fails",
        0);

    public static readonly Bar FleetSession = Count(
        "fleet.session",
        "fleet, together",
        "8 processes with 20 callers on 20 connections, pooler in session mode, sum of MaxSize at most 20: no request fails",
        0);

    public static readonly Bar FleetLatency = Ratio(
        "fleet.latency", "fleet, asking", "open, SELECT 1, dispose behind PgBouncer: at most 1.10 of Npgsql's pool behind it", 1.10);

    public static readonly Bar FleetLatencyAlike = Ratio(
        "fleet.latency.alike",
        "fleet, asking",
        "the same in session mode where our reset goes with the next statement, as that of Npgsql's pool does: at most 1.10",
        1.10);

    public static readonly Bar AdviseOverhead = Ratio(
        "advise.overhead",
        "advise, the program",
        "a program that allocates 1 GB/s takes at most 1.03 of its time while advise looks at it; near that, interval at most 0.04 wide",
        1.03) with
    {
        Width = 0.04,
    };

    public static readonly Bar WatchOverhead = Ratio(
        "advise.watch",
        "advise, the program",
        "a program that allocates 1 GB/s takes at most 1.01 of its time while watch looks at it; near that, interval at most 0.04 wide",
        1.01) with
    {
        Width = 0.04,
    };

    public static readonly Bar AdviseAnswer = Ratio(
        "advise.answer", "advise, the tool", "advise answers at most 5 seconds after its window, its start in them", 5);

    public static readonly Bar AdviseMemory = Ratio(
        "advise.memory", "advise, the tool", "advise and watch take at most 300 MB themselves", 300);

    public static readonly Bar AdviseSavings = Ratio(
        "advise.savings",
        "advise, the saving",
        "of ten planted programs at most 2 save bytes or processor time outside of what advise estimated",
        2);

    public static readonly Bar AdviseTraps = Count(
        "advise.traps", "advise, the saving", "of two programs that no pool helps, none is advised one, and none saves time with it", 0);

    public static readonly Bar EfBackends = Count(
        "ef.backends", "ef", "units of work over our pool use no more sessions than over the provider's pool", 0);

    public static readonly Bar EfUnpooled = Count(
        "ef.unpooled", "ef", "five units of work without a pool use 5 sessions", 5);

    public static readonly Bar EfSelect = Ratio(
        "ef.select", "ef", "a SELECT by key through UseTidepool takes at most 1.10 of the time over Npgsql's pool", 1.10);

    public static readonly Bar EfInsert = Ratio(
        "ef.insert", "ef", "an INSERT through UseTidepool takes at most 1.10 of the time over Npgsql's pool", 1.10);

    public static readonly Bar EfSelectAlike = Ratio(
        "ef.select.alike", "ef", "a SELECT by key where our reset goes with the next statement, as Npgsql's does: at most 1.10", 1.10);

    public static readonly Bar EfInsertAlike = Ratio(
        "ef.insert.alike", "ef", "an INSERT where our reset goes with the next statement, as Npgsql's does: at most 1.10", 1.10);

    /// <summary>All bars.</summary>
    public static IReadOnlyList<Bar> All { get; } =
    [
        RawInlined, RawCallSite, LeaseInlined, LeaseCallSite, LeaseBytes, ScopeOwn, ScopeInlined, ScopeCallSite, ScopeLease, Handle,
        Depth8Inlined, Depth8CallSite, Depth8Own, ThreadsDepth8, ThreadsScaling, ThreadsOwn, ThreadsCrowd, RingShared, RingLease,
        RingRaw, PingPong, Hop,
        Objects, Grid, GridEmpty, GridLarge, Empty, Waste, FullChecks, Overflow,
        ReusedKestrel, ReusedInlined, ReusedCallSite, ReusedDepth8, ReusedBytes, HeldBytes, NativeReusedBytes, NativeHeldBytes,
        IdleHeld, IdleAlive, TrimHeld, TrimAlive, IdleCollected, EpochTime, EpochGate,
        StreamSmall, StreamNewBytes, StreamRentedBytes, StreamSmallRecyclable, StreamSmallSlim, StreamTiny, StreamTinyRecyclable,
        StreamTinySlim, StreamMediumOnce, StreamMediumParts, StreamMediumRecyclable,
        StreamLarge, StreamLargeBytes, StreamLongBytes, StreamLargeRented, StreamLargeObjects, StreamLargeRecyclable, StreamLargeSlim,
        StreamByteExact, StreamByteBase, StreamKnownSmall, StreamKnownLarge, StreamCopy,
        StreamParallel, StreamCompared,
        PdfSame, PdfReversed, PdfLargeObjects, PdfGen2,
        ResourceSync, ResourceAsync, ResourceTwo, ResourceBytes, ResourceMany64, ResourceMany64Alike, ResourceMany1000,
        ResourceMany1000Alike, ResourceFair, ResourceThreads, ResourceInjection,
        ResourceWork, ResourceBurst, ResourceKilled, KeyedHot, KeyedBytes,
        KestrelHttp1, KestrelHttp2, KestrelTls, KestrelBytes, KestrelIdle, KestrelLeased, KestrelFailed,
        HttpShared, HttpPerRequest, HttpOurs, HttpFollows, HttpPorts, HttpPortsPerRequest,
        ThreadsPooled, ThreadsAsync, ThreadsDistinct,

        .. FileSessions.All, .. ServerSessions.All,
        ConnectionOpen, ConnectionLatency, ConnectionLatencyAlike, ConnectionManyResets, ConnectionManyResetsAlike,
        ConnectionManyPlain, ConnectionUnpooled, ConnectionKilled, ConnectionFaults, ConnectionFaultsServed,
        MySqlFaults, FleetTransaction, FleetSession, FleetLatency, FleetLatencyAlike,
        AdviseOverhead, WatchOverhead, AdviseAnswer, AdviseMemory, AdviseSavings, AdviseTraps,
        ConnectionRecovery, ConnectionRecoveryFailed, ConnectionRecoveryAttempts, EfBackends, EfUnpooled, EfSelect, EfInsert,
        EfSelectAlike, EfInsertAlike,
        PairSmall, PairLarge, PairCores, PairMany, BulkSmall, BulkLarge, BulkCores, BulkMany, StressOne, StressCores,
        StressMany, MixedOne, MixedCores, MixedMany, ProducerConsumer, MallocOverall, PairShared, PairInline, PoolBoost,
        PoolSingleton, PoolSingletonMany, PoolRemote, ResourceSynchronized, ResourceSynchronizedMany, ResourceUnsynchronized,
        VectorMean, VectorCell, VectorZeroed, IdleResident, PausedBulk, PeakOverhead, StartResident, SmallRounding,
        LargeRounding, ThreadResident, LimitedProgram,
        Growth, MallocInstructions, FreeInstructions, MallocBranches, FreeBranches, ProgramPython, ProgramSqlite, ProgramRedis, ProgramGit,
        ProgramCompiler, ProgramsCorrect, TunedWaste, NetLease, NetSmall, NetLarge, NetAligned,
        ObjectsDepth1, ObjectsLease, ObjectsDeep, ObjectsCrowd, ObjectsDepth8, ObjectsBytes, ObjectsThreads, ObjectsScaling,
        ObjectsDrain, ObjectsDrainLease, ObjectsLinear,
    ];

    private static Bar RequestRate(string id, string protocol) => Ratio(
        $"kestrel.{id}.time",
        "kestrel, requests",
        $"{protocol}: requests in a second at least 0.97 of Kestrel's own pool (time at most 1.0309); near that, "
            + "interval at most 0.04 wide",
        1 / 0.97) with
    {
        Width = 0.04,
    };

    private static Bar Ratio(string id, string row, string name, double limit) => new(id, row, name, BarKind.Ratio, limit);

    private static Bar Count(string id, string row, string name, double limit) => new(id, row, name, BarKind.Count, limit);
}
