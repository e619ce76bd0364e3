import { counted } from "../../lib/counted.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { isSecretVariable } from "../../lib/secret-names.ts"
import type { ReasonParams, Sentence } from "../../core/reason.ts"
import type { CommandPreview } from "../../core/preview.ts"
import { sandboxUnavailableSentence } from "../../core/errors.ts"
import { type Processes, type SandboxLayer } from "../../platform/processes/process-access.ts"

/** The parts of the input that an approver sees. */
interface Shown {
  command: string
  cwd?: string
  env?: Readonly<Record<string, string>>
  network?: boolean
  background?: boolean
  stdin?: string
  timeoutMs?: number
}

interface Surroundings {
  /** The variables of the session. */
  session: Readonly<Record<string, string>> | undefined
  processes: Processes
  /** Why shell mode `sandbox` acts as `ask` here. */
  notHeld: string | undefined
  /** The folders to which a command in the sandbox can write. */
  places: readonly string[]
}

/** Returns an approver's preview: folder, variables, sandbox, and the command with invisible characters written out. */
export function commandPreview(input: Shown, { session, processes, notHeld, places }: Surroundings): CommandPreview {
  const { command, cwd, env = {}, network = false, background, stdin, timeoutMs } = input
  const variables = Object.entries(env).map(([name, value]) => visible(`${name}=${value}`))
  const sessionVariables = Object.entries(session ?? {}).map(([name, value]) =>
    visible(`${name}=${isSecretVariable(name) ? "(hidden)" : value}`),
  )
  const folder = visible(cwd ?? ".")
  const details = [
    // The workspace itself needs no line.
    ...(folder === "." ? [] : [line("detail_folder", `Folder: ${folder}`, { folder })]),
    ...variables.map((variable) => line("detail_variable", `Variable: ${variable}`, { variable })),
    ...sessionVariables.map((variable) =>
      line("detail_session_variable", `Variable of the session: ${variable}`, { variable }),
    ),
    ...(stdin === undefined
      ? []
      : [line("detail_input", `Input: ${counted(stdin.length, "character")}`, { count: stdin.length })]),
    ...(background === true ? [line("detail_background", "In the background, until it ends or is stopped")] : []),
    ...(timeoutMs === undefined
      ? []
      : [line("detail_time_limit", `Time limit: ${timeoutMs} ms`, { milliseconds: timeoutMs })]),
    ...sandboxLines(processes, network, places),
    ...(notHeld === undefined
      ? []
      : [line("detail_mode_asks", sandboxUnavailableSentence(notHeld), { because: notHeld })]),
  ]
  return { kind: "command", command: visible(command), cwd, network, details }
}

function sandboxLines(processes: Processes, network: boolean, places: readonly string[]): Sentence[] {
  let layer: SandboxLayer
  try {
    layer = processes.layer(network)
  } catch (error) {
    return [line("detail_sandbox_broken", errorMessage(error))]
  }
  if (layer.kind === "none") {
    const { because = "" } = layer
    const text = `Sandbox: none, because ${because}. It has your own rights, and reaches the network.`
    return [line("detail_no_sandbox", text, { because })]
  }
  return [
    places.length === 0
      ? line("detail_sandbox_no_writes", "Sandbox: bubblewrap. It can write nowhere.")
      : line("detail_sandbox", `Sandbox: bubblewrap. It can write only in ${places.join(", ")}.`, { places }),
    network
      ? line("detail_network", "Network: all of it. Rules about hosts do not reach inside.")
      : line("detail_no_network", "Network: none"),
  ]
}

function line(code: string, text: string, params?: ReasonParams): Sentence {
  return params === undefined ? { code, text } : { code, params, text }
}

/** Writes out invisible characters, except line ends and tabs. */
function visible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}
