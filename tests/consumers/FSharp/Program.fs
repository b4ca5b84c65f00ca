// Leases, a stream and an object pool from F#.
open System.Text
open Tidepool

let rent () =
    use lease = BufferPool<byte>.Shared.Rent(1000)
    let written = Encoding.UTF8.GetBytes("rent, use, return", lease.Span)
    printfn "wrote %d of %d bytes" written lease.Length

let stream () =
    use stream = new PooledMemoryStream()
    stream.Write(Encoding.UTF8.GetBytes "in a stream")
    printfn "a stream of %d bytes" stream.Length

rent ()
stream ()
