import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { CliCommand } from "../../common/cli-command.ts"
import type { PipelineProblem } from "../../../../agents/pipeline/read-definition.ts"
import type { PipelineOptions, PipelineResult } from "../../../../agents/pipeline/tool-pipeline.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { printableJson } from "../../../../lib/printable.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import { readArguments } from "../../common/arguments.ts"
import { activeAgent } from "../../common/calling-agent.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { withApp } from "../../common/open-app.ts"
import { printOutput } from "../../common/output.ts"
import { jsonPipelineReport, printProblems, textPipelineReport } from "./pipeline-report.ts"
import { columnsOf } from "../../terminal/table.ts"
import { untilStopped } from "../run/until-stopped.ts"
import { CannotDo, repeated, UsageError } from "../../common/usage.ts"
import { waitTime } from "../run/wait-flag.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { tellWaiting } from "../approvals/waiting-items.ts"

interface PipelineFlags {
  input?: string[]
  dryRun?: boolean
  wait?: string | true
  resume?: string
}

export function addPipeline(program: CliCommand, run: Run): void {
  const pipeline = program
    .command("pipeline")
    .example("qm pipeline check report.yml", "qm pipeline run report.yml")
    .allowInTool()
    .description("make the tool calls of a file, without a model")
  pipeline
    .command("run <file>")
    .example("qm pipeline run report.yml --dry-run", "qm pipeline run report.yml --input folder=docs --agent dev")
    .description("make the calls, each as soon as what it needs has ended, and print the outputs")
    .option("--input <key=value>", "an input of the pipeline (key:=json for JSON); can be repeated", repeated)
    .option("--dry-run", "print the order and the verdict on each step; run nothing")
    .option("--wait [seconds]", "without a terminal: wait for approvals that are answered elsewhere (default: do not)")
    .option("--resume <id>", "go on with a run that waits; what has run does not run again")
    .addHelpText("after", pipelineExitCodes)
    .action(run(runPipeline))
  pipeline
    .command("check <file>")
    .example("qm pipeline check report.yml --agent dev")
    .description("say what is wrong with a pipeline: keys, references, tools, inputs, permissions; runs nothing")
    .option("--input <key=value>", "an input of the pipeline (key:=json for JSON); can be repeated", repeated)
    .action(run(checkPipeline))
}

const pipelineExitCodes = `
Exit codes:
  0  every step succeeded or was skipped by a condition
  1  a step failed, was refused or its result withheld
  2  the pipeline or its input is wrong; nothing was run
  3  the agent may not make one of the calls; nothing was run
  4  steps wait for a person; --resume goes on when they are answered
  6  it was stopped; --resume goes on`

const exitCodes: Readonly<Record<Exclude<PipelineResult["status"], "refused">, number>> = {
  completed: 0,
  failed: 1,
  waiting: 4,
  aborted: 6,
}

/** Runs a pipeline to its end and prints its outputs on stdout. What happens meanwhile goes to stderr. */
async function runPipeline(context: CliContext, file: string, flags: PipelineFlags): Promise<number> {
  if (flags.dryRun === true) return planPipeline(context, file, flags, "planText")
  const waitMs = waitTime(context, flags.wait)
  const source = await readSource(context, file)
  const input = inputOf(flags)
  return untilStopped(context, async ({ app, loaded, signal, write }) => {
    const agentId = activeAgent(context, loaded, app)
    const id = flags.resume === undefined ? undefined : await findRun(app, flags.resume, agentId)
    await waitForServers(context, app)
    const report = context.flags.json ? jsonPipelineReport(context, write) : await textPipelineReport(context, write)
    const given: PipelineOptions = { agentId, input, id, durable: true, waitMs }
    const pipeline = app.pipeline(source, { ...given, ...report.callbacks })
    report.start({ id: pipeline.id, agent: agentId, file })
    app.on("PIPELINE_STARTED", ({ pipelineId, name = file, steps }) => {
      if (pipelineId === pipeline.id) report.begun({ id: pipelineId, agent: agentId, name, steps })
    })
    const items = new Map<string, PendingItem>()
    const stopTelling = tellWaiting(app, async (item) => {
      items.set(item.callId, item)
      if (waitMs !== 0) await report.waiting(item)
    })
    const running = pipeline.run()
    // Closing cancels what runs and leaves what waits in the approval queue. The run has begun, so it is waited for.
    onceAborted(signal, () => void app.close())
    const result = await running
    await stopTelling()
    const open = result.steps
      .filter(({ status }) => status === "waiting")
      .flatMap(({ callId = "" }) => items.get(callId) ?? [])
    if (waitMs === 0) for (const item of open) await report.waiting(item)
    await report.end(result, { resume: resumeCommand(context, file, flags, result), open })
    return result.status === "refused" ? refusedCode(result.problems) : exitCodes[result.status]
  })
}

