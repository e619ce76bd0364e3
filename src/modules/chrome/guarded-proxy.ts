import { createServer, type AddressInfo, type Socket } from "node:net"
import type { ModuleRuntime } from "../../platform/module-runtime.ts"

/** A connection that a page wanted and did not get. */
export interface RefusedConnection {
  readonly host: string
  readonly port: number
  readonly code: string
  readonly sentence: string
}

export interface GuardedProxy {
  readonly port: number
  /** Refused connections, oldest first; at most a hundred. */
  readonly refused: RefusedConnection[]
  /** Notes that a call was decided on this address, so that it may have an unusual port or no encryption. */
  allow(url: string): void
  close(): void
}

const most = 100

/**
 * A SOCKS5 server on loopback that a browser uses for everything. It sees host and port of each connection and connects
 * through the module's `hosts.connect`, so that the host lists hold for what a page does as for what a tool does.
 */
export async function openProxy(connect: ModuleRuntime["hosts"]["connect"]): Promise<GuardedProxy> {
  const sockets = new Set<Socket>()
  const decided = new Set<string>()
  const refused: RefusedConnection[] = []
  const server = createServer((client) => {
    sockets.add(client)
    client.on("error", () => client.destroy())
    client.once("close", () => sockets.delete(client))
    void serve(client).catch(() => client.destroy())
  })

  async function serve(client: Socket): Promise<void> {
    const read = reader(client)
    const [version, methods = 0] = await read(2)
    if (version !== 5) return void client.destroy()
    await read(methods)
    client.write(Buffer.from([5, 0]))
    const target = await readTarget(read)
    if (target === undefined) return void client.end(reply(7))
    const { host, port } = target
    try {
      const remote = await connect({ host, port, decided: decided.has(`${host}:${port}`) })
      join(client, remote, read.rest())
    } catch (error) {
      const { toolCode = "request_failed", message } = error as Error & { toolCode?: string }
      if (refused.length >= most) refused.shift()
      refused.push({ host, port, code: toolCode, sentence: message })
      client.end(reply(toolCode === "host_denied" ? 2 : 4))
    }
  }

  function join(client: Socket, remote: Socket, rest: Buffer): void {
    sockets.add(remote)
    remote.once("close", () => {
      sockets.delete(remote)
      client.destroy()
    })
    remote.on("error", () => client.destroy())
    client.once("close", () => remote.destroy())
    if (client.destroyed) return void remote.destroy()
    client.write(reply(0))
    remote.setNoDelay(true)
    client.setNoDelay(true)
    if (rest.length > 0) remote.write(rest)
    client.pipe(remote).pipe(client)
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    refused,
    allow(url) {
      const { hostname, port, protocol } = new URL(url)
      const host = hostname.replace(/^\[|\]$/g, "")
      decided.add(`${host}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`)
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Read = ((length: number) => Promise<Buffer>) & { rest(): Buffer }

/** Reads exact lengths from a socket. `rest` ends the reading and returns what came early. */
function reader(socket: Socket): Read {
  let held: Buffer = Buffer.alloc(0)
  let onMore: (() => void) | undefined
  let isOver = false
  const onData = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    onMore?.()
  }
  socket.on("data", onData)
  socket.once("close", () => {
    isOver = true
    onMore?.()
  })
  const read = async (length: number) => {
    while (held.length < length) {
      if (isOver || held.length > 1024) throw new Error("The connection ended early.")
      await new Promise<void>((resolve) => (onMore = resolve))
    }
    const part = held.subarray(0, length)
    held = held.subarray(length)
    return part
  }
  const rest = () => {
    socket.off("data", onData)
    return held
  }
  return Object.assign(read, { rest })
}

/** The host and port of a CONNECT request; undefined for anything else, such as UDP. */
async function readTarget(read: Read): Promise<{ host: string; port: number } | undefined> {
  const [, command, , kind] = await read(4)
  const host = await readHost(read, kind)
  const port = (await read(2)).readUInt16BE(0)
  return command === 1 && host !== undefined ? { host, port } : undefined
}

async function readHost(read: Read, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return (await read(4)).join(".")
  if (kind === 4) {
    const groups = (await read(16)).toString("hex").match(/.{4}/g) ?? []
    return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1)
  }
  if (kind !== 3) return undefined
  const [length = 0] = await read(1)
  return (await read(length)).toString("latin1").toLowerCase().replace(/\.$/, "")
}

function reply(code: number): Buffer {
  return Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
}
