import { lstatSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Finding, NamedPathOptions } from "../../core/guard.ts"
import { looseCommands } from "./loose-scan.ts"
import { expandHome, isUnder } from "../paths/allowed-path.ts"
import { asks, denies } from "../paths/path-findings.ts"
import { confirmedBecause, protectedBecause } from "../paths/path-lists.ts"
import type { PathPolicy } from "../paths/path-policy.ts"
import { protectedPath } from "../paths/path-refusals.ts"
import { foldPath } from "../paths/path-text.ts"

/** An input with more texts is asked about as a whole. */
const maxTexts = 5000
const maxLength = 4096

/**
 * Judges the input of a tool that does not say what it touches: each text that as a whole is a path or a `file:` URL,
 * and each word of a field named like a command. Our own data is refused. Protected paths are refused too, unless the
 * tool is trusted to only read; then they and the confirmed paths ask.
 */
export function checkNamedPaths(
  input: unknown,
  { folders, onlyReads }: NamedPathOptions,
  policy: PathPolicy,
  home: string | undefined,
): Finding[] {
  const texts = new Set<string>()
  collectTexts(input, texts)
  if (texts.size > maxTexts) return [tooManyTexts]
  const starts = [...new Set([policy.workspace, ...folders])]
  const found = new Map<string, Finding>()
  for (const text of texts) {
    for (const absolute of pathsOf(text, starts, home)) {
      const finding = judge(absolute, onlyReads, policy)
      if (finding !== undefined) found.set(finding.reason.sentence, finding)
    }
  }
  return [...found.values()]
}

const commandField = /^(cmd|commands?|command_?line|shell|bash|script|argv|args|exec|code)$/i
/** Paths in these fields are left out, so they are not touched. */
const leftOutField = /^(exclude|ignore)/i

function collectTexts(input: unknown, texts: Set<string>): void {
  const open: { value: unknown; isCommand: boolean }[] = [{ value: input, isCommand: false }]
  for (let next = open.pop(); next !== undefined && texts.size <= maxTexts; next = open.pop()) {
    const { value, isCommand } = next
    if (typeof value === "string") {
      texts.add(value)
      if (isCommand) for (const word of wordsOf(value)) texts.add(word)
    } else if (Array.isArray(value)) {
      for (const one of value) open.push({ value: one as unknown, isCommand })
    } else if (typeof value === "object" && value !== null) {
      for (const [key, one] of Object.entries(value)) {
        if (/[/.]/.test(key)) texts.add(key)
        if (!leftOutField.test(key)) open.push({ value: one, isCommand: isCommand || commandField.test(key) })
      }
    }
  }
}

/** The words as a shell would see them, and those between its special characters, for redirects and other languages. */
function wordsOf(script: string): string[] {
  const shell = looseCommands(script).flatMap(({ words }) => words)
  return [...shell, ...script.split(/[\s;&|<>(){}[\]"'`=,]+/)].filter((word) => word !== "")
}

/** The absolute paths that a text may stand for; none for a text that is no path. */
function pathsOf(text: string, starts: readonly string[], home: string | undefined): string[] {
  const trimmed = text.trim()
  if (trimmed === "" || trimmed.length > maxLength || trimmed.includes("\0")) return []
  const spellings = new Set([trimmed, ...decoded(trimmed)])
  if (/^file:/i.test(trimmed)) {
    spellings.delete(trimmed)
    for (const path of fromFileUrl(trimmed)) spellings.add(path)
  } else if (/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) return []
  return [...spellings].flatMap((spelling) => {
    const path = expandHome(spelling, home)
    return starts.flatMap((start) => {
      const absolute = resolve(start, path)
      return isPath(path, absolute, start) ? [absolute] : []
    })
  })
}

function decoded(text: string): string[] {
  try {
    return text.includes("%") ? [decodeURIComponent(text)] : []
  } catch {
    return []
  }
}

/** As the URL says, and as a server reads it that only removes `file:` or `file://`. */
function fromFileUrl(url: string): string[] {
  const rest = url.replace(/^file:(\/\/(localhost(?=\/))?)?/i, "")
  const loose = [rest, ...decoded(rest)]
  try {
    return [fileURLToPath(url), ...loose]
  } catch {
    return loose
  }
}

/**
 * Reports whether a text is a path as a whole. A word is one by its form or because there is such a file. A text with
 * spaces is one if it exists up to its last name with a space: other texts are prose.
 */
function isPath(text: string, absolute: string, start: string): boolean {
  if (/\s/.test(text)) {
    const steps = text.split("/")
    const spaced = steps.findLastIndex((step) => /\s/.test(step))
    return exists(resolve(start, steps.slice(0, spaced + 1).join("/")))
  }
  return text.includes("/") || text.startsWith(".") || isMadeToRun(text) || exists(absolute)
}

/** A name that programs look for, so that making the file matters too. */
function isMadeToRun(name: string): boolean {
  if (!/\.|file$/i.test(name)) return false
  const onlyWritten = (because: typeof protectedBecause) =>
    because(name, "write") !== undefined && because(name, "read") === undefined
  return onlyWritten(protectedBecause) || onlyWritten(confirmedBecause)
}

function exists(absolute: string): boolean {
  try {
    return lstatSync(absolute, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** A link is judged by its own name and by where it leads. */
function judge(absolute: string, onlyReads: boolean, policy: PathPolicy): Finding | undefined {
  const names = [...new Set([absolute, policy.realpath(absolute) ?? absolute])]
  const what = policy.displayPath(absolute)
  const own = policy.privatePaths.map(foldPath)
  if (names.some((name) => own.some((folder) => isUnder(foldPath(name), folder))))
    return denies(protectedPath(what, "read", "it is Quartermaster's own"), what)
  const use = onlyReads ? "read" : "write"
  for (const name of names) {
    const refusal = policy.protectedRefusal(name, "write", what)
    if (refusal === undefined) continue
    // A folder that has our files somewhere in it may be listed, and must not be moved.
    const isAbove = [policy.workspace, ...policy.privatePaths].some((path) => isUnder(path, name))
    if (isAbove && onlyReads) continue
    return onlyReads || isAbove ? asks(what, use, refusal.because ?? "it is protected") : denies(refusal, what)
  }
  for (const name of names) {
    const because =
      policy.confirmedBecause(name, "read") ?? (onlyReads ? undefined : policy.confirmedBecause(name, "write"))
    if (because !== undefined) return asks(what, use, because)
  }
  return undefined
}

const tooManyTexts: Finding = {
  verdict: "ask",
  reason: {
    check: "guard",
    source: "paths",
    code: "input_too_many_texts",
    sentence: `The input has more than ${maxTexts} texts, too many to check whether one is a protected path, so a person is asked. Use smaller inputs to be asked less often.`,
    binding: true,
  },
}
