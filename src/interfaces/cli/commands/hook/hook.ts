import { isObject } from "../../../../lib/is-object.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { nearestName } from "../../../../lib/nearest-name.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { printMessage } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { UsageError } from "../../common/usage.ts"
import type { HookClient, HookReply } from "../../../hooks/hook-client.ts"
import type { HookClientName } from "../../../hooks/hook-clients.ts"
import { lastMsOf, outOfTime, usualSeconds, waitMsOf } from "./hook-flags.ts"

interface HookCommandFlags {
  event?: string
  server?: string
  timeout: string
  failOpen?: boolean
}

export function addHook(program: CliCommand, run: Run): void {
  program
    .command("hook <client>")
    .example("qm hook claude --agent claude < call.json")
    .allowInTool()
    .description(
      "decide on a coding agent's own tools: its hook sends the call on stdin; client: claude, codex, gemini, qwen, cursor, vscode, copilot or opencode; 'qm install' sets it up",
    )
    .option("--event <name>", "the event, for agents that do not send it")
    .option("--server <name>", "our name in the agent's MCP configuration, whose calls are decided on there")
    .option("--timeout <seconds>", "how long the agent waits for its hook", String(usualSeconds))
    .option("--fail-open", "let calls through when nothing can be decided, for example without a writable data folder")
    .action(run(hook))
}

/** Answers one hook and exits with 0 or, where the agent must not go on, with 2. */
async function hook(context: CliContext, client: string, flags: HookCommandFlags): Promise<number> {
  const { hookClients, hookClientNames } = await import("../../../hooks/hook-clients.ts")
  const name = hookClientNames.find((each) => each === client)
  if (name === undefined) {
    const guess = nearestName(client, hookClientNames)
    throw new UsageError(
      `There is no agent '${client}' whose hooks are answered.${guess === undefined ? "" : ` Did you mean '${guess}'?`} There are: ${hookClientNames.join(", ")}.`,
    )
  }
  const timeout = Number(flags.timeout)
  if (!(timeout > 0)) throw new UsageError(`--timeout takes seconds, and '${flags.timeout}' is none.`)
  const text = await readText(context)
  const open = flags.failOpen === true
  const late = setTimeout(() => {
    write(context, failed(hookClients[name], { text, event: flags.event, open }, outOfTime))
    context.io.leave(open ? 0 : 2)
  }, lastMsOf({ timeout }))
  try {
    return write(context, await decide(context, name, text, { ...flags, timeout }))
  } catch (error) {
    const sentence = `NOT EXECUTED. Quartermaster cannot decide on this call, so it does not run: ${errorMessage(error)} A person finds out more with 'qm doctor'.`
    return write(context, failed(hookClients[name], { text, event: flags.event, open }, sentence))
  } finally {
    clearTimeout(late)
  }
}

/** Megabytes are read; beyond this nobody could look at the call. */
const mostBytes = 64 * 1024 * 1024

async function readText({ io }: CliContext): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of io.stdin) {
    bytes += (chunk as Buffer).length
    if (bytes <= mostBytes) chunks.push(Buffer.from(chunk as Uint8Array))
  }
  return bytes > mostBytes ? "" : Buffer.concat(chunks).toString("utf8")
}

async function decide(
  context: CliContext,
  client: HookClientName,
  text: string,
  { event, server: serverName, timeout }: Omit<HookCommandFlags, "timeout"> & { timeout: number },
): Promise<HookReply> {
  const waitMs = waitMsOf({ timeout })
  const { dataDir } = await context.runtime.loadConfig(context.flags)
  const { agent } = context.flags
  if (agent !== undefined && context.io.env["QM_INSIDE"] === undefined) {
    const { askServer } = await import("./ask-server.ts")
    const reply = await askServer(dataDir, client, { agentId: agent, text, event, serverName, waitMs })
    if (reply !== undefined) return reply
  }
  const { answerHook } = await import("../../../hooks/answer-hook.ts")
  return withApp(context, {}, (app, loaded) => {
    const agentId = callingAgent(context, loaded, app)
    const { askInClient } = loaded.config.hooks ?? {}
    return answerHook(app, { client, agentId, text, event, serverName, waitMs, askInClient })
  })
}

/** Returns the reply where nothing can be decided: a no before a call; after it only a message, because it has run. */
function failed(
  client: HookClient,
  { text, event, open }: { text: string; event: string | undefined; open: boolean },
  sentence: string,
): HookReply {
  if (open || isOver(client, text, event)) return { stdout: "", stderr: sentence, code: open ? 0 : 1 }
  // Some agents look at the one, some at the other.
  return { ...client.deny(sentence), stderr: sentence, code: 2 }
}

function isOver(client: HookClient, text: string, event: string | undefined): boolean {
  try {
    const payload = JSON.parse(text) as unknown
    return isObject(payload) && client.read(payload, event).kind !== "before"
  } catch {
    return false
  }
}

function write(context: CliContext, { stdout, stderr, code }: HookReply): number {
  if (stdout !== "") context.io.stdout.write(stdout)
  if (stderr !== "") printMessage(context, stderr)
  return code
}
