import { posix } from "node:path"
import type { Finding, GuardResult, GuardCheckOptions } from "../../core/guard.ts"
import type { Touch } from "../../core/touches.ts"
import { harmlessDevice, isForkBomb } from "./dangers.ts"
import { resolveIn } from "./disk.ts"
import {
  askFinding,
  commandTouch,
  dangerousFinding,
  findDenial,
  allowedBySandbox,
  networkDenial,
  notAllowedFinding,
  withCommand,
} from "./findings.ts"
import { findConfirmedPaths } from "./confirmed-paths.ts"
import { findDestruction } from "./destruction.ts"
import type { CommandContext } from "./command-context.ts"
import type { Parsers } from "./parsers.ts"
import { searchScript } from "./search-script.ts"
import type { ScanResult } from "./scan-result.ts"

/** Denies a script in which something denied is found. Else a person is asked, or the sandbox is enough. */
export function judgeUnproved(
  touch: Touch,
  because: string,
  folder: string,
  context: CommandContext,
  parsers: Parsers,
  call: GuardCheckOptions,
): GuardResult {
  const scan = searchScript(touch.what, parsers)
  const commands = scan.commands.map(({ words }) => words)
  const extraTouches = [touch, ...uniqueTouches(commands.map(commandTouch))]
  const folders = { workspace: context.workspace, cwd: folder }
  const denied = isForkBomb(touch.what)
    ? dangerousFinding("a part of it starts itself over and over", [touch.what])
    : (findDenial(commands, folders, context.deny) ?? writeDenial(scan, folder, context, call))
  if (denied !== undefined) return { extraTouches, proved: false, findings: [denied] }
  if (context.mode === "allowlist") {
    const missing = commands.find(
      (words) => !/[$`*?{[]/.test(words[0]!) && words[0] !== "cd" && !context.allow.findExact(words),
    )
    if (missing !== undefined) return { extraTouches, proved: false, findings: [notAllowedFinding(missing)] }
  }
  const { mode, deniedNames, sandboxMissing } = context
  if (mode === "sandbox" && deniedNames.length === 0) {
    const confirmed = findConfirmedPaths(scan, foldersOf(scan, folder), context, call)
    const findings = [...confirmed, ...findDestruction(scan, touch.what, folder, context, call)]
    return {
      extraTouches,
      proved: false,
      findings,
      allowedBy: findings.length === 0 ? allowedBySandbox : undefined,
      sandboxed: true,
    }
  }
  const word = deniedWord(touch.what, context)
  const highlight = word === undefined ? "" : ` It contains '${word}', which is denied as a command.`
  const denyNote = mode === "sandbox" ? " It may be a command in tools.shell.deny." : ""
  const sandboxNote = sandboxMissing === undefined ? "" : ` ${sandboxMissing}`
  const sentence = `It is not certain what this command runs, because ${because}.${denyNote}${highlight}${sandboxNote}`
  return { extraTouches, proved: false, findings: [askFinding("commands", "command_unproved", {}, sentence)] }
}

/** Denies a write to a path that no tool may write, even when the rest of the script is not proved. */
function writeDenial(
  { redirects, commands }: ScanResult,
  folder: string,
  context: CommandContext,
  call: GuardCheckOptions,
): Finding | undefined {
  const targets = redirects.filter(({ operator }) => operator.includes(">")).map(({ target }) => target)
  for (const { words } of commands)
    if (/(?:^|\/)tee$/.test(words[0]!)) targets.push(...words.slice(1).filter((word) => !word.startsWith("-")))
  const all = [...targets, ...redirects.map(({ target }) => target)]
  for (const target of all) {
    const network = networkDenial(target, [target])
    if (network !== undefined) return network
  }
  const folders = foldersOf({ commands }, folder)
  for (const target of new Set(targets)) {
    const path = target.replace(/^(?:\$HOME|\$\{HOME\})(?=\/|$)/, "~")
    if (/[$`*?]/.test(path) || /^\d$|^-$/.test(path) || harmlessDevice.test(path)) continue
    for (const base of path.startsWith("~") ? [""] : folders) {
      const what = base === "" ? path : resolveIn(base, path, context.disk)
      const finding = context
        .paths([{ kind: "write", what, opens: true }], call)
        .findings.find(({ verdict }) => verdict === "deny")
      if (finding !== undefined) return withCommand(finding, [`> ${target}`])
    }
  }
  return undefined
}

/** The folders that a relative path in the script may start from. */
export function foldersOf({ commands }: Pick<ScanResult, "commands">, folder: string): string[] {
  const folders = [folder]
  for (const { words } of commands)
    if (words[0] === "cd" && words[1] !== undefined && !/[$`~]/.test(words[1]))
      folders.push(posix.resolve(folder, words[1]))
  return folders
}

function deniedWord(script: string, { deniedNames }: CommandContext): string | undefined {
  const plain = script
    .slice(0, 100_000)
    .replace(/\\\n/g, "")
    .replace(/["'\\]/g, "")
  return deniedNames.find((name) => {
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "i").test(plain)
  })
}

function uniqueTouches(touches: readonly Touch[]): Touch[] {
  return [...new Map(touches.slice(0, 1000).map((touch) => [touch.what, touch])).values()]
}
