import { isUtf8 } from "node:buffer"
import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import type { CommandSpec, ExceededLimit, FinishedCommand, Processes } from "../../platform/processes/process-access.ts"
import { toolRef, dialectText, ifParameter, type DialectText } from "../../core/dialect-text.ts"
import { artifactLimit, type CallSession, type ToolContext } from "../../core/tool.ts"
import { commandPreview } from "./command-preview.ts"
import { sandboxOutput } from "./output-schemas.ts"

/** The longest a command may run in the foreground: slightly less than the longest time limit of a call. */
const longestMs = 590_000
/** Limit of characters of output that are streamed while the command runs. */
const mostTold = 10 * 1024 * 1024
/** Limit of characters of the output that are quoted when the command was ended. */
const mostQuoted = 4000

const Input = z.object({
  command: z.string().min(1).max(100_000).describe("A script for bash, for example ls -la | head -3"),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe("The folder to run in, relative to the workspace; the workspace when left out"),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(longestMs)
    .optional()
    .describe("Milliseconds until it is ended, for example 60000"),
  env: z.record(z.string(), z.string()).optional().describe('Variables to set for it, for example {"CI": "1"}'),
  stdin: z.string().max(10_000_000).optional().describe("What it reads from its standard input"),
  background: z.boolean().optional().describe("Return at once; read on with command_output, end it with command_stop"),
  network: z.boolean().optional().describe("Whether it must reach the network. A person is asked first"),
  requireConfirmation: z.boolean().optional().describe("True asks a person in any case"),
})
type Input = z.infer<typeof Input>

export interface RunCommandOptions {
  /** The time limit of commands that set none. */
  readonly timeoutMs?: number
  /** In shell mode `sandbox`: why bubblewrap does not work here. Undefined when it does. */
  readonly sandboxProblem?: () => string | undefined
  /** The variables that `set_env` has set for a session. */
  readonly sessionVariables?: (session: CallSession) => Readonly<Record<string, string>>
  /** `tools.allowedPaths`: the only places a command in the sandbox can write to; the workspace when left out. */
  readonly allowedPaths?: readonly string[]
}

/** Runs a script in bash. A non-zero exit code is a result; only a command that could not start or did not end is a failure. */
export const runCommand = (
  processes: Processes,
  {
    timeoutMs: usualMs = 60_000,
    sandboxProblem,
    sessionVariables,
    allowedPaths = ["the workspace"],
  }: RunCommandOptions = {},
) =>
  defineTool({
    name: "run_command",
    group: "command",
    category: "execution",
    description:
      "Run a command in bash, in the workspace, and get what it printed and its exit code. Each command is a process of its own: folder and shell variables do not carry over; set_env sets variables for all. Without network unless it is asked for. What it leaves running ends with it; use background for servers.",
    effect: "execute",
    permission: { level: "sensitive" },
    timeoutMs: 600_000,
    input: Input,
    output: () =>
      z.object({
        stdout: z.string(),
        stderr: z.string(),
        exitCode: z.number().nullable(),
        durationMs: z.number(),
        sandbox: sandboxOutput,
        signal: z.string().optional(),
        leftovers: z.number().optional(),
        dropped: z.number().optional(),
        artifactRef: z.string().optional(),
        id: z.string().optional(),
        status: z.string().optional(),
      }),
    touches: ({ command, cwd, env, network }, session) => [
      {
        kind: "command",
        what: command,
        cwd,
        environment: env,
        sessionEnvironment: variablesOf(session, sessionVariables),
        network: network ?? false,
        sandboxed: true,
      },
    ],
    preview: (input, session) =>
      commandPreview(input, {
        session: variablesOf(session, sessionVariables),
        processes,
        notHeld: sandboxProblem?.(),
        places: allowedPaths,
      }),

    async execute(input, context) {
      const isHeld = sandboxProblem !== undefined && sandboxProblem() === undefined
      const spec = { ...specOf(input, context), mustBeSandboxed: !context.approved && isHeld }
      if (input.background === true) return startInBackground(processes, spec, context)
      const timeoutMs = spec.timeoutMs ?? usualMs
      const finished = await processes.run(
        { ...spec, timeoutMs },
        { signal: context.signal, onOutput: teller(context) },
      )
      const artifactRef = await keepWhole(finished, context)
      if (finished.exceeded !== undefined) throw tooMuch(finished, finished.exceeded, artifactRef)
      if (finished.timedOut) throw outOfTime(finished, timeoutMs, artifactRef)
      const { stdout, stderr, exitCode, durationMs, sandbox, signal, leftovers, dropped } = finished
      return {
        stdout,
        stderr,
        exitCode,
        durationMs,
        sandbox,
        ...(signal === null ? {} : { signal }),
        ...(leftovers === 0 ? {} : { leftovers }),
        ...(dropped === 0 ? {} : { dropped }),
        ...(artifactRef === undefined ? {} : { artifactRef }),
      }
    },
  })

