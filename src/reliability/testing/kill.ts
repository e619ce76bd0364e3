import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Config } from "../../config/schema.ts"
import type { ToolResult } from "../../model/result.ts"
import {
  armedFile,
  Died,
  firedFile,
  startHouse,
  type Failpoint,
  type HouseProcess,
  type MarkTool,
} from "./house-process.ts"

/** What the test knows: everything here was answered by a process before it was killed. */
export interface Known {
  dir: string
  /** Calls that ended, and how. */
  ended: Map<string, string>
  /** What was wrong, as sentences. */
  problems: string[]
  counted: { kills: number; told: number; runs: number }
}

export interface Plan {
  point: Failpoint
  /** Which times it is killed at, by turns. */
  nth?: readonly number[]
  tools: readonly MarkTool[]
  config?: Config
  /** Does things over and over until the process is gone. Without it the process is killed while it opens the house. */
  walk?(house: HouseProcess, known: Known): Promise<void>
  /** Looks, in a fresh process, at what the last walk left. */
  look?(house: HouseProcess, known: Known): Promise<void>
  /** Whether others call meanwhile; they do, unless the walk leaves them no room. */
  isQuiet?: boolean
  /** Each time in a new folder; else every process goes on with what the one before it left. */
  isFresh?: boolean
}

const rounds = 10
const neverReachedMs = 300_000

/**
 * Kills a process at one place ten times. Each time a fresh process opens the store and looks at what is there; unless
 * the folder is a new one each time, it is the next to be killed.
 */
export async function killTenTimes(dir: string, plan: Plan): Promise<Known> {
  const known: Known = { dir, ended: new Map(), problems: [], counted: { kills: 0, told: 0, runs: 0 } }
  const { point, nth = [1, 2, 3], isFresh = false } = plan
  for (let round = 0; round < rounds; round++) {
    if (isFresh) Object.assign(known, { dir: join(dir, String(round)), ended: new Map() })
    await killOnce(known, plan, { ...point, nth: nth[round % nth.length]! })
    known.counted.kills++
    if (!isFresh && round < rounds - 1) continue
    const house = await open(known, plan)
    await house.app.close()
    await house.kill()
    known.counted.told += known.ended.size
    known.counted.runs += marksIn(known.dir).length
    rmSync(known.dir, { recursive: true })
  }
  return known
}

async function killOnce(known: Known, plan: Plan, failpoint: Failpoint): Promise<void> {
  const { walk } = plan
  if (walk === undefined) {
    const opened = await open(known, plan, { ...failpoint, armed: true }).catch((error: unknown) => error)
    if (opened instanceof Died && existsSync(firedFile(known.dir))) return
    throw opened instanceof Error ? opened : new Error(`The failpoint '${failpoint.name}' was never reached.`)
  }
  const house = await open(known, plan, failpoint)
  await house.arm()
  const others = plan.isQuiet === true ? [] : [makeNoise(house, known), makeNoise(house, known)]
  await untilKilled(house, failpoint, known, [walk(house, known), ...others])
}

/** A fresh process, which first tells whether everything is as it must be. */
async function open(known: Known, plan: Plan, failpoint?: Failpoint & { armed?: boolean }): Promise<HouseProcess> {
  for (const file of [armedFile(known.dir), firedFile(known.dir)]) rmSync(file, { force: true })
  const { config = {}, tools, isFresh = false } = plan
  const isLeft = known.counted.kills > 0 && (!isFresh || failpoint === undefined)
  const house = await startHouse(known.dir, {
    config,
    tools: [...tools, noise],
    // The sweeper looks every other time; else only those who come back find out.
    options: { sweepMs: known.counted.kills % 2 === 0 ? 0 : 50 },
    ...(failpoint && { failpoint }),
  })
  if (isLeft) await plan.look?.(house, known)
  await lookAtRecord(house, known)
  return house
}

async function untilKilled(
  house: HouseProcess,
  { name }: Failpoint,
  { dir }: Known,
  work: readonly Promise<void>[],
): Promise<void> {
  let isLate = false
  const guard = setTimeout(() => {
    isLate = true
    void house.kill()
  }, neverReachedMs)
  const outcomes = await Promise.allSettled(work)
  clearTimeout(guard)
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !(outcome.reason instanceof Died)) throw outcome.reason as Error
  }
  const by = await house.ended
  if (!isLate && by === "SIGKILL" && existsSync(firedFile(dir))) return
  const how = isLate ? `the process was still there after ${neverReachedMs} ms` : `the process ended with ${by}`
  throw new Error(`The failpoint '${name}' was never reached: ${how}. So nothing is proved.`)
}

const noise: MarkTool = { name: "noise", permission: { level: "public" } }

/** Calls of others, so that there is always something else on its way. */
async function makeNoise(house: HouseProcess, known: Known): Promise<void> {
  const input = { note: "noise", pauseMs: 5 }
  for (;;) note(await house.app.call({ agentId: "operator", tool: "noise", input }), known)
}

/** An answer counts as acknowledged from here on. */
export function note(result: ToolResult, { ended, problems }: Known): void {
  ended.set(result.callId, endingOf(result))
  if (!result.success) problems.push(`Call ${result.callId} failed: ${result.error}`)
}

/** `success`, or the code. */
export function endingOf({ status, code }: { status: string; code?: string | undefined }): string {
  return code === undefined || code === "" ? status : code
}

/** What must hold after every restart, whatever was going on. */
async function lookAtRecord(house: HouseProcess, known: Known): Promise<void> {
  const { problems, dir, ended } = known
  const before = problems.length
  const verified = await house.app.audit.verify()
  if (!verified.ok) problems.push(`The record does not verify: ${verified.problem} (${verified.record})`)
  const found = new Map<string, string>()
  for (const row of await house.app.audit.list({ limit: 1_000_000 })) {
    const ending = endingOf(row)
    const other = found.get(row.callId)
    if (other !== undefined) problems.push(`Call ${row.callId} (${row.tool}) ended twice: ${other}, ${ending}.`)
    found.set(row.callId, ending)
  }
  for (const [callId, ending] of ended) {
    if (found.get(callId) !== ending)
      problems.push(`Call ${callId} was told as ${ending}, but the record says ${found.get(callId)}.`)
  }
  const ran = new Set<string>()
  for (const { callId } of marksIn(dir)) {
    if (ran.has(callId)) problems.push(`The tool of call ${callId} ran twice.`)
    ran.add(callId)
    const ending = found.get(callId)
    if (ending !== "success" && ending !== "interrupted")
      problems.push(`Call ${callId} ran, and the record says ${ending}.`)
  }
  if (problems.length > before) problems.push(`That was found after kill ${known.counted.kills}.`)
}

/** The runs of every tool, as the tools themselves marked them. */
export function marksIn(dir: string): { callId: string; note: string }[] {
  const file = join(dir, "marks")
  if (!existsSync(file)) return []
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [callId = "", ...words] = line.split(" ")
      return { callId, note: words.join(" ") }
    })
}
