import { posix } from "node:path"
import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { CommandPart, Finding, Guard, GuardResult, GuardCheckOptions } from "../../core/guard.ts"
import { sandboxUnavailableSentence } from "../../core/errors.ts"
import type { Touch } from "../../core/touches.ts"
import { commandFiles } from "./command-files.ts"
import { commandParts } from "./command-parts.ts"
import { commandStem } from "./command-stem.ts"
import { openDisk, cacheRealpath } from "./disk.ts"
import { unsafeVariable } from "./unsafe-variables.ts"
import { askFinding } from "./findings.ts"
import type { CommandContext, ShellMode } from "./command-context.ts"
import { judgeProved } from "./judge-proved.ts"
import { judgeUnproved } from "./judge-unproved.ts"
import { readCommandList, type ListedCommand } from "./command-lists.ts"
import { loadParsers, type Parsers } from "./parsers.ts"
import { prove } from "./prove.ts"

export interface CommandGuardOptions {
  /** The real path of the workspace. */
  readonly workspace: string
  readonly mode: ShellMode
  readonly allow: readonly ListedCommand[]
  readonly deny: readonly ListedCommand[]
  /** For the mode `sandbox`: why the sandbox does not work here; undefined when it does. Called for each command. */
  readonly missingSandbox?: () => string | undefined
  /** The path guard. It judges every file that a command names. */
  readonly paths: Guard["check"]
  readonly realpath?: (path: string) => string | undefined
}

export interface CommandGuard extends Guard {
  /** Loads the parsers; undefined when they are loaded. `check` throws before that. */
  ready(): Promise<void> | undefined
  /** See `commandStem`. */
  stem(line: string): string | undefined
  /** See `commandParts`. */
  parts(touch: Touch): readonly CommandPart[]
  /** See `commandFiles`. */
  files(touch: Touch): readonly string[]
}

/**
 * Judges shell scripts. A script of plain words is proved: it is certain which programs it runs and which files it names, and
 * each segment becomes a touch. For any other script a person is asked, unless something denied is found anywhere in it.
 */
export function commandGuard(options: CommandGuardOptions): CommandGuard {
  const { workspace, mode, paths } = options
  const configured: CommandContext = {
    workspace,
    mode,
    paths,
    allow: readCommandList(options.allow),
    deny: readCommandList(options.deny),
    deniedNames: options.deny.map(({ text }) => text.trim().split(/\s+/)[0]!),
    disk: openDisk(options.realpath),
  }
  return {
    ready: () => (parsers === undefined ? load() : undefined),
    stem: commandStem,
    files: (touch) => (parsers === undefined ? [] : commandFiles(touch, configured, parsers)),
    parts: (touch) => (parsers === undefined ? [] : commandParts(touch, configured, parsers)),
    check(touches, call) {
      const commands = touches.filter(({ kind }) => kind === "command")
      if (commands.length === 0) return nothing
      if (parsers === undefined)
        throw new Error("The command guard was called before its parsers were loaded. Await ready() first.")
      const results = commands.map((touch) => {
        const context = mode === "sandbox" ? withEffectiveMode(configured, touch, options.missingSandbox) : configured
        return checkCommand(touch, context, parsers!, call)
      })
      return results.length === 1 ? results[0]! : combine(results)
    },
  }
}

/** The mode `sandbox` becomes `ask` for commands of tools that do not use the sandbox, and where the sandbox does not work. */
function withEffectiveMode(
  context: CommandContext,
  { sandboxed }: Touch,
  missing: CommandGuardOptions["missingSandbox"],
): CommandContext {
  if (sandboxed !== true || missing === undefined) return { ...context, mode: "ask" }
  const because = missing()
  return because === undefined
    ? context
    : { ...context, mode: "ask", sandboxMissing: sandboxUnavailableSentence(because) }
}

const nothing: GuardResult = { extraTouches: [], proved: true, findings: [] }

let parsers: Parsers | undefined
let loading: Promise<void> | undefined

/** All guards of a process share one pair of parsers. */
function load(): Promise<void> {
  loading ??= loadParsers().then(
    (loaded) => {
      parsers = loaded
    },
    (error: unknown) => {
      loading = undefined
      throw error
    },
  )
  return loading
}

function checkCommand(
  { sessionEnvironment, ...touch }: Touch,
  context: CommandContext,
  parsers: Parsers,
  call: GuardCheckOptions,
): GuardResult {
  const folder = posix.resolve(context.workspace, touch.cwd ?? ".")
  const start = checkFolder(touch, context, call)
  const furtherFindings = [...start.findings, ...optionFindings(touch), ...sessionFindings(sessionEnvironment)]
  const disk = cacheRealpath(context.disk)
  const proof = prove(touch.what, parsers, { ...context, disk, folder })
  const result =
    "because" in proof
      ? judgeUnproved(touch, proof.because, folder, context, parsers, call)
      : judgeProved(proof, touch.what, folder, context, parsers, call)
  const extraTouches = [...result.extraTouches, ...start.extraTouches]
  if (furtherFindings.length === 0) return { ...result, extraTouches }
  return { ...result, extraTouches, findings: [...result.findings, ...furtherFindings], allowedBy: undefined }
}

/** The folder a command runs in counts as read. The workspace is not listed as a touch, but it must be open too. */
function checkFolder(
  { cwd }: Touch,
  { paths }: CommandContext,
  call: GuardCheckOptions,
): Pick<GuardResult, "extraTouches" | "findings"> {
  const touch: Touch = { kind: "read", what: cwd ?? "." }
  const { extraTouches, findings } = paths([touch], call)
  if (cwd === undefined) return { extraTouches: [], findings: findings.map(withoutFolder) }
  return { extraTouches: [touch, ...extraTouches], findings }
}

function withoutFolder(finding: Finding): Finding {
  const sentence = `A command runs in the workspace itself unless the call names another folder for it. ${finding.reason.sentence}`
  return { ...finding, reason: { ...finding.reason, sentence } }
}

/** Returns findings on the call's own settings besides the command: variables and network access. */
function optionFindings({ environment, network }: Touch): Finding[] {
  const variable = environment === undefined ? undefined : unsafeVariable(environment)
  return [
    ...(variable === undefined
      ? []
      : [
          askFinding(
            "commands",
            "variable_opaque",
            { variable },
            `The call sets the variable '${variable}', which may change what the command runs or reads.`,
          ),
        ]),
    ...(network === true
      ? [
          askFinding(
            "commands",
            "command_network",
            {},
            "The command may use the network. Rules about hosts do not apply inside a command: it reaches every host or none.",
          ),
        ]
      : []),
  ]
}

/** An approval is bound to the values of the session's variables by their hash: the audit log does not show them. */
function sessionFindings(variables: Touch["sessionEnvironment"] = {}): Finding[] {
  const variable = unsafeVariable(variables)
  if (variable === undefined) return []
  const sentence = `The variable '${variable}', which set_env has set for this session, may change what the command runs or reads.`
  return [askFinding("commands", "variable_opaque", { variable, values: sha256(canonicalJson(variables)) }, sentence)]
}

function combine(results: readonly GuardResult[]): GuardResult {
  const allowedBy = results.map((result) => result.allowedBy)
  return {
    extraTouches: results.flatMap(({ extraTouches }) => extraTouches),
    proved: results.every(({ proved }) => proved),
    findings: results.flatMap(({ findings }) => findings),
    sandboxed:
      results.every(({ proved, sandboxed }) => proved || sandboxed === true) &&
      results.some(({ sandboxed }) => sandboxed === true),
    allowedBy: allowedBy.includes(undefined) ? undefined : allowedBy[0],
  }
}
