import { posix } from "node:path"
import type { Finding } from "../../core/guard.ts"
import type { Reason, ReasonParams } from "../../core/reason.ts"
import type { Touch } from "../../core/touches.ts"
import { dangerOf, type CommandFolders } from "./dangers.ts"
import type { CommandList } from "./command-lists.ts"
import { displayWords } from "./prove.ts"

/** Denies the first of these commands that is dangerous or on the deny list. */
export function findDenial(
  commands: readonly (readonly string[])[],
  folders: CommandFolders,
  deny: CommandList,
): Finding | undefined {
  for (const words of commands) {
    const danger = dangerOf(words, folders)
    if (danger !== undefined) return dangerousFinding(danger, words)
    const line = deny.findMeaning(words)
    if (line !== undefined) {
      const sentence = `Command '${line.text}' is denied by ${line.source}; it is in the part '${displayWords(words)}'. Leave that part out, or use another tool for it.`
      return denyFinding(line.source, "command_denied", { part: displayWords(words), line: line.text }, sentence)
    }
  }
  return undefined
}

export function dangerousFinding(because: string, words: readonly string[]): Finding {
  const sentence = `Dangerous command detected and blocked: '${displayWords(words)}', because ${because}. No configuration allows it.`
  return denyFinding("always denied", "command_dangerous", { part: displayWords(words) }, sentence)
}

/** Adds to a finding about a file which command names it. */
export function withCommand(finding: Finding, words: readonly string[]): Finding {
  const { reason } = finding
  const sentence = `${reason.sentence} It is named by '${displayWords(words)}'.`
  return { ...finding, reason: { ...reason, params: { ...reason.params, part: displayWords(words) }, sentence } }
}

/** The shell itself opens a connection for names such as /dev/tcp/host/port. */
export function networkDenial(path: string, words: readonly string[]): Finding | undefined {
  if (!/^\/dev\/(?:tcp|udp)\//.test(posix.normalize(path))) return undefined
  const sentence = `'${displayWords(words)}' opens a connection through '${path}'. Use a network tool instead.`
  return denyFinding("always denied", "command_connects", { part: displayWords(words), path }, sentence)
}

export function notAllowedFinding(words: readonly string[]): Finding {
  const sentence = `Command '${words[0]!}' is not allowed; it is in the part '${displayWords(words)}'. Only commands in tools.shell.allow may run.`
  return denyFinding("tools.shell.mode", "command_not_allowed", { part: displayWords(words) }, sentence)
}

/** Why a command is allowed in the mode `sandbox`. */
export const allowedBySandbox: Reason = {
  check: "guard",
  source: "tools.shell.mode",
  code: "command_held",
  sentence: "It runs in the sandbox, which is enough in the mode 'sandbox': it writes only in the workspace and has no network.", // prettier-ignore
}

export function denyFinding(source: string, code: string, params: ReasonParams, sentence: string): Finding {
  return { verdict: "deny", code: "command_denied", reason: { check: "guard", source, code, params, sentence } }
}

export function askFinding(source: string, code: string, params: ReasonParams, sentence: string): Finding {
  return { verdict: "ask", reason: { check: "guard", source, code, params, sentence, binding: true } }
}

/** A segment as rules compare it: its words joined by single spaces. */
export function commandTouch(words: readonly string[]): Touch {
  return { kind: "command", what: words.join(" ") }
}
