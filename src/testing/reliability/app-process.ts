import { spawn } from "node:child_process"
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { AppOptions } from "../../app/app-options.ts"
import type { Config } from "../../config/schema.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { ExportedCall } from "../../audit/audit-reader.ts"
import type { AuditFilter } from "../../store/port.ts"
import type { ToolPermission } from "../../core/permission.ts"

/** One place at which a process is killed or paused. */
export interface Failpoint {
  name: string
  /** The operation. `sql` is any statement with its values, and a commit with the statements it commits. */
  on: "open" | "write" | "sync" | "truncate" | "remove" | "link" | "sql"
  /** Matched against the file's path and the written text, or against the statement. */
  match: RegExp
  /** *pause* blocks after the operation until the failpoint is disarmed. */
  when: "before" | "half" | "after" | "pause"
  thread?: "main" | "mover"
  /** At which hit: the first by default. */
  nth?: number
}

export interface AppProcessOptions {
  config?: Config
  options?: Pick<AppOptions, "sweepMs" | "writes">
  tools?: readonly MarkTool[]
  /** With `armed` it counts from the start of the process, else from the command `arm` on. */
  failpoint?: Failpoint & { armed?: boolean }
}

/** A tool that writes a synced mark for each run. */
export interface MarkTool {
  name: string
  effect?: "read"
  permission?: ToolPermission
}

/** The methods of an app, called from another process. */
type Remote<T> = {
  [Name in keyof T]: T[Name] extends (...args: never[]) => Promise<unknown>
    ? T[Name]
    : T[Name] extends (...args: infer Args) => infer Value
      ? (...args: Args) => Promise<Awaited<Value>>
      : Remote<T[Name]>
}

export interface AppProcess {
  /** A result arrives once what it acknowledges is stored. Rejects with `ProcessDied` when the process ends before. */
  readonly app: Remote<Quartermaster>
  exported(filter?: AuditFilter): Promise<ExportedCall[]>
  /** Writes a note of this many megabytes to a second journal. */
  writeNote(callId: string, megabytes: number): Promise<void>
  /** Writes journals of dead processes, each with a started call, and returns the ids of the calls. */
  leaveOrphans(count: number): Promise<string[]>
  /** Arms the failpoint. */
  arm(): Promise<void>
  /** Resolves when the process is paused at its failpoint. */
  waitForPause(): Promise<void>
  unpause(): void
  /** Runs a command at a moment, in milliseconds since 1970, and returns when it began and ended. */
  runAt<T>(moment: number, name: string, args: readonly unknown[]): Promise<TimedResult<T>>
  /** The next call of this tool that waits for a person, since the failpoint was armed. */
  nextWaitingCall(tool: string): Promise<string>
  kill(): Promise<void>
  /** Resolves with the signal that ended the process, or its exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>
}

export interface TimedResult<T> {
  value: T
  began: number
  ended: number
}

/** The process ended before it answered. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied"
}

export const armedFile = (dir: string) => join(dir, "armed")
export const firedFile = (dir: string) => join(dir, "fired")

/** Opens an app in its own process. Resolves when it is open. */
export async function startApp(dir: string, processOptions: AppProcessOptions = {}): Promise<AppProcess> {
  const { config = {}, options = {}, tools = [], failpoint } = processOptions
  mkdirSync(dir, { recursive: true })
  const program = fileURLToPath(new URL("./app-program.mjs", import.meta.url))
  const running = spawn(process.execPath, [program, JSON.stringify({ dir, config, options, tools })], {
    stdio: ["pipe", "pipe", "inherit"],
    env: failpoint === undefined ? process.env : { ...process.env, ...preload(dir, failpoint) },
  })
  running.unref()
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) => {
    running.on("close", (code, signal) => resolve(signal ?? code))
  })
  const messages = new ProcessMessages()
  void ended.then(() => messages.close())
  running.stdin.on("error", () => {})
  createInterface({ input: running.stdout }).on("line", (line) => messages.receive(JSON.parse(line) as ProcessMessage))

  const send = <T>(name: string, ...args: readonly unknown[]): Promise<T> =>
    messages.ask<T>((id) => running.stdin.write(`${JSON.stringify({ id, name, args })}\n`))
  await messages.ready
  return {
    app: remoteMethods((name, args) => send(name, ...args)) as unknown as Remote<Quartermaster>,
    exported: (filter) => send("exported", filter),
    writeNote: (callId, megabytes) => send("writeNote", callId, megabytes),
    leaveOrphans: (count) => send("leaveOrphans", count),
    arm() {
      messages.forget()
      return send("arm", armedFile(dir))
    },
    async waitForPause() {
      while (!existsSync(firedFile(dir)) && running.signalCode === null) await sleep(5)
    },
    unpause: () => rmSync(armedFile(dir)),
    runAt: (moment, name, args) => send("runAt", moment, name, args),
    nextWaitingCall: (tool) => messages.nextWaiting(tool),
    async kill() {
      running.kill("SIGKILL")
      await ended
    },
    ended,
  }
}

