import { posix } from "node:path"
import type { Finding, GuardResult, GuardCheckOptions } from "../../core/guard.ts"
import type { Reason } from "../../core/reason.ts"
import type { Touch } from "../../core/touches.ts"
import { denylistFindings } from "./denylist-doubts.ts"
import { findDestruction } from "./destruction.ts"
import {
  askFinding,
  commandTouch,
  findDenial,
  allowedBySandbox,
  networkDenial,
  notAllowedFinding,
  withCommand,
} from "./findings.ts"
import type { CommandContext, ShellMode } from "./command-context.ts"
import type { ListedCommand } from "./command-lists.ts"
import type { NamedFile } from "./named-files.ts"
import type { Parsers } from "./parsers.ts"
import { programOf } from "./programs.ts"
import { displayWords, type ProvedSegment } from "./prove.ts"
import { searchCommand, searchScript } from "./search-script.ts"

/** Judges a proved script by its words and the files they name. */
export function judgeProved(
  segments: readonly ProvedSegment[],
  script: string,
  folder: string,
  context: CommandContext,
  parsers: Parsers,
  call: GuardCheckOptions,
): GuardResult {
  const { workspace, mode, allow, deny } = context
  const extraTouches: Touch[] = []
  const findings: Finding[] = []
  for (const segment of segments) {
    const { words, wrapped, files } = segment
    extraTouches.push(commandTouch(words), ...wrapped.map(commandTouch))
    // A program with a table is known to run none of its arguments.
    const commands = programOf(words[0]!) === undefined ? searchCommand(words, parsers) : [words]
    const denied = findDenial([...wrapped, ...commands], { workspace, cwd: folder }, deny)
    if (denied !== undefined) findings.push(denied)
    // In the sandbox any program may run, unless there is a deny list and the program could run something on it.
    else if (mode === "denylist" || (mode === "sandbox" && context.deniedNames.length > 0))
      findings.push(...denylistFindings(segment, context))
    for (const file of withWrites(words, files, context)) {
      const result = checkFile(words, file, context, call)
      const touches: Touch[] = [{ kind: file.kind, what: fromWorkspace(file.path, workspace) }, ...result.extraTouches]
      if (file.ifDenied !== true) extraTouches.push(...(file.redirected === true ? touches.map(asRedirect) : touches))
      findings.push(...result.findings)
    }
  }
  const denials = findings.filter(({ verdict }) => verdict === "deny")
  if (denials.length > 0) return { extraTouches, proved: true, findings: denials }
  const lines = segments.map(({ words }) => (words[0] === "cd" ? plainCd : allow.findExact(words)))
  const missing = lines.indexOf(undefined)
  if (missing !== -1 && mode === "allowlist") findings.push(notAllowedFinding(segments[missing]!.words))
  const isListed = missing === -1 || mode === "denylist"
  const hasRedirect = segments.some(({ files }) => files.some(({ redirected }) => redirected === true))
  const isAllowed = findings.length === 0 && isListed && !hasRedirect
  if (findings.length === 0 && !isAllowed && mode === "sandbox") {
    const destruction = findDestruction(searchScript(script, parsers), script, folder, context, call)
    const allowedBy = destruction.length === 0 ? allowedBySandbox : undefined
    return { extraTouches, proved: true, findings: destruction, allowedBy, sandboxed: true }
  }
  if (findings.length === 0 && isListed && hasRedirect)
    return { extraTouches: extraTouches.map(asListed), proved: true, findings }
  return {
    extraTouches,
    proved: true,
    findings,
    allowedBy: isAllowed ? allowedReason(segments, lines, mode) : undefined,
  }
}

/** A redirect writes a file for any program, so an allow rule has to cover it, as it has to for `write_file`. */
const asRedirect = (touch: Touch): Touch => ({ ...touch, derived: false })

/** The lists allow the programs, so an allow rule needs to cover only the redirects. */
const asListed = (touch: Touch): Touch => (touch.kind === "command" ? { ...touch, derived: true } : touch)

const plainCd: ListedCommand = { text: "cd", source: "commands" }

function allowedReason(
  segments: readonly ProvedSegment[],
  lines: readonly (ListedCommand | undefined)[],
  mode: ShellMode,
): Reason {
  const sources = [...new Set(lines.map((line) => line?.source ?? "tools.shell.mode"))]
  const source = sources.length > 1 ? sources.filter((name) => name !== "commands").join(", ") : sources[0]!
  const text = segments.map(({ words }) => `'${displayWords(words)}'`).join(", ")
  const sentence = lines.includes(undefined)
    ? `No part of it is denied, which is enough in the mode '${mode}': ${text}.`
    : `Every part of it is allowed by ${source}: ${text}.`
  return {
    check: "guard",
    source,
    code: "command_allowed",
    params: { parts: segments.map(({ words }) => displayWords(words)) },
    sentence,
  }
}

/** Passes a file of a segment to the path guard. A denial of a guessed file becomes an ask. */
function checkFile(
  words: readonly string[],
  { kind, path, guessed, redirected, ifDenied }: NamedFile,
  { paths }: CommandContext,
  call: GuardCheckOptions,
): Pick<GuardResult, "extraTouches" | "findings"> {
  const network = networkDenial(path, words)
  if (network !== undefined) return { extraTouches: [], findings: [network] }
  const { extraTouches, findings } = paths([{ kind, what: path, opens: redirected }], call)
  const relevant = findings.filter(({ verdict }) => (ifDenied === true ? verdict === "deny" : verdict !== "allow"))
  if (guessed !== true) return { extraTouches, findings: relevant.map((finding) => withCommand(finding, words)) }
  const asAsk = ({ reason }: Finding) => {
    const params = { ...reason.params, part: displayWords(words) }
    return askFinding(reason.source, reason.code, params, `'${displayWords(words)}' may use a file: ${reason.sentence}`)
  }
  return { extraTouches, findings: relevant.map(asAsk) }
}

/**
 * A program without a table may write any file it is given, so its guessed files also count as written. For a program on
 * the allow list only protected paths count. A folder counts as a new file in it.
 */
function withWrites(
  words: readonly string[],
  files: readonly NamedFile[],
  { mode, allow, disk }: CommandContext,
): readonly NamedFile[] {
  const isListed = allow.findExact(words) !== undefined
  if (isListed ? programOf(words[0]!) !== undefined : mode !== "denylist" && mode !== "sandbox") return files
  return files.flatMap((file): NamedFile[] => {
    if (file.guessed !== true || file.kind === "write") return [file]
    const isFolder = disk.realpath(file.path) !== undefined && !disk.isFile(file.path)
    const path = isFolder ? posix.join(file.path, "*") : file.path
    return [file, { ...file, kind: "write", path, ifDenied: isListed }]
  })
}

export function fromWorkspace(path: string, workspace: string): string {
  if (path === workspace) return "."
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}