/** The session's variables are those that were judged: `set_env` may have set others since then. */
function specOf(input: Input, { allowedPaths, approved, touches }: ToolContext): CommandSpec {
  const { command, cwd, env, stdin, network, timeoutMs } = input
  const environment = { ...touches?.[0]?.sessionEnvironment, ...env }
  return { command, cwd, environment, stdin, network, timeoutMs, allowedPaths, unapproved: !approved }
}

/** Undefined when there are none. Our own variables are never passed to commands. */
function variablesOf(
  session: CallSession | undefined,
  sessionVariables: RunCommandOptions["sessionVariables"],
): Readonly<Record<string, string>> | undefined {
  if (session === undefined || sessionVariables === undefined) return undefined
  const variables = Object.entries(sessionVariables(session))
  const passed = variables.filter(([name]) => !/^(QM|QUARTERMASTER)_/.test(name))
  return passed.length === 0 ? undefined : Object.fromEntries(passed)
}

async function startInBackground(processes: Processes, spec: CommandSpec, { agent, taskId }: ToolContext) {
  const { id, status, sandbox } = await processes.start(spec, { agentId: agent.id, taskId })
  return { id, status, stdout: "", stderr: "", exitCode: null, durationMs: 0, sandbox }
}

/** Streams output up to a limit. */
function teller({ emit }: ToolContext): (chunk: { stream: "stdout" | "stderr"; text: string }) => void {
  let told = 0
  return (chunk) => {
    if (told > mostTold) return
    told += chunk.text.length
    emit(told > mostTold ? { stream: "stderr", text: "\n[what follows is not shown while it runs]\n" } : chunk)
  }
}

/** When the two texts are cut, stores the complete output as an artifact: as text, or as bytes if it is not text. */
async function keepWhole({ whole }: FinishedCommand, { artifacts }: ToolContext): Promise<string | undefined> {
  if (whole === undefined) return undefined
  try {
    const mark = whole.isCut ? "\n[cut: more was printed]\n" : ""
    const bytes = (await whole.read()).subarray(0, artifactLimit - mark.length)
    const text = textOf(bytes)
    const content = text === undefined ? bytes : text + mark
    const mimeType = text === undefined ? "application/octet-stream" : "text/plain"
    return await artifacts.put({ type: "command_output", content, mimeType, meta: { isCut: whole.isCut } })
  } finally {
    whole.drop()
  }
}

/** The end may be cut in the middle of a character. */
function textOf(bytes: Buffer): string | undefined {
  const ends = [0, 1, 2, 3].map((less) => bytes.subarray(0, bytes.length - less))
  return ends.find((part) => isUtf8(part))?.toString("utf8")
}

const inBackground = dialectText`, or run it with ${toolRef("run_command", "background")}`

function outOfTime(finished: FinishedCommand, timeoutMs: number, artifactRef?: string) {
  const sentence = dialectText`The command was still running after ${timeoutMs} ms and was ended, with all it had started. Give it a longer ${toolRef("run_command", "timeoutMs")}${ifParameter("run_command", "background", inBackground)}.`
  const about = { timedOut: true, timeoutMs }
  return endedByUs(finished, { toolCode: "command_timeout", sentence, about, artifactRef })
}

function tooMuch(finished: FinishedCommand, { limit, most, sentence }: ExceededLimit, artifactRef?: string) {
  return endedByUs(finished, { toolCode: "command_limit", sentence, about: { limit, most }, artifactRef })
}

function endedByUs(
  { stdout, stderr, durationMs, sandbox }: FinishedCommand,
  {
    toolCode,
    sentence,
    about,
    artifactRef,
  }: { toolCode: string; sentence: string | DialectText; about: object; artifactRef?: string },
) {
  const printed = [lastOf("It had printed", stdout), lastOf("On stderr", stderr)].filter((text) => text !== "")
  const all = artifactRef === undefined ? "" : ` All it printed is ${artifactRef}.`
  const kept = artifactRef === undefined ? {} : { artifactRef }
  return failure(dialectText`${sentence}${all}${printed.join("")}`, {
    toolCode,
    metadata: { ...about, durationMs, sandbox, ...kept },
  })
}

function lastOf(title: string, text: string): string {
  if (text === "") return ""
  const last = text.slice(-mostQuoted)
  return `\n${title}${last.length < text.length ? ", at the end" : ""}:\n${last}`
}
