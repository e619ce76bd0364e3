import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Config } from "../../config/schema.ts"
import type { ToolResult } from "../../core/result.ts"
import { times } from "../times.ts"
import {
  armedFile,
  ProcessDied,
  firedFile,
  startApp,
  type Failpoint,
  type AppProcess,
  type MarkTool,
} from "./app-process.ts"

/** The number of kills of a process at each place. */
export const killCount = times(1, 10)

/** The knowledge of the test: `ended` contains only calls that a process acknowledged before it was killed. */
export interface KillReport {
  dir: string
  /** The ending of each acknowledged call. */
  ended: Map<string, string>
  /** The problems, in sentences. */
  problems: string[]
  counts: { kills: number; acknowledged: number; runs: number }
}

export interface KillPlan {
  point: Failpoint
  /** At which hits of the failpoint the process is killed, in turn. */
  nth?: readonly number[]
  tools: readonly MarkTool[]
  config?: Config
  /** Works until the process is killed. Without it the process is killed while it opens the app. */
  work?(child: AppProcess, report: KillReport): Promise<void>
  /** Checks in a new process what the killed one left. */
  check?(child: AppProcess, report: KillReport): Promise<void>
  /** True if there are no other calls meanwhile. */
  isQuiet?: boolean
  /** Each time in a new folder. Otherwise every process continues with what the one before left. */
  isFresh?: boolean
}

const neverReachedMs = 300_000

/**
 * Kills a process at one place again and again. Each time a new process opens the store and checks it. Unless the folder is
 * new each time, that process is the next to be killed.
 */
export async function killRepeatedly(dir: string, plan: KillPlan): Promise<KillReport> {
  const report: KillReport = { dir, ended: new Map(), problems: [], counts: { kills: 0, acknowledged: 0, runs: 0 } }
  const { point, nth = [1, 2, 3], isFresh = false } = plan
  for (let round = 0; round < killCount; round++) {
    if (isFresh) Object.assign(report, { dir: join(dir, String(round)), ended: new Map() })
    await killOnce(report, plan, { ...point, nth: nth[round % nth.length]! })
    report.counts.kills++
    if (!isFresh && round < killCount - 1) continue
    const child = await open(report, plan)
    await child.app.close()
    await child.kill()
    report.counts.acknowledged += report.ended.size
    report.counts.runs += toolMarksIn(report.dir).length
    rmSync(report.dir, { recursive: true })
  }
  return report
}

async function killOnce(report: KillReport, plan: KillPlan, failpoint: Failpoint): Promise<void> {
  const { work } = plan
  if (work === undefined) {
    const opened = await open(report, plan, { ...failpoint, armed: true }).catch((error: unknown) => error)
    if (opened instanceof ProcessDied && existsSync(firedFile(report.dir))) return
    throw opened instanceof Error ? opened : new Error(`The failpoint '${failpoint.name}' was never reached.`)
  }
  const child = await open(report, plan, failpoint)
  await child.arm()
  const otherCalls = plan.isQuiet === true ? [] : [makeNoise(child, report), makeNoise(child, report)]
  await untilKilled(child, failpoint, report, [work(child, report), ...otherCalls])
}

/** Starts a new process and checks what is stored. */
async function open(
  report: KillReport,
  plan: KillPlan,
  failpoint?: Failpoint & { armed?: boolean },
): Promise<AppProcess> {
  for (const file of [armedFile(report.dir), firedFile(report.dir)]) rmSync(file, { force: true })
  const { config = {}, tools, isFresh = false } = plan
  const hasLeftovers = report.counts.kills > 0 && (!isFresh || failpoint === undefined)
  const child = await startApp(report.dir, {
    config,
    tools: [...tools, noise],
    // The sweeper runs every other time. Otherwise only a caller who comes back finds an interrupted call.
    options: { sweepMs: report.counts.kills % 2 === 0 ? 0 : 50 },
    ...(failpoint && { failpoint }),
  })
  if (hasLeftovers) await plan.check?.(child, report)
  await checkAuditLog(child, report)
  return child
}

async function untilKilled(
  child: AppProcess,
  { name }: Failpoint,
  { dir }: KillReport,
  work: readonly Promise<void>[],
): Promise<void> {
  let isLate = false
  const guard = setTimeout(() => {
    isLate = true
    void child.kill()
  }, neverReachedMs)
  const outcomes = await Promise.allSettled(work)
  clearTimeout(guard)
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !(outcome.reason instanceof ProcessDied)) throw outcome.reason as Error
  }
  const by = await child.ended
  if (!isLate && by === "SIGKILL" && existsSync(firedFile(dir))) return
  const how = isLate ? `the process was still there after ${neverReachedMs} ms` : `the process ended with ${by}`
  throw new Error(`The failpoint '${name}' was never reached: ${how}. So the test proves nothing.`)
}

const noise: MarkTool = { name: "noise", permission: { level: "public" } }

/** Makes other calls, so that there is always something else in progress. */
async function makeNoise(child: AppProcess, report: KillReport): Promise<void> {
  const input = { note: "noise", pauseMs: 5 }
  for (;;) noteResult(await child.app.call({ agentId: "operator", tool: "noise", input }), report)
}

/** Notes a result as acknowledged. */
export function noteResult(result: ToolResult, { ended, problems }: KillReport): void {
  ended.set(result.callId, endingOf(result))
  if (!result.success) problems.push(`Call ${result.callId} failed: ${result.error}`)
}

/** `success`, or the code. */
export function endingOf({ status, code }: { status: string; code?: string }): string {
  return code === undefined || code === "" ? status : code
}

/** Checks what must be true after every restart, whatever the process was doing. */
async function checkAuditLog(child: AppProcess, report: KillReport): Promise<void> {
  const { problems, dir, ended } = report
  const before = problems.length
  const verified = await child.app.audit.verify()
  if (!verified.ok) problems.push(`The audit log does not verify: ${verified.problem} (${verified.record})`)
  const found = new Map<string, string>()
  for (const row of await child.app.audit.list({ limit: 1_000_000 })) {
    const ending = endingOf(row)
    const earlier = found.get(row.callId)
    if (earlier !== undefined) problems.push(`Call ${row.callId} (${row.tool}) ended twice: ${earlier}, ${ending}.`)
    found.set(row.callId, ending)
  }
  for (const [callId, ending] of ended) {
    if (found.get(callId) !== ending)
      problems.push(`Call ${callId} was acknowledged as ${ending}, but the audit log says ${found.get(callId)}.`)
  }
  const ran = new Set<string>()
  for (const { callId, note } of toolMarksIn(dir)) {
    if (ran.has(callId)) problems.push(`The tool of call ${callId} ran twice.`)
    ran.add(callId)
    const ending = found.get(callId)
    // The start of a tool that only reads may be written after its run, as long as nothing was acknowledged.
    if (note.startsWith("reading-") && ending === undefined) continue
    if (ending !== "success" && ending !== "interrupted")
      problems.push(`Call ${callId} ran, but the audit log says ${ending}.`)
  }
  if (problems.length > before) problems.push(`These problems were found after kill ${report.counts.kills}.`)
}

/** The runs of all tools, from the marks that the tools wrote. */
export function toolMarksIn(dir: string): { callId: string; note: string }[] {
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
