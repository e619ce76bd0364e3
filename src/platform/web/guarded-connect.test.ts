import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { guardedConnect } from "./guarded-connect.ts"

async function listener() {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.end("hello")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

const lines = (...texts: string[]) => texts.map((text, index) => ({ text, source: `tools.hosts.allow[${index}]` }))
const codeOf = (connecting: Promise<unknown>) =>
  connecting.then(
    () => "connected",
    (error: { toolCode?: string; message: string }) => `${error.toolCode}: ${error.message}`,
  )

test("it connects to what a line of the configuration names with its port", async () => {
  const { port } = await listener()
  const connect = guardedConnect({ allow: lines(`127.0.0.1:${port}`), deny: [], own: () => [] })
  const socket = await connect({ host: "127.0.0.1", port })
  const [text] = (await once(socket, "data")) as [Buffer]
  expect(text.toString()).toBe("hello")
})

test("a loopback address that no line names is refused, by number and by name, and nothing arrives", async () => {
  const { port, connections } = await listener()
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }]
  const connect = guardedConnect({ allow: [], deny: [], own: () => [], lookup })
  for (const host of ["127.0.0.1", "localhost", "::1", "::ffff:127.0.0.1", "rebound.example"])
    expect(await codeOf(connect({ host, port, decided: true }))).toMatch(/^host_denied: /)
  expect(connections()).toBe(0)
})

test("our own address is refused even where a line allows it", async () => {
  const { port, connections } = await listener()
  const own = () => [`http://127.0.0.1:${port}`]
  const connect = guardedConnect({ allow: lines(`127.0.0.1:${port}`, `localhost:${port}`), deny: [], own })
  for (const host of ["127.0.0.1", "localhost", "127.0.0.2"])
    expect(await codeOf(connect({ host, port, decided: true }))).toMatch(/^host_denied: /)
  expect(connections()).toBe(0)
})

test("what a person would be asked about is refused unless a call was decided on it", async () => {
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }]
  const connect = guardedConnect({ allow: [], deny: [], own: () => [], lookup })
  const target = { host: "shop.example", port: 8080 }
  expect(await codeOf(connect(target))).toContain("Nobody was asked about shop.example:8080")
  expect(await codeOf(connect({ ...target, decided: true }))).toContain("shop.example leads to 127.0.0.1")
})

test("where only listed hosts are wanted, a public one needs a line or a call", async () => {
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }]
  const connect = guardedConnect({ allow: lines("wiki.example"), deny: [], own: () => [], lookup })
  const to = (host: string, more: object) => codeOf(connect({ host, port: 443, ...more }))
  const refused = "host_denied: evil.example is on no list of hosts. Go there by a call"
  expect(await to("evil.example", { listedOnly: true })).toContain(refused)
  // A host that gets past the lists ends at the address that the name has here.
  for (const [host, more] of [
    ["evil.example", {}],
    ["evil.example", { listedOnly: true, decided: true }],
    ["wiki.example", { listedOnly: true }],
  ] as const)
    expect(await to(host, more)).toContain(`${host} leads to 127.0.0.1`)
})

test.each([
  ["a closed port", "127.0.0.1", "connection_refused"],
  ["a name that nobody has", "nobody.example", "host_not_found"],
])("%s has a code and a sentence", async (_, host, code) => {
  const lookup = async () => {
    throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" })
  }
  const connect = guardedConnect({ allow: lines("127.0.0.1:9"), deny: [], own: () => [], lookup })
  expect(await codeOf(connect({ host, port: 9, decided: true }))).toMatch(new RegExp(`^${code}: `))
})
