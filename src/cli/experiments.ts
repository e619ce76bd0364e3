import type { Command } from "commander"
import type { Experiment, ExperimentArm, ExperimentReport } from "../model/experiment.ts"
import { filterOf } from "./audit-filter.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock } from "./since.ts"
import { table } from "./table.ts"
import { CannotDo, commaList, expected, listCommand, noSuch, number, UsageError } from "./usage.ts"

export function addExperiments(program: Command, run: Run): void {
  const experiments = program.command("experiments").description("two versions of a tool side by side")
  listCommand(experiments).action(run(listExperiments))
  experiments
    .command("start <name>")
    .description("give some agents one version of a tool and the others another")
    .requiredOption("--tool <name>", "the tool")
    .requiredOption("--versions <a,b>", "its two versions, such as 1.0.0,2.0.0")
    .option("--share <number>", "the share of agents that are given the second version", "0.5")
    .action(run(startExperiment))
  experiments
    .command("stop <name>")
    .description("end it: every agent is given the newest version again")
    .action(run(stopExperiment))
  experiments
    .command("show <name>")
    .description("what the record says of both versions since it started")
    .option("--since <when>", "only calls since a date, or a time back such as 2h or 3d")
    .option("--until <when>", "only calls before a date, or a time back such as 2h or 3d")
    .action(run(showExperiment))
}

function listExperiments(session: Session): Promise<number> {
  return withApp(session, {}, async ({ experiments }) => {
    await showList<Experiment>(
      session,
      experiments.list(),
      [
        { title: "NAME", of: ({ name }) => name, paint: "bold" },
        { title: "STATE", of: ({ state }) => state },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "VERSIONS", of: ({ versions }) => versions.join(", ") },
        { title: "SHARE", of: ({ share }) => share },
        { title: "SINCE", of: ({ startedAt }) => (startedAt === undefined ? undefined : clock(startedAt)) },
        { title: "BY", of: ({ startedBy, source }) => startedBy ?? source },
        { title: "PROBLEM", of: ({ problem }) => problem },
      ],
      "There is no experiment. 'qm experiments start <name> --tool <tool> --versions <a,b>' starts one.",
    )
    return 0
  })
}

interface StartFlags {
  tool: string
  versions: string
  share: string
}

function startExperiment(session: Session, name: string, flags: StartFlags): Promise<number> {
  const [first, second, ...rest] = commaList(flags.versions) ?? []
  if (first === undefined || second === undefined || rest.length > 0) {
    throw new UsageError(`--versions takes two versions with a comma between, and '${flags.versions}' is not that.`)
  }
  const share = number("--share", flags.share)
  return withPerson(session, async ({ experiments }, by) => {
    const given = { name, tool: flags.tool, versions: [first, second] as const, share }
    const started = await expected(experiments.start(given, by.id))
    const percent = Math.round(started.share * 100)
    answer(
      session,
      started,
      `Started: ${percent} of 100 agents are given ${started.tool}@${second}, the others ${started.tool}@${first}. A pin, or a version they ask for, stands before that. 'qm experiments show ${name}' compares.`,
    )
    return 0
  })
}

function stopExperiment(session: Session, name: string): Promise<number> {
  return withPerson(session, async ({ experiments }, by) => {
    const stopped = await expected(experiments.stop(name, by.id))
    if (stopped === undefined) throw notRunning(name, experiments.list())
    answer(session, stopped, `Stopped: ${stopped.tool} is again the version it would be without an experiment.`)
    return 0
  })
}

function notRunning(name: string, list: readonly Experiment[]): CannotDo {
  if (list.some((one) => one.name === name)) return new CannotDo("not_running", `The experiment '${name}' has ended.`)
  return noSuch("experiment", name, namesOf(list))
}

function showExperiment(session: Session, name: string, flags: { since?: string; until?: string }): Promise<number> {
  const { since, until } = filterOf(session, flags)
  const window = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
  return withApp(session, {}, async ({ experiments }) => {
    const report = await experiments.show(name, window)
    if (report === undefined) throw noSuch("experiment", name, namesOf(experiments.list()))
    answer(session, report, reportText(report))
    return 0
  })
}

function reportText(report: ExperimentReport): string {
  const { tool, arms, otherwise, share, problem, state } = report
  const head = ["VERSION", "SHARE", "AGENTS", "CALLS", "FAILED", "REFUSED", "AVERAGE MS", "MEDIAN MS", "SLOWEST MS"]
  const rows = arms.map((arm, index) => armCells(arm, index === 0 ? 1 - share : share))
  return [
    `${tool}, ${state}.${problem === undefined ? "" : ` ${problem}`}`,
    table(
      head.map((title) => ({ title })),
      rows,
    ),
    ...(otherwise === 0
      ? []
      : [
          `Not counted: ${otherwise} calls with another version than the experiment gives: by a pin, asked for, or of an agent nobody knows.`,
        ]),
  ].join("\n")
}

function armCells(arm: ExperimentArm, share: number): string[] {
  const { version, agents, calls, failures, refused, averageMs, medianMs, slowestMs } = arm
  const failed = calls === 0 ? String(failures) : `${failures} (${((failures / calls) * 100).toFixed(1)} %)`
  const times = [averageMs, medianMs, slowestMs].map((value) => (value === null ? "-" : value.toFixed(1)))
  return [version, share.toFixed(2), String(agents), String(calls), failed, String(refused), ...times]
}

function namesOf(list: readonly Experiment[]): string[] {
  return list.map(({ name }) => name)
}
