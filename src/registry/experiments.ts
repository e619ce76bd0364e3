import { createHash } from "node:crypto"
import type { AuditReader, ExportedCall } from "../audit/audit-reader.ts"
import type { Experiment, ExperimentArm, Experiments, ExperimentReport } from "./experiment.ts"
import { nearestName } from "../lib/nearest-name.ts"
import type { Documents } from "../core/documents.ts"

/** The experiments of the configuration, by name. */
export type ConfiguredExperiments = Readonly<
  Record<string, { tool: string; versions: readonly [string, string]; share?: number }>
>

export interface ExperimentHost {
  documents: Documents
  /** All registered versions of a tool, in any layer. Empty when there is no such tool. */
  versionsOf(tool: string): readonly string[]
  /** A tool's own name for a name or an alias. */
  canonical(name: string): string
  toolNames(): Iterable<string>
  audit: Pick<AuditReader, "export">
  now(): number
}

export interface RunningExperiments extends Experiments {
  /** The version that an experiment gives to an agent, if one is about the tool. */
  armOf(tool: string, agentId: string): string | undefined
}

type Kept = Omit<Experiment, "source" | "state" | "problem">

/** Returns the version that an agent gets. It depends only on the experiment and the agent, so it never changes. */
export function armFor(
  { name, versions: [first, second], share }: Pick<Experiment, "name" | "versions" | "share">,
  agentId: string,
): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([name, agentId]))
    .digest()
  return hash.readUIntBE(0, 6) / 2 ** 48 < share ? second : first
}

/** The experiments of the configuration and of the store. A tool can be in one running experiment only. */
export function openExperiments(configured: ConfiguredExperiments, host: ExperimentHost): RunningExperiments {
  const { documents, now } = host
  let known: { version: number; byTool: Map<string, Experiment> } | undefined
  const running = (): Map<string, Experiment> => {
    if (known?.version !== documents.version) {
      const byTool = new Map<string, Experiment>()
      for (const experiment of all(configured, host)) {
        if (experiment.state === "running" && !byTool.has(experiment.tool)) byTool.set(experiment.tool, experiment)
      }
      known = { version: documents.version, byTool }
    }
    return known.byTool
  }
  const list = () => {
    const first = running()
    return all(configured, host).map((experiment) => ({ ...experiment, problem: problemOf(experiment, first, host) }))
  }
  return {
    list,
    armOf(tool, agentId) {
      const experiment = running().get(tool)
      return experiment === undefined ? undefined : armFor(experiment, agentId)
    },
    async start({ name, tool: written, versions, share = 0.5 }, by) {
      const tool = host.canonical(written)
      const kept: Kept = { name, tool, versions, share, startedAt: now(), startedBy: by }
      await documents.refresh()
      const experiment: Experiment = { ...kept, source: "store", state: "running" }
      const because = refusal(experiment, list(), host)
      if (because !== undefined) throw new Error(because)
      const before = documents.get("experiment", name)
      const put = await documents.put({ kind: "experiment", id: name, name: tool, body: kept }, by, before?.change ?? 0)
      if (!put.written) throw new Error(`Someone else started '${put.existing.id}' meanwhile. Try again.`)
      return experiment
    },
    async stop(name, by) {
      await documents.refresh()
      if (Object.hasOwn(configured, name)) {
        throw new Error(`The experiment '${name}' is in the configuration. Remove it there.`)
      }
      const found = documents.get("experiment", name)
      if (found?.live !== true) return undefined
      const kept: Kept = { ...(found.body as Kept), stoppedAt: now(), stoppedBy: by }
      const put = await documents.put(
        { kind: "experiment", id: name, name: found.name, live: false, body: kept },
        by,
        found.change,
      )
      if (!put.written) throw new Error(`The experiment '${name}' was changed by someone else meanwhile. Try again.`)
      return { ...kept, source: "store", state: "stopped" }
    },
    async show(name, filter = {}) {
      await documents.refresh()
      const experiment = list().find((one) => one.name === name)
      if (experiment === undefined) return undefined
      const since = Math.max(filter.since ?? 0, experiment.startedAt ?? 0)
      const until = Math.min(filter.until ?? Infinity, experiment.stoppedAt ?? Infinity)
      const window = { ...(since > 0 ? { since } : {}), ...(until < Infinity ? { until } : {}) }
      return report(experiment, host.audit.export({ tool: experiment.tool, ...window }))
    },
  }
}

