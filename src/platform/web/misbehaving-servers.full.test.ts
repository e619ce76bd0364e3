import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { failureOf, serveToWeb, serveRawToWeb } from "./testing.ts"

describe("a server that misbehaves ends the request clearly", () => {
  test("it sends a byte now and then, for ever", async () => {
    const { web, url } = await serveRawToWeb((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
      const timer = setInterval(() => socket.write("x"), 5)
      socket.on("close", () => clearInterval(timer))
    })
    expect(await failureOf(web.send({ url, timeoutMs: 400 }))).toMatchObject({
      code: "request_timeout",
      sentence: expect.stringMatching(/did not (answer|finish its response) within 0.4 s/),
    })
  })

  test("it stops before its response, or within it", async () => {
    // The dispatcher's clock is coarse: it ticks about once a second.
    const limits = { silenceMs: 1000 }
    const silent = await serveRawToWeb(() => undefined, limits)
    const half = await serveRawToWeb(
      (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"),
      limits,
    )
    const [before, within] = await Promise.all([silent, half].map(({ web, url }) => failureOf(web.send({ url }))))
    expect(before).toMatchObject({ code: "request_timeout", sentence: expect.stringContaining("sent no response") })
    expect(within).toMatchObject({
      code: "request_timeout",
      sentence: expect.stringContaining("stopped in the middle"),
    })
  })
})

describe("compressed responses are decompressed while they arrive", () => {
  test("one that decompresses to a gigabyte is cut", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const double = gzipSync(bomb)
    for (const [encoding, bytes] of [
      ["gzip", bomb],
      ["gzip, gzip", double],
    ] as const) {
      const { web, at } = await serveToWeb((_, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(bytes),
      )
      const answer = await web.send({ url: at("/"), maxBytes: 100_000 })
      expect([answer.bytes.length, answer.truncated]).toEqual([100_000, true])
    }
  })
})
