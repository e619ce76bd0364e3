import type { Socket } from "node:net"
import type { Files } from "./files/file-access.ts"
import type { Language } from "../core/language.ts"
import type { Logger } from "../core/logger.ts"
import type { ToolContext } from "../core/tool.ts"

/** The target of a connection. Without a scheme the port decides: 443 is https, 80 is http, another may be either. */
export interface ConnectTarget {
  readonly host: string
  readonly port: number
  readonly scheme?: "http" | "https"
  /** True when a call that touches this address was let through, so that an unusual port or http was decided on already. */
  readonly decided?: boolean
  /** True: a public host that no line of `tools.hosts` allows is refused, unless it was decided on. */
  readonly listedOnly?: boolean
  readonly signal?: AbortSignal
}

/** The first argument of `init` of a plugin or module. Its own configuration comes second. */
export interface ModuleRuntime {
  readonly log: Logger
  readonly toolGroupManager: unknown
  /** The configured `language`. */
  readonly language: Language
  /** False in a process that ends after its call, such as `qm call`: what the module keeps open ends with it. */
  readonly longLived: boolean
  readonly hosts: {
    /**
     * Connects to an address that the host lists allow. Names are looked up once, and every address found is checked before
     * the connection. Rejects with a sentence; its `toolCode` is `host_denied`, `host_not_found`, `connection_refused` …
     */
    connect(target: ConnectTarget): Promise<Socket>
  }
  /** The files that a call may use: the workspace and the configured folders, within the call's `allowedPaths`. */
  files(context: Pick<ToolContext, "allowedPaths" | "mayRead">): Files
  /** A folder of the module's own, which no tool reads or writes. It exists. */
  readonly dataFolder: string
  /** From now on no record of this process shows this text. Texts of less than four characters are ignored. */
  mask(secret: string): void
}
