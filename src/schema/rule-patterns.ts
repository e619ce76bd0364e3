import { readGlob, type Glob } from "../lib/glob.ts"
import { parseJsonPointer } from "../lib/json-pointer.ts"
import type { Touch } from "../core/touches.ts"

/** The mistake of a pattern. Continues a sentence that begins with the pattern: "is empty". */
export interface Mistake {
  mistake: string
}

/** The tools a rule names: one by its name or alias, a group, or all whose names match. */
export type ToolPattern = { name: string } | { group: string } | { glob: Glob }

export function readToolPattern(written: string): ToolPattern | Mistake {
  if (written.startsWith("group:")) {
    const group = written.slice("group:".length)
    return group === "" ? { mistake: "names no group after 'group:'" } : { group }
  }
  if (written.includes("@")) return { mistake: "names a version; a rule is about every version, so leave out the '@'" }
  const read = readPlainGlob(written, "text")
  if ("mistake" in read) return read
  const { literal } = read.glob
  return literal === undefined ? { glob: read.glob } : { name: literal }
}

/** A pattern for touches of these kinds. Hosts are compared in lower case. */
export interface TouchPattern {
  kinds: readonly Touch["kind"][]
  glob: Glob
  /** For paths: what they are relative to. */
  from?: "root" | "workspace"
  loosens: boolean
  /** True when it is in lower case and is compared with lower-case text. */
  small?: boolean
  /** As written; a path in its normal form. */
  written: string
}

/** `loosens`: a match allows more. Then a host pattern must not match names that anyone can register. */
export function readTouchPattern(written: string, loosens: boolean): TouchPattern | Mistake {
  const colon = written.indexOf(":")
  const kinds = Object.hasOwn(kindsOf, written.slice(0, colon)) ? kindsOf[written.slice(0, colon)] : undefined
  if (kinds === undefined) return { mistake: `must begin with one of: ${Object.keys(kindsOf).join(":, ")}:` }
  const pattern = written.slice(colon + 1)
  const [kind] = kinds
  if (kind === "read" || kind === "write") return readPath(written.slice(0, colon), kinds, pattern, loosens)
  const read =
    kind === "command"
      ? readGlob(pattern, "text")
      : kind === "host"
        ? readHost(pattern.toLowerCase(), loosens)
        : readPlainGlob(pattern, "text")
  return "mistake" in read ? read : { kinds, glob: read.glob, loosens, written }
}

/** Brings a path pattern into its normal form: without `.`, doubled slashes and a slash at its end. */
function readPath(
  prefix: string,
  kinds: TouchPattern["kinds"],
  pattern: string,
  loosens: boolean,
): TouchPattern | Mistake {
  const steps = pattern.split("/")
  if (steps.includes("..")) return { mistake: "has '..', which no touch is compared with; write the path without it" }
  const rest = steps.filter((step) => step !== "" && step !== ".").join("/")
  const normal = pattern.startsWith("/") ? `/${rest}` : rest === "" && pattern !== "" ? "." : rest
  const read = readPlainGlob(normal, "path")
  if ("mistake" in read) return read
  const from = read.glob.start.startsWith("/") ? "root" : "workspace"
  return { kinds, glob: read.glob, from, loosens, written: `${prefix}:${normal}` }
}

/** The text of a touch that patterns are matched against. */
export function touchText({ kind, what }: Touch): string {
  if (kind !== "host") return what
  const host = what.toLowerCase()
  return host.endsWith(".") ? host.slice(0, -1) : host
}

export function pointerMistake(written: string): string | undefined {
  return parseJsonPointer(written) === undefined ? "is not a JSON pointer; write it like '/path/to/value'" : undefined
}

const kindsOf: Readonly<Record<string, readonly Touch["kind"][]>> = {
  file: ["read", "write"],
  read: ["read"],
  write: ["write"],
  command: ["command"],
  host: ["host"],
  database: ["database"],
}

/** The prefixes of patterns for touches, before the colon. */
export const touchPrefixes: readonly string[] = Object.keys(kindsOf)

function readHost(pattern: string, loosens: boolean): { glob: Glob } | Mistake {
  if (loosens && /^\*+[^.*]/.test(pattern))
    return { mistake: "also fits hosts with other names before it; write a dot after the '*'" }
  if (loosens && /[^*]\*+$/.test(pattern))
    return { mistake: "also fits hosts that anyone can register; do not end it with '*'" }
  return readPlainGlob(pattern, "text")
}

/** Refuses braces, which would be matched literally. */
function readPlainGlob(pattern: string, kind: "text" | "path"): { glob: Glob } | Mistake {
  if (/(?<!\\)[{}]/.test(pattern)) return { mistake: "has braces, which are not read; write a rule or a line for each" }
  return readGlob(pattern, kind)
}