function onceAborted(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener("abort", listener, { once: true })
}

function checkPipeline(context: CliContext, file: string, flags: PipelineFlags): Promise<number> {
  return planPipeline(context, file, flags, "checkedText")
}

/** Says what would happen, or everything that is wrong. */
async function planPipeline(
  context: CliContext,
  file: string,
  flags: PipelineFlags,
  text: "planText" | "checkedText",
): Promise<number> {
  const source = await readSource(context, file)
  const input = inputOf(flags)
  return withApp(context, { readOnly: true }, async (app, loaded) => {
    const agentId = activeAgent(context, loaded, app)
    await waitForServers(context, app)
    const plan = await app.pipeline(source, { agentId, input }).check()
    const texts = await import("./pipeline-plan.ts")
    const { problems } = plan
    const { stdout, env } = context.io
    const look = { columns: columnsOf(stdout), paint: await terminalStyleFor(stdout, env) }
    if (context.flags.json) printOutput(context, printableJson(plan))
    else if (problems.length === 0) printOutput(context, texts[text](plan, { file, agentId, ...look }))
    else printProblems(context, problems)
    return problems.length === 0 ? 0 : refusedCode(problems)
  })
}

/** As everywhere: 3 is not allowed, 2 is wrong usage. */
function refusedCode(problems: readonly PipelineProblem[]): number {
  return problems.every(({ kind }) => kind === "denied") ? 3 : 2
}

async function readSource({ io }: CliContext, file: string): Promise<{ yaml: string; file: string }> {
  try {
    return { yaml: await readFile(resolve(io.cwd, file), "utf8"), file }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") throw new UsageError(`There is no file ${file}. Write the path of a pipeline.`)
    throw new UsageError(`${file} cannot be read (${code ?? String(error)}).`)
  }
}

function inputOf({ input = [] }: PipelineFlags): Record<string, unknown> {
  return readArguments(input, undefined) as Record<string, unknown>
}

const resumableMs = 24 * 60 * 60 * 1000

/** The whole id of a run. What has run is known for a day; later it would run again. */
async function findRun(app: Quartermaster, beginning: string, agentId: string): Promise<string> {
  const { isFirstNote } = await import("../../../../agents/pipeline/open-pipelines.ts")
  const [note] = await app.audit.show(beginning)
  if (note?.kind !== "note" || note.agentId !== agentId || !isFirstNote(note.text)) {
    const sentence = `There is no run ${beginning} of agent ${agentId}. The run itself printed the command that goes on.`
    throw new CannotDo("run_not_found", sentence)
  }
  if (Date.now() - note.at < resumableMs) return note.callId
  throw new CannotDo("run_too_old", `Run ${beginning} began more than 24 hours ago. Leave out --resume to begin again.`)
}

function resumeCommand(
  { flags: { agent } }: CliContext,
  file: string,
  flags: PipelineFlags,
  { id }: PipelineResult,
): string {
  const inputs = (flags.input ?? []).flatMap((pair) => ["--input", pair])
  const words = [file, "--resume", id, ...inputs, ...(agent === undefined ? [] : ["--agent", agent])]
  return `qm pipeline run ${words.map(shellWord).join(" ")}`
}
