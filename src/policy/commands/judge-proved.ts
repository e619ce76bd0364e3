import { posix } from "node:path"
import type { Finding, GuardLook, LookOptions } from "../../model/guard.ts"
import type { Reason } from "../../model/record.ts"
import type { Touch } from "../../model/rule.ts"
import { doubtsAbout } from "./doubts.ts"
import { asks, commandTouch, denial, networkDenial, notAllowed, within } from "./findings.ts"
import type { House, ShellMode } from "./house.ts"
import type { CommandLine } from "./lists.ts"
import type { NamedFile } from "./named-files.ts"
import type { Parsers } from "./parsers.ts"
import { programOf } from "./programs.ts"
import { shown, type ProvedSegment } from "./prove.ts"
import { searchBehind } from "./search.ts"

/** A proved line is judged by its words alone, and by the files they name. */
export function judgeProved(
  segments: readonly ProvedSegment[],
  folder: string,
  house: House,
  parsers: Parsers,
  call: LookOptions,
): GuardLook {
  const { workspace, mode, allow, deny } = house
  const more: Touch[] = []
  const findings: Finding[] = []
  for (const segment of segments) {
    const { words, wrapped, files } = segment
    more.push(commandTouch(words), ...wrapped.map(commandTouch))
    // A program with a table is proved to run none of its words.
    const behind = programOf(words[0]!) === undefined ? searchBehind(words, parsers) : [words]
    const denied = denial([...wrapped, ...behind], { workspace, cwd: folder }, deny)
    if (denied !== undefined) findings.push(denied)
    else if (mode === "denylist") findings.push(...doubtsAbout(segment, house))
    for (const file of withWrites(words, files, house)) {
      const looked = lookAtFile(words, file, house, call)
      if (file.ifDenied !== true)
        more.push({ kind: file.kind, what: fromWorkspace(file.path, workspace) }, ...looked.more)
      findings.push(...looked.findings)
    }
  }
  const denials = findings.filter(({ says }) => says === "deny")
  if (denials.length > 0) return { more, proved: true, findings: denials }
  const lines = segments.map(({ words }) => (words[0] === "cd" ? insideCd : allow.naming(words)))
  const missing = lines.indexOf(undefined)
  if (missing !== -1 && mode === "allowlist") findings.push(notAllowed(segments[missing]!.words))
  const isListed = missing === -1 || mode === "denylist"
  const isCovered = findings.length === 0 && isListed && writesCovered(segments, house, call)
  return { more, proved: true, findings, covers: isCovered ? coveredBy(segments, lines, mode) : undefined }
}

/** What the shell writes needs the same line that the file tools need: a redirect makes a writer of what only prints. */
function writesCovered(segments: readonly ProvedSegment[], { paths }: House, call: LookOptions): boolean {
  const writes = segments.flatMap(({ files }) => files.filter(({ redirected }) => redirected === true))
  const touches = writes.map(({ path }): Touch => ({ kind: "write", what: path }))
  return touches.length === 0 || paths(touches, call).covers !== undefined
}

const insideCd: CommandLine = { text: "cd", source: "commands" }

function coveredBy(
  segments: readonly ProvedSegment[],
  lines: readonly (CommandLine | undefined)[],
  mode: ShellMode,
): Reason {
  const sources = [...new Set(lines.map((line) => line?.source ?? "tools.shell.mode"))]
  const source = sources.length > 1 ? sources.filter((one) => one !== "commands").join(", ") : sources[0]!
  const text = segments.map(({ words }) => `'${shown(words)}'`).join(", ")
  const sentence = lines.includes(undefined)
    ? `No part of it is denied, and in the mode '${mode}' that is enough: ${text}.`
    : `Every part of it is allowed by ${source}: ${text}.`
  return { voice: "guard", source, sentence }
}

/** Where a file of a segment leads, and what the guard for paths says about it. About a guess it may only ask. */
function lookAtFile(
  words: readonly string[],
  { kind, path, guessed, redirected, ifDenied }: NamedFile,
  { paths }: House,
  call: LookOptions,
): Pick<GuardLook, "more" | "findings"> {
  const network = networkDenial(path, words)
  if (network !== undefined) return { more: [], findings: [network] }
  const { more, findings } = paths([{ kind, what: path, opens: redirected }], call)
  const told = findings.filter(({ says }) => (ifDenied === true ? says === "deny" : says !== "allow"))
  if (guessed !== true) return { more, findings: told.map((finding) => within(finding, words)) }
  const doubt = ({ reason }: Finding) => asks(reason.source, `'${shown(words)}' may use a file: ${reason.sentence}`)
  return { more, findings: told.map(doubt) }
}

/**
 * What has no table may as well write what it is given: what nobody named may run anything, what is in `allow` no name
 * that is sealed. Of a folder, only what would be new in it is told.
 */
function withWrites(
  words: readonly string[],
  files: readonly NamedFile[],
  { mode, allow, disk }: House,
): readonly NamedFile[] {
  const isListed = allow.naming(words) !== undefined
  if (isListed ? programOf(words[0]!) !== undefined : mode !== "denylist") return files
  return files.flatMap((file): NamedFile[] => {
    if (file.guessed !== true || file.kind === "write") return [file]
    const isFolder = disk.realpath(file.path) !== undefined && !disk.isFile(file.path)
    const path = isFolder ? posix.join(file.path, "*") : file.path
    return [file, { ...file, kind: "write", path, ifDenied: isListed }]
  })
}

function fromWorkspace(path: string, workspace: string): string {
  if (path === workspace) return "."
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}
