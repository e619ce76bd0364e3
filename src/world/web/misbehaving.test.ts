import { once } from "node:events"
import { createServer } from "node:http"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import type { WebAddress } from "../../policy/hosts-reading.ts"
import { startDeadline } from "./deadline.ts"
import { failureOf, listen, open, serve, serveRaw } from "./testing.ts"

describe("a server that misbehaves ends the request clearly", () => {
  test("it never answers", async () => {
    const { web, url } = await serveRaw(() => undefined, { silenceMs: 60_000 })
    expect(await failureOf(web.send({ url, timeoutMs: 50 }))).toEqual({
      code: "request_timeout",
      sentence: "127.0.0.1 did not answer within 0.05 s. Try later, or allow it more time.",
      transient: false,
    })
  })

  test("it sends a byte now and then, for ever", async () => {
    const { web, url } = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
      const timer = setInterval(() => socket.write("x"), 5)
      socket.on("close", () => clearInterval(timer))
    })
    expect(await failureOf(web.send({ url, timeoutMs: 400 }))).toMatchObject({
      code: "request_timeout",
      sentence: expect.stringMatching(/did not (finish its )?answer within 0.4 s/),
    })
  })

  test("what had come until then is said", async () => {
    const deadline = startDeadline(1, undefined)
    deadline.came(3)
    await once(deadline.signal, "abort")
    const ending = deadline.ending({ host: "a.test" } as WebAddress)
    expect(String(ending)).toContain("a.test did not finish its answer within 0.001 s; 3 bytes had come.")
  })

  test("it stops before its answer, or within it", async () => {
    // The dispatcher's own clock is coarse: it looks about once a second.
    const limits = { silenceMs: 1000 }
    const silent = await serveRaw(() => undefined, limits)
    const half = await serveRaw((socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"), limits)
    const [before, within] = await Promise.all([silent, half].map(({ web, url }) => failureOf(web.send({ url }))))
    expect(before).toMatchObject({ code: "request_timeout", sentence: expect.stringContaining("did not begin") })
    expect(within).toMatchObject({
      code: "request_timeout",
      sentence: expect.stringContaining("stopped in the middle"),
    })
  })

  test("it says that more comes than does", async () => {
    const { web, url } = await serveRaw(
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort"),
    )
    expect(await failureOf(web.send({ url }))).toMatchObject({ code: "connection_lost", transient: true })
  })

  test("it says that less comes than does: what it said is what is read", async () => {
    const { web, url } = await serveRaw(
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nshort and more"),
    )
    expect((await web.send({ url })).bytes.toString()).toBe("short")
  })

  test("it sends without end: it is cut at what was wanted, and the connection closed", async () => {
    let sent = 0
    const closed = new Promise<void>((resolve) => {
      void serveRaw((socket) => {
        socket.on("close", () => resolve())
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        const chunk = Buffer.alloc(65_536, "x")
        const more = () => {
          while (!socket.destroyed && socket.write(chunk)) sent += chunk.length
        }
        socket.on("drain", more)
        more()
      }).then(async ({ web, url }) => {
        const answer = await web.send({ url, maxBytes: 1_000_000 })
        expect([answer.bytes.length, answer.truncated]).toEqual([1_000_000, true])
      })
    })
    await closed
    expect(sent).toBeLessThan(50_000_000)
  })

  test("it answers something that is no http, or headers without end", async () => {
    const garbage = await serveRaw((socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n"))
    expect(await failureOf(garbage.web.send({ url: garbage.url }))).toMatchObject({ code: "bad_answer" })
    const headers = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      for (let at = 0; at < 3000 && !socket.destroyed; at++) socket.write(`x-${at}: ${"y".repeat(100)}\r\n`)
    })
    expect(await failureOf(headers.web.send({ url: headers.url }))).toMatchObject({ code: "bad_answer" })
  })

  test("nothing listens, or the name does not exist", async () => {
    const port = await listen(createServer())
    const gone = createServer()
    const closedPort = await listen(gone)
    await new Promise((resolve) => gone.close(resolve))
    expect(port).not.toBe(closedPort)
    expect(
      await failureOf(open([`127.0.0.1:${closedPort}`]).send({ url: `http://127.0.0.1:${closedPort}/` })),
    ).toMatchObject({
      code: "connection_refused",
      transient: true,
    })
    const unknown = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" })
    }
    expect(await failureOf(open(["*"], { lookup: unknown }).send({ url: "http://nowhere.test/" }))).toMatchObject({
      code: "host_not_found",
      sentence: "There is no host nowhere.test. Check the address.",
    })
  })

  test("an address is never told whole in a failure, because it may hold a key", async () => {
    const { web, url } = await serveRaw((socket) => void socket.destroy())
    const { sentence } = await failureOf(web.send({ url: `${url}path?key=hunter2` }))
    expect(sentence).not.toContain("hunter2")
  })
})

describe("packed answers are unpacked as they come", () => {
  const text = "quartermaster ".repeat(1000)
  test.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
    ["identity", Buffer.from(text)],
  ])("%s", async (encoding, bytes) => {
    const { web, at } = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(bytes),
    )
    expect((await web.send({ url: at("/") })).bytes.toString()).toBe(text)
  })

  test("one that unpacks to a gigabyte is cut", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const double = gzipSync(bomb)
    for (const [encoding, bytes] of [
      ["gzip", bomb],
      ["gzip, gzip", double],
    ] as const) {
      const { web, at } = await serve((_, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(bytes),
      )
      const answer = await web.send({ url: at("/"), maxBytes: 100_000 })
      expect([answer.bytes.length, answer.truncated]).toEqual([100_000, true])
    }
  })

  test("what is not packed as it says, or in no known way, is said", async () => {
    for (const [encoding, bytes] of [
      ["gzip", "plain"],
      ["br", "plain"],
      ["zstd", "x"],
      ["gzip,gzip,gzip,gzip", "x"],
      ["gzip", gzipSync(text).subarray(0, 40)],
    ] as const) {
      // prettier-ignore
      const { web, at } = await serve((_, response) => response.writeHead(200, { "content-encoding": encoding }).end(bytes))
      expect(await failureOf(web.send({ url: at("/") }))).toMatchObject({ code: "bad_answer" })
    }
  })

  test("an answer without a body stays without one, whatever it says of packing", async () => {
    const { web, at } = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end())
    expect((await web.send({ url: at("/"), method: "HEAD" })).bytes.length).toBe(0)
    expect((await web.send({ url: at("/") })).bytes.length).toBe(0)
  })
})