/** Those of the configuration first. They win over experiments of the same name in the store. */
function all(configured: ConfiguredExperiments, { documents, canonical }: ExperimentHost): Experiment[] {
  const written = Object.entries(configured).map(([name, { tool, versions, share = 0.5 }]): Experiment => {
    return { name, tool: canonical(tool), versions, share, source: "configuration", state: "running" }
  })
  const stored = [...documents.all("experiment")].map(({ live, body }): Experiment => {
    return { ...(body as Kept), source: "store", state: live ? "running" : "stopped" }
  })
  return [...written, ...stored.filter(({ name }) => !Object.hasOwn(configured, name))]
}

function problemOf(experiment: Experiment, running: ReadonlyMap<string, Experiment>, host: ExperimentHost) {
  const { state, name, tool } = experiment
  if (state === "stopped") return undefined
  const first = running.get(tool)
  if (first !== undefined && first.name !== name) return `The experiment '${first.name}' is about the same tool.`
  return lacking(experiment, host)
}

function lacking({ tool, versions }: Experiment, { versionsOf, toolNames }: ExperimentHost): string | undefined {
  const there = versionsOf(tool)
  if (there.length === 0) {
    const guess = nearestName(tool, toolNames())
    return `There is no tool '${tool}'.${guess === undefined ? "" : ` Did you mean '${guess}'?`}`
  }
  const missing = versions.filter((version) => !there.includes(version))
  if (missing.length === 0) return undefined
  return `Tool ${tool} has no version ${missing.join(" and no version ")}. There is: ${there.join(", ")}.`
}

function refusal(experiment: Experiment, others: readonly Experiment[], host: ExperimentHost): string | undefined {
  const { name, tool, share, versions } = experiment
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u.test(name)) {
    return `'${name}' cannot be the name of an experiment: use only letters, digits, _ - and ., 64 at most.`
  }
  if (versions[0] === versions[1]) return "The two versions are the same. Name two."
  if (!(share > 0 && share < 1)) return "The share lies between 0 and 1, for example 0.1 for every tenth agent."
  const running = others.filter(({ state }) => state === "running")
  const rival = running.find((other) => other.name === name) ?? running.find((other) => other.tool === tool)
  if (rival !== undefined) return `The experiment '${rival.name}' with ${rival.tool} runs already. Stop it first.`
  return lacking(experiment, host)
}

/** The codes of calls that failed in the tool itself. */
const ownFailures: readonly string[] = [
  "tool_failed",
  "timeout",
  "output_invalid",
  "interrupted",
  "unknown_outcome",
  "upstream_unavailable",
]

async function report(experiment: Experiment, calls: AsyncIterable<ExportedCall>): Promise<ExperimentReport> {
  const tallies = new Map(experiment.versions.map((version) => [version, new Tally(version)]))
  let otherwise = 0
  for await (const call of calls) {
    const tally = tallies.get(call.version)
    if (tally === undefined) continue
    if (armFor(experiment, call.agentId) === call.version) tally.count(call)
    else otherwise++
  }
  const [first, second] = experiment.versions
  return { ...experiment, arms: [tallies.get(first)!.read(), tallies.get(second)!.read()], otherwise }
}

class Tally {
  readonly #version: string
  readonly #agents = new Set<string>()
  readonly #durations: number[] = []
  #failures = 0
  #refused = 0

  constructor(version: string) {
    this.#version = version
  }

  count({ agentId, status, code, durationMs }: ExportedCall): void {
    this.#agents.add(agentId)
    const failed = ownFailures.includes(code)
    if (status !== "success" && !failed) return void this.#refused++
    if (failed) this.#failures++
    this.#durations.push(durationMs)
  }

  read(): ExperimentArm {
    const sorted = this.#durations.sort((one, other) => one - other)
    const calls = sorted.length
    return {
      version: this.#version,
      agents: this.#agents.size,
      calls,
      failures: this.#failures,
      refused: this.#refused,
      averageMs: calls === 0 ? null : sorted.reduce((sum, each) => sum + each, 0) / calls,
      medianMs: sorted[Math.floor((calls - 1) / 2)] ?? null,
      slowestMs: sorted.at(-1) ?? null,
    }
  }
}
