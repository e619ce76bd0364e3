import { once } from "node:events"
import { createServer } from "node:http"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import type { WebAddress } from "../../guards/hosts/web-address.ts"
import { startDeadline } from "./deadline.ts"
import { failureOf, listenOnFreePort, openTestWeb, serveToWeb, serveRawToWeb } from "./testing.ts"

describe("a server that misbehaves ends the request clearly", () => {
  test("it never answers", async () => {
    const { web, url } = await serveRawToWeb(() => undefined, { silenceMs: 60_000 })
    expect(await failureOf(web.send({ url, timeoutMs: 50 }))).toEqual({
      code: "request_timeout",
      sentence: "127.0.0.1 did not answer within 0.05 s. Try later, or allow it more time.",
      transient: false,
    })
  })

  test("the error says how much had arrived", async () => {
    const deadline = startDeadline(1, undefined)
    deadline.onReceived(3)
    await once(deadline.signal, "abort")
    const ending = deadline.errorFor({ host: "a.test" } as WebAddress)
    expect(String(ending)).toContain("a.test did not finish its response within 0.001 s; 3 bytes had arrived.")
  })

  test("it announces more than it sends", async () => {
    const { web, url } = await serveRawToWeb(
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort"),
    )
    expect(await failureOf(web.send({ url }))).toMatchObject({ code: "connection_lost", transient: true })
  })

  test("it announces less than it sends: only that is read", async () => {
    const { web, url } = await serveRawToWeb(
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nshort and more"),
    )
    expect((await web.send({ url })).bytes.toString()).toBe("short")
  })

  test("it sends without end: the body is cut at the limit and the connection closed", async () => {
    let sent = 0
    const closed = new Promise<void>((resolve) => {
      void serveRawToWeb((socket) => {
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

  test("it sends something that is not HTTP, or headers without end", async () => {
    const garbage = await serveRawToWeb((socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n"))
    expect(await failureOf(garbage.web.send({ url: garbage.url }))).toMatchObject({ code: "bad_answer" })
    const headers = await serveRawToWeb((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      for (let at = 0; at < 3000 && !socket.destroyed; at++) socket.write(`x-${at}: ${"y".repeat(100)}\r\n`)
    })
    expect(await failureOf(headers.web.send({ url: headers.url }))).toMatchObject({ code: "bad_answer" })
  })

  test("nothing listens, or the name does not exist", async () => {
    const port = await listenOnFreePort(createServer())
    const gone = createServer()
    const closedPort = await listenOnFreePort(gone)
    await new Promise((resolve) => gone.close(resolve))
    expect(port).not.toBe(closedPort)
    expect(
      await failureOf(openTestWeb([`127.0.0.1:${closedPort}`]).send({ url: `http://127.0.0.1:${closedPort}/` })),
    ).toMatchObject({
      code: "connection_refused",
      transient: true,
    })
    const unknown = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" })
    }
    expect(
      await failureOf(openTestWeb(["*"], { lookup: unknown }).send({ url: "http://nowhere.test/" })),
    ).toMatchObject({
      code: "host_not_found",
      sentence: "There is no host nowhere.test. Check the address.",
    })
  })

  test("a failure never contains the whole address, because it may contain a key", async () => {
    const { web, url } = await serveRawToWeb((socket) => void socket.destroy())
    const { sentence } = await failureOf(web.send({ url: `${url}path?key=hunter2` }))
    expect(sentence).not.toContain("hunter2")
  })
})

describe("compressed responses are decompressed while they arrive", () => {
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
    const { web, at } = await serveToWeb((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(bytes),
    )
    expect((await web.send({ url: at("/") })).bytes.toString()).toBe(text)
  })

  test("a wrong or unknown compression is an error", async () => {
    for (const [encoding, bytes] of [
      ["gzip", "plain"],
      ["br", "plain"],
      ["zstd", "x"],
      ["gzip,gzip,gzip,gzip", "x"],
      ["gzip", gzipSync(text).subarray(0, 40)],
    ] as const) {
      // prettier-ignore
      const { web, at } = await serveToWeb((_, response) => response.writeHead(200, { "content-encoding": encoding }).end(bytes))
      expect(await failureOf(web.send({ url: at("/") }))).toMatchObject({ code: "bad_answer" })
    }
  })

  test("a response without a body has none, whatever its content-encoding says", async () => {
    const { web, at } = await serveToWeb((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end())
    expect((await web.send({ url: at("/"), method: "HEAD" })).bytes.length).toBe(0)
    expect((await web.send({ url: at("/") })).bytes.length).toBe(0)
  })
})
