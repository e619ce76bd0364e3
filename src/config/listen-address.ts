import { defaults, type Config } from "./schema.ts"

/** Returns the address on which `qm serve` listens. */
export function listenAddress({ server }: Config): { host: string; port: number } {
  const { host = defaults.server.host, port = defaults.server.port } = server ?? {}
  return { host, port }
}
