import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import type { ToolChainResult } from "../../../../agents/chain/chain-result.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { agentOfEntries } from "../../common/known-names.ts"
import { activeAgent } from "../../common/calling-agent.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { findConversation } from "./find-conversation.ts"
import { isAttended, personOf } from "../../common/open-app.ts"
import type { showCards as ShowCards } from "./run-cards.ts"
import { runLimits } from "../../../../config/run-limits.ts"
import { modelFor } from "../models/model-for.ts"
import { jsonReport, textReport, type RunReport } from "./run-report.ts"
import { readStdin } from "../../common/read-stdin.ts"
import { untilStopped, type CallingSession } from "./until-stopped.ts"
import { CannotDo, UsageError, wholeNumberFlag } from "../../common/usage.ts"
import { waitTime } from "./wait-flag.ts"
import { waitForAgents } from "../agents/wait-for-agents.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { tellWaiting, waitingItems } from "../approvals/waiting-items.ts"

interface RunFlags {
  model?: string
  resume?: string
  wait?: string | true
  maxRounds?: string
  maxCalls?: string
}

export function addRun(program: CliCommand, run: Run): void {
  program
    .command("run [task...]")
    .example("qm run 'Which tests fail, and why?' --agent dev", "git diff | qm run 'Review this change.' - --json")
    .description("let an agent do a task with its tools and print its answer; - reads the task from stdin")
    .option("--model <name>", "the model (default: that of the agent's role, or models.default)")
    .option("--resume <id>", "go on with a conversation, with or without a new task")
    .option("--wait [seconds]", "without a terminal: wait for approvals that are answered elsewhere (default: do not)")
    .option(
      "--max-rounds <count>",
      `how often the model may call tools (default: agents.maxRounds, or ${runLimits.maxRounds})`,
    )
    .option(
      "--max-calls <count>",
      `how many tool calls it may make (default: agents.maxCalls, or ${runLimits.maxCalls})`,
    )
    .addHelpText("after", runExitCodes)
    .action(run(runTask))
}

const runExitCodes = `
Exit codes:
  0  the agent answered
  1  the model failed, or there is no such agent, model or conversation
  4  calls wait for a person; --resume goes on when they are answered
  5  a limit was reached; the answer says what is left to do
  6  it was stopped`

const exitCodes: Readonly<Record<ToolChainResult["status"], number>> = {
  completed: 0,
  error: 1,
  waiting: 4,
  limit: 5,
  aborted: 6,
}

/** Runs one task to its end and prints the answer on stdout. What happens meanwhile goes to stderr. */
async function runTask(context: CliContext, words: readonly string[], flags: RunFlags): Promise<number> {
  const waitMs = waitTime(context, flags.wait, " Write the task before it.")
  const maxRounds = wholeNumberFlag("--max-rounds", flags.maxRounds)
  const maxCalls = wholeNumberFlag("--max-calls", flags.maxCalls)
  const task = await readTask(context.io.stdin, words)
  if (task === "" && flags.resume === undefined)
    throw new UsageError("There is no task. Write it after 'qm run', or send it on stdin with 'qm run -'.")
  const isAsked = isAttended(context.io)
  const work = async ({ app, loaded, signal, interrupt, write }: CallingSession) => {
    const { before, agentId } = await whoGoesOn(context, app, loaded, flags.resume)
    const model = await modelFor(app, loaded, agentId, { named: flags.model, before })
    await waitForServers(context, app)
    const report = context.flags.json ? jsonReport(context, write) : await textReport(context, write)
    const chain = app.chain(agentId, {
      durable: true,
      wakes: false,
      id: before?.id,
      model,
      userId: (await personOf(context, app, loaded).catch(() => undefined))?.id,
      waitMs,
      maxRounds,
      maxCalls,
      ...report.callbacks,
      signal,
    })
    report.start({ id: chain.id, agent: agentId, model: model.name, resumed: before !== undefined })
    let left: readonly PendingItem[] | undefined
    const stopAsking = isAsked
      ? await askHere(context, app, {
          id: chain.id,
          person: async () => (await personOf(context, app, loaded)).id,
          before: () => report.pause(),
          after: () => report.resume(),
          interrupt,
          onLeft(items) {
            left = items
            // The run stops where it is, and can be resumed.
            void app.close()
          },
        })
      : () => {}
    const stopTelling = waitMs === 0 || isAsked ? () => Promise.resolve() : tellWaiting(app, report.waiting)
    const society = app.society.start({ within: chain.id, waitMs: waitMs ?? Infinity })
    const stopShowing = showAgents(app, chain.id, report.agent)
    let result: ToolChainResult
    try {
      result = await goOn(async () => {
        const first = await (task === "" ? chain.resume() : chain.run(task))
        return waitForAgents(app, chain, society, first, signal)
      })
    } finally {
      stopAsking()
      stopShowing()
      await stopTelling()
      report.stop()
    }
    if (result.status === "waiting")
      for (const item of left ?? (await waitingItems(app, result.waiting))) await report.waiting(item)
    report.end(result)
    return exitCodes[result.status]
  }
  return untilStopped(context, work, { cards: true })
}

async function askHere(...given: Parameters<typeof ShowCards>): Promise<() => void> {
  const { showCards } = await import("./run-cards.ts")
  return showCards(...given)
}

/** Tells when other agents begin and end to work. */
function showAgents(app: Quartermaster, ownId: string, show: RunReport["agent"]): () => void {
  const stops = [
    app.on("RUN_STARTED", ({ conversationId, agentId }) => conversationId !== ownId && show(agentId, "working")),
    app.on("RUN_ENDED", ({ conversationId, agentId, status }) => conversationId !== ownId && show(agentId, status)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** The conversation to go on with and its agent, or a new one of the calling agent. */
async function whoGoesOn(context: CliContext, app: Quartermaster, loaded: LoadedConfig, resume: string | undefined) {
  const calling = activeAgent(context, loaded, app)
  if (resume === undefined) return { before: undefined, agentId: calling }
  const before = await findConversation(app.conversations, resume)
  const { id, agentId } = before
  const agent = agentOfEntries(context, app)
  if (agent !== undefined && agent !== agentId)
    throw new CannotDo("other_agent", `Conversation ${id} is one of agent ${agentId}. Leave out --agent.`)
  return { before, agentId }
}

/** That another process has the conversation is told as a sentence. */
async function goOn(work: () => Promise<ToolChainResult>): Promise<ToolChainResult> {
  try {
    return await work()
  } catch (error) {
    const { ClaimLost } = await import("../../../../agents/chain/log.ts")
    throw error instanceof ClaimLost ? new CannotDo("conversation_not_free", error.message) : error
  }
}

async function readTask(stdin: NodeJS.ReadStream, words: readonly string[]): Promise<string> {
  const said = words.filter((word) => word !== "-").join(" ")
  const piped = words.includes("-") ? await readStdin(stdin) : ""
  return [said, piped]
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n")
}
