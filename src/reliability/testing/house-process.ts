import { spawn } from "node:child_process"
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { QuartermasterOptions } from "../../quartermaster.ts"
import type { Config } from "../../config/schema.ts"
import type { App, ExportedCall } from "../../model/app.ts"
import type { AuditFilter } from "../../model/ports.ts"
import type { ToolPermission } from "../../model/permission.ts"

/** One place at which a process is killed, or held up. */
export interface Failpoint {
  name: string
  /** What the process does there. `sql` is any statement with its values, and a commit with what it commits. */
  on: "open" | "write" | "sync" | "truncate" | "remove" | "link" | "sql"
  /** A pattern over the file's path and what is written, or over the statement. */
  match: RegExp
  /** *pause* stands still behind it until the failpoint is disarmed. */
  when: "before" | "half" | "after" | "pause"
  thread?: "main" | "mover"
  /** Which time it comes there: the first when left out. */
  nth?: number
}

export interface HouseOptions {
  config?: Config
  options?: Pick<QuartermasterOptions, "sweepMs" | "writes">
  tools?: readonly MarkTool[]
  /** Counts from the start on when `armed` is true, else from the order `arm` on. */
  failpoint?: Failpoint & { armed?: boolean }
}

/** A tool that leaves a synced mark for each run. */
export interface MarkTool {
  name: string
  permission?: ToolPermission
}

/** Every door of the house, asked from another process. */
type Remote<T> = {
  [Name in keyof T]: T[Name] extends (...given: infer Given) => infer Value
    ? (...given: Given) => Promise<Awaited<Value>>
    : Remote<T[Name]>
}

export interface HouseProcess {
  /** An answer is given once what it tells was kept. Rejects with `Died` when the process ends before it answers. */
  readonly app: Remote<App>
  exported(filter?: AuditFilter): Promise<ExportedCall[]>
  /** Keeps a note of so many megabytes, in a journal of its own. */
  keep(callId: string, megabytes: number): Promise<void>
  /** Leaves journals of processes that are gone, each with a call that had started; gives the calls. */
  orphans(count: number): Promise<string[]>
  /** The failpoint counts from here on. */
  arm(): Promise<void>
  /** Resolves when the process stands still at its failpoint. */
  paused(): Promise<void>
  goOn(): void
  /** Does an order of the house at a moment, given in milliseconds since 1970, and tells how long it was at it. */
  at<T>(moment: number, name: string, given: readonly unknown[]): Promise<Met<T>>
  /** The next call of that tool that is said to wait for a person, since the failpoint was armed. */
  waiting(tool: string): Promise<string>
  kill(): Promise<void>
  /** Resolves with the signal that ended it, or its exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>
}

export interface Met<T> {
  value: T
  began: number
  ended: number
}

/** The process ended before it answered. */
export class Died extends Error {
  override readonly name = "Died"
}

export const armedFile = (dir: string) => join(dir, "armed")
export const firedFile = (dir: string) => join(dir, "fired")

/** Opens a house in a process of its own; resolves when it is open. */
export async function startHouse(dir: string, given: HouseOptions = {}): Promise<HouseProcess> {
  const { config = {}, options = {}, tools = [], failpoint } = given
  mkdirSync(dir, { recursive: true })
  const program = fileURLToPath(new URL("./house.mjs", import.meta.url))
  const running = spawn(process.execPath, [program, JSON.stringify({ dir, config, options, tools })], {
    stdio: ["pipe", "pipe", "inherit"],
    env: failpoint === undefined ? process.env : { ...process.env, ...preload(dir, failpoint) },
  })
  running.unref()
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) => {
    running.on("close", (code, signal) => resolve(signal ?? code))
  })
  const desk = new Desk()
  void ended.then(() => desk.close())
  running.stdin.on("error", () => {})
  createInterface({ input: running.stdout }).on("line", (line) => desk.hear(JSON.parse(line) as Heard))

  const order = <T>(name: string, ...words: readonly unknown[]): Promise<T> =>
    desk.ask<T>((id) => running.stdin.write(`${JSON.stringify({ id, name, given: words })}\n`))
  await desk.ready
  return {
    app: doorsOf((name, words) => order(name, ...words)) as unknown as Remote<App>,
    exported: (filter) => order("exported", filter),
    keep: (callId, megabytes) => order("keep", callId, megabytes),
    orphans: (count) => order("orphans", count),
    arm() {
      desk.forget()
      return order("arm", armedFile(dir))
    },
    async paused() {
      while (!existsSync(firedFile(dir)) && running.signalCode === null) await sleep(5)
    },
    goOn: () => rmSync(armedFile(dir)),
    at: (moment, name, words) => order("at", moment, name, words),
    waiting: (tool) => desk.waiting(tool),
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

type Heard = { ready: true } | { waiting: string; tool: string } | { id: number; value?: unknown; error?: string }

interface Asked {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** What was asked and not answered yet, and which calls were said to wait. */
class Desk {
  readonly #asked = new Map<number, Asked>()
  readonly #waiters = new Map<string, Asked[]>()
  readonly #told = new Map<string, string[]>()
  #last = 0
  #isClosed = false
  #open: Asked | undefined
  readonly ready = new Promise<unknown>((resolve, reject) => (this.#open = { resolve, reject }))

  ask<T>(send: (id: number) => void): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Died("The process has ended."))
    const id = ++this.#last
    return new Promise<T>((resolve, reject) => {
      this.#asked.set(id, { resolve: resolve as (value: unknown) => void, reject })
      send(id)
    })
  }

  waiting(tool: string): Promise<string> {
    const told = this.#told.get(tool)?.shift()
    if (told !== undefined) return Promise.resolve(told)
    if (this.#isClosed) return Promise.reject(new Died("The process has ended."))
    return new Promise((resolve, reject) => {
      const waiter = { resolve: resolve as (value: unknown) => void, reject }
      this.#waiters.set(tool, [...(this.#waiters.get(tool) ?? []), waiter])
    })
  }

  forget(): void {
    this.#told.clear()
  }

  hear(heard: Heard): void {
    if ("ready" in heard) return this.#open?.resolve(undefined)
    if ("waiting" in heard) {
      const waiter = this.#waiters.get(heard.tool)?.shift()
      if (waiter !== undefined) return waiter.resolve(heard.waiting)
      this.#told.set(heard.tool, [...(this.#told.get(heard.tool) ?? []), heard.waiting])
      return
    }
    const asked = this.#asked.get(heard.id)
    this.#asked.delete(heard.id)
    if (heard.error === undefined) asked?.resolve(heard.value)
    else asked?.reject(new Error(heard.error))
  }

  close(): void {
    this.#isClosed = true
    const left = [this.#open, ...this.#asked.values(), ...[...this.#waiters.values()].flat()]
    for (const each of left) each?.reject(new Died("The process has ended."))
  }
}

/** `app.desk.say(…)` becomes the order `desk.say`. */
function doorsOf(order: (name: string, given: readonly unknown[]) => Promise<unknown>, path = ""): unknown {
  return new Proxy(() => {}, {
    get: (_target, step) =>
      step === "then" ? undefined : doorsOf(order, path === "" ? String(step) : `${path}.${String(step)}`),
    apply: (_target, _self, given: readonly unknown[]) => order(path, given),
  })
}