function preload(dir: string, { armed, match, ...point }: Failpoint & { armed?: boolean }): Record<string, string> {
  const file = new URL("./failpoint.mjs", import.meta.url).href
  const place = {
    nth: 1,
    ...point,
    match: match.source,
    armed: armed === true ? dir : armedFile(dir),
    fired: firedFile(dir),
  }
  return { NODE_OPTIONS: `--import ${file}`, FAILPOINT: JSON.stringify(place) }
}

type ProcessMessage =
  | { ready: true }
  | { waiting: string; tool: string }
  | { id: number; value?: unknown; error?: string }

interface Deferred {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The commands without a result yet, and the calls that were reported as waiting. */
class ProcessMessages {
  readonly #open = new Map<number, Deferred>()
  readonly #waiters = new Map<string, Deferred[]>()
  readonly #waiting = new Map<string, string[]>()
  #last = 0
  #isClosed = false
  #opening: Deferred | undefined
  readonly ready = new Promise<unknown>((resolve, reject) => (this.#opening = { resolve, reject }))

  ask<T>(send: (id: number) => void): Promise<T> {
    if (this.#isClosed) return Promise.reject(new ProcessDied("The process has ended."))
    const id = ++this.#last
    return new Promise<T>((resolve, reject) => {
      this.#open.set(id, { resolve: resolve as (value: unknown) => void, reject })
      send(id)
    })
  }

  nextWaiting(tool: string): Promise<string> {
    const callId = this.#waiting.get(tool)?.shift()
    if (callId !== undefined) return Promise.resolve(callId)
    if (this.#isClosed) return Promise.reject(new ProcessDied("The process has ended."))
    return new Promise((resolve, reject) => {
      const waiter = { resolve: resolve as (value: unknown) => void, reject }
      this.#waiters.set(tool, [...(this.#waiters.get(tool) ?? []), waiter])
    })
  }

  forget(): void {
    this.#waiting.clear()
  }

  receive(message: ProcessMessage): void {
    if ("ready" in message) return this.#opening?.resolve(undefined)
    if ("waiting" in message) {
      const waiter = this.#waiters.get(message.tool)?.shift()
      if (waiter !== undefined) return waiter.resolve(message.waiting)
      this.#waiting.set(message.tool, [...(this.#waiting.get(message.tool) ?? []), message.waiting])
      return
    }
    const command = this.#open.get(message.id)
    this.#open.delete(message.id)
    if (message.error === undefined) command?.resolve(message.value)
    else command?.reject(new Error(message.error))
  }

  close(): void {
    this.#isClosed = true
    const left = [this.#opening, ...this.#open.values(), ...[...this.#waiters.values()].flat()]
    for (const deferred of left) deferred?.reject(new ProcessDied("The process has ended."))
  }
}

/** `app.approvals.answer(…)` sends the command `approvals.answer`. */
function remoteMethods(send: (name: string, args: readonly unknown[]) => Promise<unknown>, path = ""): unknown {
  return new Proxy(() => {}, {
    get: (_target, step) =>
      step === "then" ? undefined : remoteMethods(send, path === "" ? String(step) : `${path}.${String(step)}`),
    apply: (_target, _self, args: readonly unknown[]) => send(path, args),
  })
}
