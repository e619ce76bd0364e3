import { posix } from "node:path"
import type { Finding } from "../../model/guard.ts"
import type { Touch } from "../../model/rule.ts"
import { dangerOf, type Ground } from "./dangers.ts"
import type { CommandList } from "./lists.ts"
import { shown } from "./prove.ts"

/** The first of these commands that nobody may run, and by which line. */
export function denial(
  commands: readonly (readonly string[])[],
  ground: Ground,
  deny: CommandList,
): Finding | undefined {
  for (const words of commands) {
    const danger = dangerOf(words, ground)
    if (danger !== undefined) return dangerous(danger, words)
    const line = deny.meaning(words)
    if (line !== undefined) {
      const sentence = `Command '${line.text}' is denied by ${line.source}; it is in the part '${shown(words)}'. Leave that part out, or use another tool for it.`
      return denies(line.source, sentence)
    }
  }
  return undefined
}

export function dangerous(because: string, words: readonly string[]): Finding {
  const sentence = `Dangerous command detected and blocked: '${shown(words)}', because ${because}. No configuration allows it.`
  return denies("always denied", sentence)
}

/** What is found about a file, with the command that names it. */
export function within(finding: Finding, words: readonly string[]): Finding {
  const { reason } = finding
  return { ...finding, reason: { ...reason, sentence: `${reason.sentence} It is named by '${shown(words)}'.` } }
}

/** The shell itself opens connections for such names. */
export function networkDenial(path: string, words: readonly string[]): Finding | undefined {
  if (!/^\/dev\/(?:tcp|udp)\//.test(posix.normalize(path))) return undefined
  return denies("always denied", `'${shown(words)}' opens a connection through '${path}'. Use a tool for the network.`)
}

export function notAllowed(words: readonly string[]): Finding {
  const sentence = `Command '${words[0]!}' is not allowed; it is in the part '${shown(words)}'. Only what tools.shell.allow names may run.`
  return denies("tools.shell.mode", sentence)
}

export function denies(source: string, sentence: string): Finding {
  return { says: "deny", code: "command_denied", reason: { voice: "guard", source, sentence } }
}

export function asks(source: string, sentence: string): Finding {
  return { says: "ask", reason: { voice: "guard", source, sentence, binding: true } }
}

/** A segment as rules are compared with it: its words with single spaces. */
export function commandTouch(words: readonly string[]): Touch {
  return { kind: "command", what: words.join(" ") }
}
