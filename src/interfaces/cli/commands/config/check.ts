import type { CliCommand } from "../../common/cli-command.ts"
import { ConfigError } from "../../../../config/config-error.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { inspectFile, problemsIn, type FileReport } from "./inspect-file.ts"
import { printMessage, printOutput } from "../../common/output.ts"

export function addCheck(program: CliCommand, run: Run): void {
  program
    .command("check [file]")
    .example("qm check", "qm check quartermaster.yml")
    .description(
      "check a configuration file without trusting it: keys, rules with their examples, names; of a trusted one also whether its servers start",
    )
    .addHelpText("after", "\nExample:\n  qm check quartermaster.yml")
    .action(run(check))
}

/** A server or plugin of a trusted file, and what is wrong with it. */
interface Started {
  name: string
  problem: string | null
}

/** Exits with 2 if the file has a problem, with 1 if only something it starts does not work. */
async function check(context: CliContext, given: string | undefined): Promise<number> {
  const { flags } = context
  const read = await inspectFile(context, given ?? flags.config)
  const isStarted = read.trusted && read.problems.length === 0 && read.starts.length > 0
  const { started, ...report } = isStarted ? await startAll(context, read) : { ...read, started: [] }
  const { file, trusted, problems, warnings, notes, rules } = report
  const starts = trusted ? [] : report.starts
  if (flags.json) {
    printOutput(context, printableJson({ file, trusted, rules, problems, warnings, notes, starts, started }))
  } else {
    if (problems.length > 0) printMessage(context, new ConfigError(problems).message)
    for (const text of [...warnings, ...notes]) printMessage(context, `Note: ${text}`)
    if (problems.length === 0) printOutput(context, printable(summaryOf(report, started).join("\n")))
  }
  if (problems.length > 0) return 2
  return started.some(({ problem }) => problem !== null) ? 1 : 0
}

function summaryOf({ file, trusted, rules, starts }: FileReport, started: readonly Started[]): string[] {
  const tested = rules === 0 ? "" : ` (${rules} ${rules === 1 ? "rule" : "rules"}, every example passes)`
  const fine = `${file} has no mistakes${tested}.`
  if (trusted) {
    const line = ({ name, problem }: Started) =>
      problem === null ? `  ${name} works.` : `  ${name} fails: ${problem.replaceAll("\n", "\n    ")}`
    const isWhole = started.every(({ problem }) => problem === null)
    const first = isWhole
      ? `${fine} It is trusted.`
      : `${file} is trusted and well written${tested}, but not all of it works:`
    return [first, ...started.map(line)]
  }
  const would = starts.length === 0 ? [] : ["Nothing was started. Once it is trusted, it starts or loads:"]
  return [fine, ...would, ...starts.map((line) => `  ${line}`), "It is not trusted. Run 'qm trust' to use it."]
}

/** Starts the servers and loads the plugins of a trusted file, as every command does; then their tools are known too. */
async function startAll(
  { io, runtime, flags }: CliContext,
  read: FileReport,
): Promise<FileReport & { started: Started[] }> {
  const loaded = await runtime.loadConfig({ ...flags, config: read.file })
  const app = await runtime.openApp(loaded)
  try {
    await app.mcp.ready(undefined, { all: true })
    const started = startedIn(app)
    const isComplete = started.every(({ problem }) => problem === null)
    const found = await problemsIn(app, { ...read, starts: isComplete ? [] : read.starts }, loaded, io.env)
    return { ...read, ...found, started }
  } finally {
    await app.close()
  }
}

function startedIn({ mcp, plugins }: Quartermaster): Started[] {
  const servers = mcp.list().filter(({ state }) => state !== "disabled")
  return [
    ...servers.map(({ name, state, problem }) => ({
      name: `MCP server ${name}`,
      problem: state === "connected" ? null : (problem ?? `It is ${state}.`),
    })),
    ...plugins.list().map(({ name, state, problem }) => ({
      name: `Plugin ${name}`,
      problem: state === "failed" ? (problem ?? "It was not loaded.") : null,
    })),
  ]
}
