import { counted } from "../../../../lib/counted.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import type { Experiment, ExperimentArm, ExperimentReport } from "../../../../registry/experiment.ts"
import { filterOf } from "../audit/audit-filter.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { table } from "../../terminal/table.ts"
import { CannotDo, commaList, orCannotDo, listCommand, noSuch, numberFlag, UsageError } from "../../common/usage.ts"

export function addExperiments(program: CliCommand, run: Run): void {
  const experiments = program
    .command("experiments")

    .description("compare two versions of a tool")
  listCommand(experiments, "the experiments").example("qm experiments list").allowInTool().action(run(listExperiments))
  experiments
    .command("start <name>")
    .example("qm experiments start faster --tool search --versions 1.0.0,2.0.0")
    .description("give some agents one version of a tool and the other agents another")
    .requiredOption("--tool <name>", "the tool")
    .requiredOption("--versions <a,b>", "its two versions, such as 1.0.0,2.0.0")
    .option("--share <number>", "share of agents that get the second version", "0.5")
    .action(run(startExperiment))
  experiments
    .command("stop <name>")
    .example("qm experiments stop faster")
    .description("stop an experiment: every agent gets the newest version again")
    .action(run(stopExperiment))
  experiments
    .command("show <name>")
    .example("qm experiments show faster")
    .allowInTool()
    .description("compare the logged calls of both versions")
    .option("--since <when>", "only calls since a date, or since 2h or 3d ago")
    .option("--until <when>", "only calls before a date, or before 2h or 3d ago")
    .action(run(showExperiment))
}

function listExperiments(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ experiments }) => {
    await showList<Experiment>(
      context,
      experiments.list(),
      [
        { title: "NAME", of: ({ name }) => name, paint: "bold" },
        { title: "STATE", of: ({ state }) => state },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "VERSIONS", of: ({ versions }) => versions.join(", ") },
        { title: "SHARE", of: ({ share }) => share },
        { title: "SINCE", of: ({ startedAt }) => (startedAt === undefined ? undefined : formatTime(startedAt)) },
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

function startExperiment(context: CliContext, name: string, flags: StartFlags): Promise<number> {
  const [first, second, ...rest] = commaList(flags.versions) ?? []
  if (first === undefined || second === undefined || rest.length > 0) {
    throw new UsageError(`--versions takes two versions separated by a comma, and '${flags.versions}' is not that.`)
  }
  const share = numberFlag("--share", flags.share)
  return withPerson(context, async ({ experiments }, by) => {
    const given = { name, tool: flags.tool, versions: [first, second] as const, share }
    const started = await orCannotDo(experiments.start(given, by.id))
    const percent = Math.round(started.share * 100)
    printResult(
      context,
      started,
      `Started: ${percent} % of agents get ${started.tool}@${second}, the others ${started.tool}@${first}. A pinned or requested version takes precedence. 'qm experiments show ${name}' compares them.`,
    )
    return 0
  })
}

function stopExperiment(context: CliContext, name: string): Promise<number> {
  return withPerson(context, async ({ experiments }, by) => {
    const stopped = await orCannotDo(experiments.stop(name, by.id))
    if (stopped === undefined) throw notRunning(name, experiments.list())
    printResult(context, stopped, `Stopped: ${stopped.tool} has its usual version again for every agent.`)
    return 0
  })
}

function notRunning(name: string, list: readonly Experiment[]): CannotDo {
  if (list.some((one) => one.name === name)) return new CannotDo("not_running", `The experiment '${name}' has ended.`)
  return noSuch("experiment", name, namesOf(list))
}

function showExperiment(context: CliContext, name: string, flags: { since?: string; until?: string }): Promise<number> {
  const { since, until } = filterOf(context, flags)
  const window = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
  return withApp(context, { readOnly: true }, async ({ experiments }) => {
    const report = await experiments.show(name, window)
    if (report === undefined) throw noSuch("experiment", name, namesOf(experiments.list()))
    printResult(context, report, reportText(report))
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
          `Not counted: ${counted(otherwise, "call")} with another version than the experiment assigns: pinned, requested, or by an unknown agent.`,
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
